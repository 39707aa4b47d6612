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
ANCHORING = register(
    Job(
        "anchoring",
        "Checkpoints of the trail outside the database",
        "audits.anchor",
        timedelta(minutes=5),
        carries=True,
        history=False,
    )
)
ANCHORING_INSTALLATION = register(
    Job(
        "anchoring_installation",
        "Checkpoints of the installation's own trail",
        "audits.anchor_installation",
        timedelta(minutes=5),
        maintenance=True,
        installation=True,
        carries=True,
        history=False,
    )
)
LEASES = register(
    Job(
        "leases",
        "Leases of the review queue that have run out",
        "audits.leases",
        timedelta(minutes=1),
        history=False,
    )
)
GATE_HITS = register(
    Job(
        "gate_hits",
        "Hits of the gate's rules, and what reviewers made of them",
        "audits.gate_hits",
        timedelta(minutes=1),
        history=False,
    )
)
SUSPICION = register(
    Job(
        "suspicion",
        "How odd sessions look, where they changed",
        "audits.suspicion",
        timedelta(minutes=1),
        carries=True,
        history=False,
    )
)
OPERATIONS = register(
    Job(
        "operations",
        "Bulk operations that wait or go on",
        "audits.operations",
        timedelta(seconds=30),
        history=False,
    )
)
APPROVALS = register(
    Job(
        "approvals",
        "Questions to a second person that nobody answered",
        "audits.approvals",
        timedelta(minutes=1),
        history=False,
    )
)
PREVIEWS = register(
    Job(
        "previews",
        "Previews that nobody ran, tidied away",
        "audits.previews",
        timedelta(hours=1),
        history=False,
    )
)
SUBJECTS = register(
    Job(
        "subjects",
        "Erasures that data subjects asked for, seen to their end",
        "audits.subjects",
        timedelta(seconds=30),
        history=False,
    )
)
MEASURES = register(
    Job(
        "measures",
        "Numbers about the memory, for monitoring",
        "audits.measures",
        timedelta(seconds=30),
        carries=True,
        history=False,
    )
)
ROLLUPS = register(
    Job(
        "rollups",
        "Counts for the charts, by quarter of an hour",
        "audits.rollups",
        timedelta(minutes=1),
        history=False,
    )
)
NOTICES = register(
    Job(
        "notices",
        "Notices raised, and sent from the outbox",
        "audits.notices",
        timedelta(seconds=10),
        carries=True,
        history=False,
    )
)
VERIFICATION = register(
    Job("verification", "The whole trail checked", "audits.verify", timedelta(hours=6))
)
VERIFICATION_INSTALLATION = register(
    Job(
        "verification_installation",
        "The installation's own trail checked",
        "audits.verify_installation",
        timedelta(hours=6),
        maintenance=True,
        installation=True,
    )
)
FIRST_AUDIT = register(
    Job("first_audit", "What is wrong with this memory", "audits.first_audit", None)
)
VERDICTS = register(
    Job(
        "verdicts",
        "Verdicts on sampled facts, carried out",
        "audits.verdicts",
        timedelta(seconds=30),
        history=False,
    )
)
HABITS = register(
    Job(
        "habits",
        "How often facts are seen again, and which are silent for longer",
        "audits.habits",
        timedelta(hours=1),
        history=False,
    )
)
DUPLICATES = register(
    Job(
        "duplicates",
        "Facts that may say the same in other words, suggested",
        "audits.duplicates",
        timedelta(minutes=1),
        history=False,
    )
)
