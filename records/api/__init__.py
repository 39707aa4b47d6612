"""The HTTP doors of ``records``: each parses, makes one call, and renders.

Read ``reading.py`` for what a request may be, ``problems.py`` for how errors
leave, ``memories.py`` for the write door. ``memconsole/api.py`` puts them
together.
"""
