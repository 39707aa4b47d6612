"""Rows that could not be read, kept in a file with their reasons and their text.

Owns that file: one JSON object a line, ``{"line", "errors", "row"}``, whose rows
can be mended and imported again. It is made when the first row needs it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from records.importers.rows import Row
from records.items import FieldError


class ErrorFile:
    """The error file of one import; ``size`` is how much of it counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = path.stat().st_size if path.exists() else 0
        self._stream: BinaryIO | None = None

    def rewind(self, size: int) -> None:
        """Forget what a killed import wrote behind the last rows that it could finish."""
        self.flush()
        if self.size > size:
            with self.path.open("r+b") as stream:
                stream.truncate(size)
        self.size = min(self.size, size)

    def write(self, row: Row, errors: Iterable[FieldError]) -> None:
        """Keep one row with what is wrong with it."""
        if self._stream is None:
            self._stream = self.path.open("ab")
        found = [{"field": e.field, "message": e.message, "code": e.code} for e in errors]
        entry = json.dumps({"line": row.number, "errors": found, "row": row.text})
        self.size += self._stream.write(entry.encode("ascii") + b"\n")

    def flush(self) -> None:
        """Hand everything to the operating system: a process killed later loses none of it."""
        if self._stream is not None:
            self._stream.flush()

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None
