"""The tables of what people do about memories.

``people`` (who logs in) and ``trail`` (seals over the events). Row-level
security, grants and triggers are SQL files in ``audits/sql``.
"""

from .people import User
from .trail import Seal, SealedEvent

__all__ = ["Seal", "SealedEvent", "User"]
