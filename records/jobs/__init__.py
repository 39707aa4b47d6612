"""Background jobs: what they are, their runs, and the work of those that touch memories.

``catalogue`` lists jobs and says when each is due, ``runs`` keeps their state in
PostgreSQL, ``recover`` finds runs whose worker died, and the other modules do
one job's work each. Tasks call them (``records/tasks.py``); pages read
``overview``. Every job may run twice at once. See docs/jobs.md.
"""

from records.jobs.overview import JobStatus, overview

__all__ = ["JobStatus", "overview"]
