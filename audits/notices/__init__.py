"""Telling people: what raises a notice, where it waits, and how it leaves.

    an event, in its own transaction  (raising.py, called by records.events)
    the job ``notices``, by measuring (watching.py)
        -> rules, quiet periods       (raising.py)
        -> the table ``notice``
        -> the job ``notices``        (delivering.py) -> channels.py -> outgoing.py

``managing.py`` holds the acts of people. A notice carries ids, counts and a link.
"""
