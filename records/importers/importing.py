"""The loop of an import: rows in batches through the write path, and where it stands.

Owns that a batch's facts and the run's place are one transaction: whatever is
killed when, a resumed run counts no row twice and leaves none out. Decides
nothing about a fact; ``write.py`` does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BufferedReader

from records import sources, write
from records.access import Access
from records.importers import runs
from records.importers.columns import Columns
from records.importers.errors import ErrorFile
from records.importers.lines import Lines
from records.importers.report import INVALID, Report, SourcePass, tally
from records.importers.rows import CsvRows, Format, Row, json_rows
from records.items import (
    BATCH_LIMIT,
    BadRequest,
    Conflict,
    FieldError,
    Refused,
    WriteItem,
    Written,
)
from records.models import ImportRun, SourceRun
from records.scope import partition_scope, retried, workspace_scope


@dataclass(slots=True)
class Import:
    """One import: the stream and how to read it, and what is told while it goes.

    ``complete`` says that the file is a whole pass over its sources.
    ``on_progress`` gets bytes and rows done in this start.
    """

    stream: BufferedReader
    name: str
    format: Format
    columns: Columns
    run_id: str
    errors: ErrorFile
    access: Access
    encoding: str | None = None
    delimiter: str | None = None
    batch: int = BATCH_LIMIT
    complete: bool = False
    on_progress: Callable[[int, int], None] = field(default=lambda position, rows: None)
    _passes: set[tuple[str, str]] = field(default_factory=set)
    _errors_size: int = 0  # of the error file, up to the last batch that is kept

    def run(self) -> Report:
        """Import what is not done yet of the file; return what became of all of it.

        BadRequest when file, columns and run do not go together; nothing is
        written then. Conflict when another process works on the same run.
        """
        if not 1 <= self.batch <= BATCH_LIMIT:
            message = f"must be from 1 to {BATCH_LIMIT:,}"
            raise BadRequest(FieldError("batch", message, "range", BATCH_LIMIT))
        began = time.monotonic()
        self._errors_size = self.errors.size
        lines = Lines(self.stream, encoding=self.encoding)
        rows = self._rows(lines)
        run = runs.open_run(
            self.run_id,
            name=self.name,
            options={
                "format": str(self.format),
                "columns": self.columns.as_json(),
                "encoding": lines.encoding,
                "complete": self.complete,
            },
            errors_path=str(self.errors.path),
            errors_size=self.errors.size,
            access=self.access,
            now=datetime.now(UTC),
        )
        report = Report(self.run_id, self.name, dict(run.counts), errors_path=run.errors_path)
        if run.finished_at is not None:
            report.already_finished = True
            return report
        self._resume(run, lines)
        report.resumed_at = run.line
        report.errors_path = str(self.errors.path)
        run = self._write_all(rows, lines, run)
        report.counts = dict(run.counts)
        if self.complete:
            self._finish_passes(report)
        runs.finish(run, access=self.access, now=datetime.now(UTC))
        report.seconds = time.monotonic() - began
        return report

    def _rows(self, lines: Lines) -> Iterator[Row]:
        if self.format is Format.JSONL:
            return json_rows(lines)
        rows = CsvRows(lines, delimiter=self.delimiter)
        self.columns.check_header(rows.header)
        return iter(rows)

    def _resume(self, run: ImportRun, lines: Lines) -> None:
        """Go to where the run stands, in the file that it began with."""
        if run.position == 0:
            return
        if not lines.skip(run.position, run.line, bytes(run.digest)):
            message = (
                f"run {run.run_id} stopped behind line {run.line:,} of a file that began otherwise"
                " than this one; start a new run"
            )
            raise BadRequest(FieldError("run-id", message, "other_file"))
        if run.errors_path == str(self.errors.path):
            self.errors.rewind(run.errors_size)
            self._errors_size = run.errors_size

    def _write_all(self, rows: Iterator[Row], lines: Lines, run: ImportRun) -> ImportRun:
        started, done = lines.position, 0
        if self.complete and self.columns.source and self.columns.partition:
            self._begin_pass(self.columns.source, self.columns.partition)
        try:
            while batch := _take(rows, self.batch):
                self._write(batch, lines, run)
                run = runs.moved_to(run, access=self.access)
                done += len(batch)
                self.on_progress(lines.position - started, done)
        finally:
            self.errors.close()
        return run

    def _write(self, batch: list[Row], lines: Lines, run: ImportRun) -> None:
        read = [self._read(row) for row in batch]
        items = [one for one in read if isinstance(one, WriteItem)]
        if self.complete:
            for item in items:
                if item.source and item.source_key and isinstance(item.partition, str):
                    self._begin_pass(item.source, item.partition)
        self._commit(batch, read, items, lines, run)

    @retried
    def _commit(
        self,
        batch: list[Row],
        read: list[WriteItem | Refused],
        items: list[WriteItem],
        lines: Lines,
        run: ImportRun,
    ) -> None:
        """Write the facts and move the run, in one transaction that may be tried again."""
        access, now = self.access, datetime.now(UTC)
        self.errors.rewind(self._errors_size)
        with partition_scope(access.workspace_id, ()):
            written = iter(write.write_facts(items, access=access) if items else ())
            met = []
            outcomes: list[Written | Refused] = []
            for row, one in zip(batch, read, strict=True):
                outcome = one if isinstance(one, Refused) else next(written)
                outcomes.append(outcome)
                if isinstance(outcome, Refused):
                    self.errors.write(row, outcome.errors)
                elif isinstance(one, WriteItem):
                    partition_id = access.partition_id(one.partition.strip())
                    met.append((partition_id, outcome.fingerprint))
            self.errors.flush()
            place = runs.Place(lines.position, lines.number, lines.digest, self.errors.size)
            runs.move(run, place, counts=tally(outcomes), facts=met, now=now)
        self._errors_size = self.errors.size

    def _read(self, row: Row) -> WriteItem | Refused:
        if row.fault:
            return Refused((FieldError("", row.fault, "row"),))
        return self.columns.item(row.values, is_text=self.format is Format.CSV)

    def _begin_pass(self, source: str, partition: str) -> None:
        """Begin a complete pass before its first address is named; once for a run."""
        key = (source.strip(), partition.strip())
        if key in self._passes:
            return
        try:
            sources.start_run(key[0], partition=key[1], access=self.access, external_id=self.run_id)
        except BadRequest:
            return  # no name of a source: the write path refuses the row and says why
        self._passes.add(key)

    def _finish_passes(self, report: Report) -> None:
        """Demote what the passes did not name, if every row of them was understood."""
        invalid = report.counts.get(INVALID, 0)
        if invalid or not report.read:
            report.not_completed = (
                f"{invalid:,} rows could not be read and may name what would be demoted"
                if invalid
                else "the file has no rows, and would demote everything"
            )
            return
        with workspace_scope(self.access.workspace_id):
            found = list(
                SourceRun.objects.filter(
                    workspace_id=self.access.workspace_id, external_id=self.run_id
                )
                .order_by("id")
                .values_list("id", "source__name", "partition__name")
            )
        for run_id, source, partition in found:
            try:
                done = sources.finish_run(run_id, access=self.access)
            except Conflict as error:
                report.not_completed = str(error)
                continue
            report.passes.append(
                SourcePass(source, partition, done.seen, done.unlisted, done.relisted)
            )


def _take(rows: Iterator[Row], count: int) -> list[Row]:
    """Return the next rows, at most ``count``; nothing beyond them is read."""
    batch = []
    for row in rows:
        batch.append(row)
        if len(batch) == count:
            break
    return batch
