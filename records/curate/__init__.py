"""Acts on facts that are there already: approve, reject, hold, evict, restore, retract, erase.

Owns the moves of a record between statuses that people, feedback and jobs
make; new facts come in through ``write.py``. Every act locks the slots it
touches, opens its own scope, writes its events in the same transaction, and
answers what it matched, changed and skipped, with reasons: nothing changed is
never plain success.
"""

from records.curate.acting import REASON_LIMIT, Acted, Held
from records.curate.containing import release, suspend
from records.curate.ending import erase, retract
from records.curate.evicting import Provenance, evict
from records.curate.holding import approve, findings_digest, hold, reject, release_held, reopen
from records.curate.merging import Merged, merge
from records.curate.parting import part
from records.curate.restoring import restore
from records.curate.tending import (
    confirm,
    confirm_several,
    extend,
    extend_several,
    mark_recheck,
)

__all__ = [
    "REASON_LIMIT",
    "Acted",
    "Held",
    "Merged",
    "Provenance",
    "approve",
    "confirm",
    "confirm_several",
    "erase",
    "evict",
    "extend",
    "extend_several",
    "findings_digest",
    "hold",
    "mark_recheck",
    "merge",
    "part",
    "reject",
    "release",
    "release_held",
    "reopen",
    "restore",
    "retract",
    "suspend",
]
