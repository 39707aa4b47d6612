"""The tables of what people do about memories.

``people`` (who logs in, and what they may), ``review`` (leases, decisions,
notes), ``response`` (incidents, operations, approvals), ``privacy`` (requests
of data subjects, exports), ``first_audit``, ``freshness``, ``sampling``, ``suspicion``
(how odd sessions look) and ``trail`` (seals over the events). Row-level
security, grants and triggers are SQL files in ``audits/sql``.
"""

from .duplicates import DuplicatePair, DuplicateSearch
from .first_audit import FirstAudit
from .freshness import PredicateHabit, UnseenFact
from .measures import Measure
from .notices import Notice, NoticeAttempt, NoticeChannel, NoticeQuiet, NoticeRule
from .people import Invitation, LoginFailure, Membership, SavedView, User
from .privacy import Export, SubjectRequest
from .response import (
    Approval,
    Incident,
    IncidentNote,
    IncidentScope,
    IncidentTask,
    Operation,
    OperationTarget,
    SessionNote,
)
from .review import ReviewDecision, ReviewItem, ReviewNote
from .rollups import Rollup, RollupProgress
from .sampling import SampleBatch, SampleItem
from .suspicion import SessionSuspicion
from .trail import Seal, SealedEvent

__all__ = [
    "Approval",
    "DuplicatePair",
    "DuplicateSearch",
    "Export",
    "FirstAudit",
    "Incident",
    "IncidentNote",
    "IncidentScope",
    "IncidentTask",
    "Invitation",
    "LoginFailure",
    "Measure",
    "Membership",
    "Notice",
    "NoticeAttempt",
    "NoticeChannel",
    "NoticeQuiet",
    "NoticeRule",
    "Operation",
    "OperationTarget",
    "PredicateHabit",
    "ReviewDecision",
    "ReviewItem",
    "ReviewNote",
    "Rollup",
    "RollupProgress",
    "SampleBatch",
    "SampleItem",
    "SavedView",
    "Seal",
    "SealedEvent",
    "SessionNote",
    "SessionSuspicion",
    "SubjectRequest",
    "UnseenFact",
    "User",
]
