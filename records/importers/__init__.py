"""Facts from files into the store: a door of ``write.py`` like any other.

``lines`` (bytes to lines), ``rows`` (lines to rows of JSONL or CSV),
``columns`` (rows to facts), ``runs`` (what is done already, kept in
PostgreSQL), ``importing`` (the loop) and ``report``. The command is
``management/commands/import_facts.py``.
"""
