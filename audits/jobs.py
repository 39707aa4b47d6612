"""The jobs that keep the trail: listed beside those of ``records``, imports no Django."""

from datetime import timedelta

from records.jobs.catalogue import Job, register

SEALING = register(
    Job(
        "sealing",
        "Events sealed into the trail",
        "audits.seal",
        timedelta(seconds=5),
        history=False,
    )
)
SEALING_INSTALLATION = register(
    Job(
        "sealing_installation",
        "Events of no workspace sealed into the trail",
        "audits.seal_installation",
        timedelta(seconds=30),
        maintenance=True,
        installation=True,
        history=False,
    )
)
