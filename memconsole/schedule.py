"""When the beat queues what. Each task may run twice at once and says so in its own test.

Owns times and queues only. A task named in MAINTENANCE_TASKS runs on the
maintenance worker, which is the one process with that database role.
"""

from __future__ import annotations

from typing import Any

SCHEDULE: dict[str, dict[str, Any]] = {}
MAINTENANCE_TASKS: tuple[str, ...] = ()
