"""Pure rules about facts: values in, decision out.

No Django, clock, database or network in here; ``now`` is always an argument.
Read ``facts.py`` for the vocabulary, then ``gate`` and ``reconcile``.
"""
