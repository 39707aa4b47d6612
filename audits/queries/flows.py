"""Which events are writes, which put a fact on hold, which end that, and which a rule hit.

Owns these conditions on an event ``e`` for everybody who counts or lists them,
so that a number and the list it opens cannot mean two things. ``audits/rollups.py``
counts by them, the trail's filters ``flow`` and ``rule`` list by them.
"""

from __future__ import annotations

from collections.abc import Mapping

from audits.domain.figures import DECISIONS

# What people and jobs do with a record that is there says where it came from; a write does not.
WRITE = "e.action IN ({}) AND NOT e.details ? 'from'".format(
    ", ".join(f"'record.{one}'" for one in DECISIONS)
)
INTO_HOLD = (
    "(e.action IN ('record.held', 'record.reopened')"
    " OR e.details->>'status' = 'quarantined' AND NOT e.details ? 'from')"
)
OUT_OF_HOLD = (
    "(e.details->>'from' = 'quarantined' AND e.action NOT IN ('record.held', 'record.reopened'))"
)
HIT = "(e.action LIKE 'record.%%' AND jsonb_typeof(e.details->'rules') = 'array')"
FLOWS: Mapping[str, str] = {"write": WRITE, "held": INTO_HOLD, "decided": OUT_OF_HOLD}
