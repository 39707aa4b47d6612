"""Recall: the one way by which an agent reads its memories.

Owns what is served, in which order, and the log of it. ``request.py`` says what
may be asked, ``statement.py`` is the one statement that scores every candidate
(``past.py`` where it asks about the past), ``recall.py`` runs it and writes the
log. Must not change a memory. Read docs/recall.md for the formula.
"""

from .recall import probe, recall
from .request import RecallAnswer, Recalled, RecallRequest

__all__ = ["RecallAnswer", "RecallRequest", "Recalled", "probe", "recall"]
