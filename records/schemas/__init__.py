"""What goes over the wire, as types: read strictly, documented exactly.

One module per subject; ``items.py`` is the hot path and reads by hand. Schemas
know ``records.items`` and the domain, never the database.
"""
