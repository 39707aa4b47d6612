"""A file's bytes as lines, one at a time, with a digest of all that was read.

Owns compression, byte-order marks, encodings and the longest line that is
read. Nothing is held but the line at hand, so a file may be of any size.
"""

from __future__ import annotations

import codecs
import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from records.items import BadRequest, FieldError

LINE_LIMIT = 1024 * 1024  # bytes; the largest fact with its vector takes a tenth of it
CHUNK = 1024 * 1024
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its number from 1, its text, and what kept it from being read."""

    number: int
    text: str
    fault: str = ""


class Lines:
    """The lines of a stream; ``position`` and ``digest`` are of the bytes behind us.

    Positions count bytes after decompression. An encoding of ``None`` is found
    by the byte-order mark and is UTF-8 without one. BadRequest when the
    encoding is unknown or has no lines as we know them.
    """

    def __init__(self, stream: io.BufferedReader, *, encoding: str | None = None) -> None:
        head: io.BufferedReader[Any] = stream
        if head.peek(2)[:2] == GZIP:
            head = io.BufferedReader(gzip.GzipFile(fileobj=stream), CHUNK)
        self._stream = head
        self.position = 0
        self.number = 0
        self._digest = sha256()
        found, mark = _mark(head.peek(4)[:4])
        self.encoding = _known(encoding, marked=found) if encoding else found
        if self.encoding == found:
            self._take(head.read(len(mark)))

    @property
    def digest(self) -> bytes:
        """Return the SHA-256 of the bytes read so far."""
        return self._digest.digest()

    def skip(self, position: int, number: int, digest: bytes) -> bool:
        """Go on behind ``position`` bytes; False when they are not the bytes of that digest."""
        while self.position < position:
            piece = self._stream.read(min(CHUNK, position - self.position))
            if not piece:
                return False
            self._take(piece)
        self.number = number
        return self.digest == digest

    def __iter__(self) -> Iterator[Line]:
        while raw := self._line():
            self.number += 1
            if len(raw) > LINE_LIMIT:
                start = self.position - len(raw)
                length = len(raw) + self._drop_line(raw)
                yield Line(
                    self.number,
                    "",
                    f"is {length:,} bytes long, from byte {start:,} of the file;"
                    f" at most {LINE_LIMIT:,} are read",
                )
                continue
            try:
                yield Line(self.number, raw.decode(self.encoding))
            except UnicodeDecodeError as error:
                shown = raw.decode(self.encoding, "backslashreplace")
                yield Line(
                    self.number, shown, f"is not {self.encoding}: byte {error.start} of the line"
                )

    def _line(self) -> bytes:
        raw = self._stream.readline(LINE_LIMIT + 1)
        if self.encoding.startswith("utf-16"):
            raw = self._finish_wide(raw)
        self._take(raw)
        return raw

    def _finish_wide(self, raw: bytes) -> bytes:
        """Go on until a newline of two bytes: a byte 10 may also be half of another letter."""
        little = self.encoding.endswith("le")
        while raw.endswith(b"\n") and len(raw) <= LINE_LIMIT:
            if little and len(raw) % 2:
                raw += self._stream.read(1)
                if raw.endswith(b"\n\x00"):
                    break
            elif not little and len(raw) % 2 == 0 and raw.endswith(b"\x00\n"):
                break
            more = self._stream.readline(LINE_LIMIT + 1)
            if not more:
                break
            raw += more
        return raw

    def _drop_line(self, raw: bytes) -> int:
        """Read to the end of an endless line without keeping it; return how much that was."""
        dropped = 0
        while not raw.endswith((b"\n", b"\n\x00")):
            raw = self._line()
            if not raw:
                break
            dropped += len(raw)
        return dropped

    def _take(self, piece: bytes) -> None:
        self.position += len(piece)
        self._digest.update(piece)


def _mark(head: bytes) -> tuple[str, bytes]:
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding, mark
    return "utf-8", b""


def _known(encoding: str, *, marked: str) -> str:
    """Return the encoding's own name; one that is told from its mark is that of the mark."""
    try:
        name = codecs.lookup(encoding).name
        if name == "utf-8-sig":
            return "utf-8"
        if name == "utf-16":
            return marked if marked.startswith(name) else "utf-16-le"
        one_byte = "\n".encode(name) == b"\n"
    except (LookupError, UnicodeError, TypeError):
        one_byte, name = False, ""
    if not one_byte and name not in ("utf-16-le", "utf-16-be"):
        message = f"{encoding!r} is not an encoding that is read here; utf-8, utf-16-le, cp1252 ..."
        raise BadRequest(FieldError("encoding", message))
    return name
