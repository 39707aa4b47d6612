"""Import facts from a JSONL or CSV file, and report what became of them.

Owns the command line, the progress bar and the exit code; the work is
``records/importers``'s. See docs/importing.md.
"""

from __future__ import annotations

import json
import os
import secrets
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path
from typing import Any

import psycopg
from django.core.management.base import BaseCommand, CommandError
from django.db import InterfaceError, OperationalError
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from records.access import Access, Actor, ActorKind
from records.importers import runs
from records.importers.columns import Columns, read_mapping
from records.importers.errors import ErrorFile
from records.importers.importing import Import
from records.importers.report import Report
from records.importers.rows import Format, guess_format
from records.items import BATCH_LIMIT, NAME_LIMIT, BadRequest, Conflict, FieldError
from records.warm import warm
from records.workspaces import clean_name, find_workspace, make_workspace

ACTOR = Actor(ActorKind.COMMAND, "import_facts")
# Statements go through Django's cursors and through psycopg's own.
UNREACHABLE = (
    OperationalError,
    InterfaceError,
    psycopg.OperationalError,
    psycopg.InterfaceError,
)
INTERRUPTED = 130  # what a shell says of a program stopped by Ctrl-C


class Command(BaseCommand):
    """Import a file of facts."""

    help = "Import facts from a JSONL or CSV file (- for standard input) and report the outcome."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the file, where its facts go, and how its columns are to be read."""
        parser.add_argument("file", metavar="FILE", help="JSONL or CSV, may be gzipped; - is stdin")
        parser.add_argument("--workspace", required=True, metavar="W")
        parser.add_argument("--make", action="store_true", help="make the workspace if missing")
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--partition", metavar="P", help="put every row into this partition")
        where.add_argument("--partition-field", metavar="F", help="column that names the partition")
        parser.add_argument("--source", metavar="S", help="source of rows that name none")
        parser.add_argument(
            "--session", metavar="S", help="session of rows that name none; default: import:FILE"
        )
        parser.add_argument("--format", choices=list(Format), help="default: by the file's name")
        parser.add_argument("--encoding", help="default: by the byte-order mark, else UTF-8")
        parser.add_argument("--delimiter", help="of a CSV; default: the one its header uses")
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            metavar="FIELD=COLUMN",
            help="take a field from a column of another name; may be repeated",
        )
        parser.add_argument(
            "--ignore",
            action="append",
            default=[],
            metavar="COLUMN",
            help="leave a column out; may be repeated",
        )
        parser.add_argument(
            "--run-id", metavar="R", help="go on with this run where it stopped; default: a new run"
        )
        parser.add_argument("--batch", type=int, default=BATCH_LIMIT, metavar="N")
        parser.add_argument(
            "--complete",
            action="store_true",
            help="the file is a whole pass over its sources: what it no longer names is demoted",
        )
        parser.add_argument(
            "--errors", metavar="FILE", help="where rows that cannot be read are kept, with reasons"
        )
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import, report, and fail when nothing could be read."""
        named, run_id = options["file"], options["run_id"] or _new_run_id()
        is_pipe = named == "-"
        name = "stdin" if is_pipe else Path(named).name
        errors = ErrorFile(_errors_path(options["errors"], named, is_pipe, run_id))
        access: Access | None = None
        try:
            access = _access(options["workspace"], options["make"])
            columns = _columns(options, name)
            warm()
            if options["run_id"] is None:
                self._mention_unfinished(name, access)
            with _opened(named, is_pipe) as stream, _progress(stream, is_pipe) as on_progress:
                work = Import(
                    stream=stream,
                    name=name,
                    format=_format(options["format"], name),
                    columns=columns,
                    run_id=run_id,
                    errors=errors,
                    access=access,
                    encoding=options["encoding"],
                    delimiter=options["delimiter"],
                    batch=options["batch"],
                    complete=options["complete"],
                    on_progress=on_progress,
                )
                report = work.run()
        except (BadRequest, Conflict) as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt as error:
            raise CommandError(_stopped(run_id), returncode=INTERRUPTED) from error
        except UNREACHABLE as error:
            if access is None:
                raise  # nothing has begun: manage.py says where the database should be
            said = str(error).strip().splitlines()
            raise CommandError(f"The database failed: {said[0]}. {_stopped(run_id)}") from error
        self._print(report, as_json=options["json"])
        if report.has_read_nothing:
            raise CommandError(f"Nothing could be read from {named}.")

    def _print(self, report: Report, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(report.as_json()))
            return
        for line in report.lines():
            self.stdout.write(line)

    def _mention_unfinished(self, name: str, access: Access) -> None:
        before = runs.unfinished_run(name, access=access)
        if before is not None:
            self.stderr.write(
                f"An earlier import of {name} did not finish; --run-id {before} goes on with it."
                " This is a new run: what both import is counted as said again."
            )


def _access(workspace: str, may_make: bool) -> Access:
    if may_make:
        return make_workspace(workspace, actor=ACTOR)
    found = find_workspace(workspace)
    if found is None:
        message = f"there is none called {workspace!r}; --make makes it"
        raise BadRequest(FieldError("workspace", message, "unknown"))
    return Access(workspace_id=found, actor=ACTOR, workspace=workspace)


def _columns(options: dict[str, Any], name: str) -> Columns:
    renamed = read_mapping(options["map"])
    if options["partition_field"]:
        renamed["partition"] = options["partition_field"]
    named = {
        field: clean_name(field, options[field], limit=NAME_LIMIT)
        for field in ("partition", "source", "session")
        if options[field] is not None
    }
    # A session of the file's own: one act takes out what a bad file brought, and importing
    # it again is the same voice, not a second one.
    named.setdefault("session", f"import:{name}"[:NAME_LIMIT])
    return Columns(renamed=renamed, ignored=frozenset(options["ignore"]), **named)


def _format(given: str | None, name: str) -> Format:
    if given is not None:
        return Format(given)
    return guess_format(name) or Format.JSONL


def _errors_path(given: str | None, named: str, is_pipe: bool, run_id: str) -> Path:
    if given is not None:
        return Path(given).absolute()
    stem = Path("import") if is_pipe else Path(named)
    safe = "".join(char if char.isalnum() or char in "-_." else "_" for char in run_id)
    return stem.with_name(f"{stem.name}.{safe}.errors.jsonl").absolute()


@contextmanager
def _opened(named: str, is_pipe: bool) -> Iterator[BufferedReader]:
    with ExitStack() as stack:
        try:
            # Standard input by its number: sys.stdin may be replaced, and is not ours to close.
            stream = stack.enter_context(open(0 if is_pipe else named, "rb", closefd=not is_pipe))
        except OSError as error:
            message = f"cannot be opened: {error.strerror}"
            raise BadRequest(FieldError(named, message, "unreadable")) from error
        yield stream


@contextmanager
def _progress(stream: BufferedReader, is_pipe: bool) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on a terminal; elsewhere nothing moves."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda position, rows: None
        return
    total = None if is_pipe else os.fstat(stream.fileno()).st_size
    columns = (
        TextColumn("{task.fields[rows]:,} rows"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("import", total=total, rows=0)

        def show(position: int, rows: int) -> None:
            # Where the file itself is read: right for a compressed one, too.
            done = None if is_pipe else stream.tell()
            bar.update(task, completed=done, rows=rows)

        yield show


def _new_run_id() -> str:
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _stopped(run_id: str) -> str:
    return f"Stopped; every batch reported so far is kept. --run-id {run_id} goes on from there."
