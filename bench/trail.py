"""The trail at size: sealing, verifying, exporting and proving offline, events a second.

    .venv/bin/python -m bench.trail [--events N]

Bars: a million events are verified within 10 s, read included, and exported within 60 s, both
in memory that does not grow with the trail. Smaller sizes are held to the same pace.
"""

from __future__ import annotations

import argparse
import resource
import sys
from functools import partial
from pathlib import Path
from time import perf_counter

from django.conf import settings
from django.db import connections
from psycopg import sql

from audits import seals, verify_export
from audits.export import export_trail
from audits.verify import verify_trail
from bench import instance
from bench.instance import bars, timed
from records import queries
from records.access import Access, Actor, ActorKind
from records.scope import workspace_scope
from records.workspaces import make_workspace

MILLION = 1_000_000
MEMORY_LIMIT_MB = 300  # several times what a piece of the walk holds
FILL = """INSERT INTO event (workspace_id, partition_id, actor_kind, actor, action, target_kind,
                             target_id, session_id, request_id, details)
SELECT %s, gen_random_uuid(), 'key', 'mc_abcdefgh', 'record.added', 'record', gen_random_uuid(),
       gen_random_uuid(), gen_random_uuid()::text,
       jsonb_build_object('decision', 'added', 'digest', md5(n::text), 'confidence', 0.8)
FROM generate_series(1, %s) AS n"""


def main() -> int:
    """Run the benchmark and print its figures; the exit code says whether the bars are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=MILLION)
    count = parser.parse_args().events
    with instance.database():
        return _run(count)


def _run(count: int) -> int:
    access = make_workspace("bench", actor=Actor(ActorKind.COMMAND, "bench"))
    with workspace_scope(access.workspace_id), connections["default"].cursor() as cursor:
        cursor.execute(FILL, [access.workspace_id, count])
    begun = perf_counter()
    sealed = seals.seal_now(access.workspace_id)
    _tell("sealed", sealed, perf_counter() - begun)
    with connections["maintenance"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE event")
        cursor.execute("VACUUM ANALYZE sealed_event")

    begun = perf_counter()
    report = verify_trail(access.workspace_id)
    verifying = perf_counter() - begun
    if not report.is_whole:
        raise RuntimeError(report.sentence)
    _tell("verified", report.events, verifying)

    bare = timed(partial(_read, access))
    _tell("read, bare", sealed, bare)
    print(f"verifying takes {verifying / bare:.1f} times a bare read of the rows")
    path = instance.HOME / "export.jsonl"
    exporting = timed(partial(_export, access, path))
    _tell("exported", sealed, exporting)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"memory at most {memory:.0f} MB; the file has {path.stat().st_size / 1e6:.0f} MB")
    begun = perf_counter()
    if verify_export.main([str(path), "--keys", str(settings.TRAIL_PUBLIC_KEYS_FILE)]):
        raise RuntimeError("the export is not proven")
    _tell("proven offline", sealed, perf_counter() - begun)
    return bars(
        [
            ("seconds to verify a million events", verifying * MILLION / sealed, "<=", 10.0),
            ("seconds to export a million events", exporting * MILLION / sealed, "<=", 60.0),
            ("MB of memory", memory, "<=", MEMORY_LIMIT_MB),
        ]
    )


def _read(access: Access) -> None:
    """Read the same rows and do nothing with them."""
    statement = sql.SQL(
        "COPY (SELECT e.*, s.position, s.leaf FROM sealed_event s JOIN event e ON e.id = s.event_id"
        " WHERE s.workspace_id = {} ORDER BY s.position) TO STDOUT (FORMAT binary)"
    ).format(access.workspace_id)
    with (
        workspace_scope(access.workspace_id),
        queries.cursor() as cursor,
        cursor.copy(statement) as copy,
    ):
        for _ in copy:
            pass


def _export(access: Access, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(export_trail(access))


def _tell(what: str, events: int, seconds: float) -> None:
    print(
        f"{what:>15}: {events:>9,} events in {seconds:6.2f} s, {events / seconds:>9,.0f} a second"
    )


if __name__ == "__main__":
    sys.exit(main())
