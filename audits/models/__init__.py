"""The tables of what people do about memories.

``people`` (who logs in, and what they may), ``review`` (leases, decisions,
notes) and ``trail`` (seals over the events). Row-level security, grants and triggers are SQL files in ``audits/sql``.
"""

from .people import Invitation, LoginFailure, Membership, SavedView, User
from .review import ReviewDecision, ReviewItem, ReviewNote
from .trail import Seal, SealedEvent

__all__ = [
    "Invitation",
    "LoginFailure",
    "Membership",
    "ReviewDecision",
    "ReviewItem",
    "ReviewNote",
    "SavedView",
    "Seal",
    "SealedEvent",
    "User",
]
