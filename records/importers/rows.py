"""Lines as rows: JSON objects one a line, or CSV under a header.

Owns the two formats and nothing of what a field means. A row that cannot be
read comes back with its fault and its text, and the next row is read as if
nothing had happened.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from records.importers.lines import Line, Lines
from records.items import BadRequest, FieldError
from records.schemas.items import json_object

DELIMITERS = ",;\t|"
# Characters; a vector of 1,300 numbers takes half. A quote that is never closed ends here, too.
CELL_LIMIT = 64 * 1024


class Format(StrEnum):
    """How rows are written in a file."""

    JSONL = "jsonl"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class Row:
    """One row: the line it starts on, its columns, its text, and what kept it from being read."""

    number: int
    values: dict[str, Any]
    text: str
    fault: str = ""


def guess_format(name: str) -> Format | None:
    """Return the format that a file's name promises, compressed or not."""
    stem = name.lower().removesuffix(".gz")
    if stem.endswith((".jsonl", ".ndjson", ".json")):
        return Format.JSONL
    if stem.endswith((".csv", ".tsv")):
        return Format.CSV
    return None


def json_rows(lines: Lines) -> Iterator[Row]:
    """Yield one row for every line that is not blank."""
    for line in lines:
        text = line.text.rstrip("\r\n")
        if line.fault:
            yield Row(line.number, {}, text, f"the line {line.fault}")
        elif text.strip():
            yield _json_row(line.number, text)


def _json_row(number: int, text: str) -> Row:
    try:
        found = json.loads(text, object_pairs_hook=json_object)
    except json.JSONDecodeError as error:
        return Row(number, {}, text, f"is not JSON: {error.msg} at character {error.pos + 1}")
    except RecursionError:
        return Row(number, {}, text, "is nested too deeply")
    except ValueError:
        # A number of thousands of digits: the field's own reader refuses infinity.
        found = json.loads(text, object_pairs_hook=json_object, parse_int=float)
    if not isinstance(found, dict):
        return Row(number, {}, text, "is not a JSON object")
    return Row(number, found, text)


class CsvRows:
    """The rows of a CSV file; ``header`` is read on making one.

    BadRequest when there is no header, or one that names a column twice.
    """

    def __init__(self, lines: Lines, *, delimiter: str | None = None) -> None:
        self._lines = iter(lines)
        self._kept: list[Line] = []  # the lines of the row being read
        self.header: list[str] = []
        first = next(self._pull(), "")
        for line in self._kept:
            if line.fault:
                raise _bad_header(line.fault)
        self._kept.clear()
        self._delimiter = delimiter or _delimiter(first)
        header = csv.reader([first], delimiter=self._delimiter, strict=True)
        try:
            self.header = [name.strip() for name in next(header, [])]
        except csv.Error as error:
            raise _bad_header(f"cannot be read: {error}") from error
        if not any(self.header):
            raise _bad_header("is missing: the first line must name the columns")
        doubled = sorted({n for n in self.header if n and self.header.count(n) > 1})
        if doubled:
            raise _bad_header(f"names {', '.join(doubled)} twice")

    def __iter__(self) -> Iterator[Row]:
        csv.field_size_limit(CELL_LIMIT)
        reader = csv.reader(self._pull(), delimiter=self._delimiter, strict=True)
        while True:
            fault, cells = "", []
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                fault = f"is not CSV: {error}"
            kept, self._kept = self._kept, []
            if cells or fault or any(line.fault for line in kept):
                yield self._row(kept, cells, fault)

    def _pull(self) -> Iterator[str]:
        for line in self._lines:
            self._kept.append(line)
            yield line.text or "\n"

    def _row(self, kept: list[Line], cells: list[str], fault: str) -> Row:
        text = "".join(line.text for line in kept).rstrip("\r\n")
        broken = next((line for line in kept if line.fault), None)
        if broken is not None:
            fault = f"line {broken.number} {broken.fault}"
        elif not fault and len(cells) != len(self.header):
            fault = f"has {len(cells)} cells; the header names {len(self.header)} columns"
        number = kept[0].number if kept else 0
        if fault:
            return Row(number, {}, text, fault)
        named = zip(self.header, cells, strict=True)
        return Row(number, {name: cell for name, cell in named if name}, text)


def _delimiter(header: str) -> str:
    """Return the one of the usual delimiters that the header uses most."""
    return max(DELIMITERS, key=header.count)


def _bad_header(what: str) -> BadRequest:
    return BadRequest(FieldError("header", what, "header"))
