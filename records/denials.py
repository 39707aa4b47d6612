"""Refused attempts, put on record without letting a flood write the log full.

Owns the folding: the first refusal of a kind writes its event at once; the same
one again within ``FOLDED_SECONDS`` is counted and told by the next event. Doors
call it; the event itself is ``events.py``'s.
"""

from __future__ import annotations

import logging
import threading
import time

from records import events
from records.access import Access
from records.scope import partition_scope

logger = logging.getLogger(__name__)
FOLDED_SECONDS = 60.0
KINDS_LIMIT = 1_000  # kinds of refusal remembered at once in this process

_lock = threading.Lock()
_seen: dict[tuple[str, ...], tuple[float, int]] = {}


def deny(action: str, *, access: Access, details: dict[str, str] | None = None) -> None:
    """Put on record that a known key tried what it may not."""
    actor = access.actor.name
    repeats = _fold(str(access.workspace_id), action, actor, *sorted((details or {}).values()))
    if repeats is None:
        return
    happening = events.Happening(
        action, outcome="denied", count=1 + repeats, details=dict(details or {})
    )
    with partition_scope(access.workspace_id, ()):
        events.append([happening], access=access)
    logger.info("Refused %s to key %s", action, actor)


def deny_stranger(action: str, *, address: str, request_id: str, details: dict[str, str]) -> None:
    """Put on record an attempt that belongs to no workspace: no key of ours."""
    repeats = _fold("", action, address)
    if repeats is None:
        return
    events.append_denied(
        action, actor=address, request_id=request_id, details={**details, "repeats": repeats}
    )
    logger.info("Refused %s to a stranger", action)


def _fold(*kind: str) -> int | None:
    """Return how many refusals of this kind were swallowed before this one; None: swallow it."""
    now = time.monotonic()
    with _lock:
        written_at, swallowed = _seen.get(kind, (0.0, 0))
        if kind in _seen and now - written_at < FOLDED_SECONDS:
            _seen[kind] = (written_at, swallowed + 1)
            return None
        if len(_seen) >= KINDS_LIMIT:
            _forget(now)
            if len(_seen) >= KINDS_LIMIT:
                return None  # a flood under ever new names: the log keeps the first thousand
        _seen[kind] = (now, 0)
        return swallowed


def _forget(now: float) -> None:
    for kind in [k for k, (at, _) in _seen.items() if now - at >= FOLDED_SECONDS]:
        del _seen[kind]
