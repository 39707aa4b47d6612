"""The tables of what agents remember.

``tenancy`` (who), ``policies`` (what is asked of a fact), ``memory`` (facts,
claims, slots, fences), ``logs`` (events and serves, append-only), ``work``
(jobs, idempotency, embedding models), ``imports`` (how far each file got),
``gate`` (a workspace's own rules), ``scans`` (stored facts judged again), ``holds``
(what must be kept), ``merges`` (what a person has said is one fact) and ``signals``
(what looks odd of a session).
Constraints that Django cannot say (composite keys, row-level security, partial
unique and covering indexes, grants) are SQL files in ``records/sql``. See
docs/schema.md for the map.
"""

from .erasure import ErasureDue
from .gate import GateReplay, GateRuleset
from .holds import LegalHold
from .imports import ImportRun
from .logs import Event, Recall, Serve
from .memory import Address, Claim, Fence, MemoryRecord, Slot, Standing, Tally
from .merges import MergedClaim, RecordMerge
from .policies import PredicatePolicy
from .scans import Scan, ScanHit, ScanRange
from .signals import SessionSignals
from .tenancy import ApiKey, Partition, Session, SessionTotals, Source, SourceRun, Workspace
from .work import EmbeddingModel, Feedback, IdempotencyKey, JobRun

__all__ = [
    "Address",
    "ApiKey",
    "Claim",
    "EmbeddingModel",
    "ErasureDue",
    "Event",
    "Feedback",
    "Fence",
    "GateReplay",
    "GateRuleset",
    "IdempotencyKey",
    "ImportRun",
    "JobRun",
    "LegalHold",
    "MemoryRecord",
    "MergedClaim",
    "Partition",
    "PredicatePolicy",
    "Recall",
    "RecordMerge",
    "Scan",
    "ScanHit",
    "ScanRange",
    "Serve",
    "Session",
    "SessionSignals",
    "SessionTotals",
    "Slot",
    "Source",
    "SourceRun",
    "Standing",
    "Tally",
    "Workspace",
]
