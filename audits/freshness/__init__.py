"""What goes stale: each predicate's habit, what is silent beyond it, and what people do about it.

``habits`` is the hourly job, ``acting`` what happens to several facts at once;
the lists are ``queries/freshness.py``'s, the words ``domain/freshness.py``'s.
"""

from .acting import Done, act
from .habits import measure_habits

__all__ = ["Done", "act", "measure_habits"]
