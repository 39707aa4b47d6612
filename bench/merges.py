"""What merged wordings cost a write, and what the search for near-duplicates costs.

    .venv/bin/python -m bench.merges [--rounds N]

Batches of 1,000 facts said again, straight to the write path, in alternating rounds: as if no
wording could be merged (the look-up that there was before), as it is while nothing is merged, and
with 100 of the 1,000 said in a merged wording. Then steps of the search over a partition of 5,000
live facts, the largest that is compared whole.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from datetime import UTC, datetime, timedelta

from bench import instance
from bench.instance import bars, spread, timed

# isort: split
from audits.duplicates.finding import BATCH, LARGE, compare
from records import curate, store
from records.access import Access, Actor, ActorKind
from records.items import WriteItem, Written
from records.models import MemoryRecord
from records.queries import cursor
from records.scope import workspace_scope
from records.warm import warm
from records.workspaces import make_workspace
from records.write import write_facts

COUNT = 1_000
MERGED = 100
BEFORE = "r.status IN ('active', 'quarantined')"


def main() -> int:
    """Run the benchmark and print its figures; the exit code says whether the bars are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with instance.database():
        return _run(rounds)


def _run(rounds: int) -> int:
    access = make_workspace("bench", actor=Actor(ActorKind.COMMAND, "bench"))
    warm()
    for partition in ("plain", "merged"):
        _write(access, partition, "first")
    _merge(access)
    for name in ("warm-1", "warm-2"):
        for partition in ("plain", "merged"):
            _write(access, partition, name)
    instance.vacuum()
    times: dict[str, list[float]] = {"before": [], "now": [], "merged": []}
    for number in range(rounds):
        for kind in times:
            store.TAKEN, kept = (BEFORE if kind == "before" else store.TAKEN), store.TAKEN
            partition = "merged" if kind == "merged" else "plain"
            times[kind].append(
                timed(lambda p=partition, n=f"{kind}-{number}": _write(access, p, n))
            )
            store.TAKEN = kept
    steps = _search(access, rounds)
    print(f"Batches of {COUNT:,} facts said again, {rounds} rounds, medians (quartiles)\n")
    print(f"as before there were merges   {spread(times['before'])}")
    print(f"nothing merged                {spread(times['now'])}")
    print(f"{MERGED} in merged wordings        {spread(times['merged'])}")
    print(f"search, {BATCH} of {LARGE:,} facts   {spread(steps)}\n")
    before, now, merged = (statistics.median(times[kind]) for kind in times)
    return bars(
        [
            ("nothing merged / before", now / before, "<=", 1.05),
            ("a tenth merged / nothing merged", merged / now, "<=", 1.5),
        ]
    )


def _write(access: Access, partition: str, session: str) -> None:
    items = [
        WriteItem(
            partition=partition, subject=f"Person {n % 97}", predicate=f"habit {n % 11}",
            value=f"value number {n}", session=session,
        )
        for n in range(COUNT)
    ]  # fmt: skip
    assert all(isinstance(one, Written) for one in write_facts(items, access=access))


def _merge(access: Access) -> None:
    """Merge the first facts of the partition into later ones, one by one."""
    with workspace_scope(access.workspace_id):
        ids = list(
            MemoryRecord.objects.filter(partition_id=access.partition_id("merged"))
            .order_by("id")
            .values_list("id", flat=True)
        )
    for gone, kept in zip(ids[:MERGED], ids[MERGED:], strict=False):
        done = curate.merge(kept, [gone], "bench", access=access)
        assert done.changed == [gone], done.skipped


def _search(access: Access, rounds: int) -> list[float]:
    """Time the comparing of one step in a partition of the largest size that is compared whole."""
    for start in range(0, LARGE, COUNT):
        items = [
            WriteItem(partition="large", subject="Ada", predicate=f"habit {n % 500}",
                      value=f"walks {n} miles along road {n * 7}", session="s")
            for n in range(start, start + COUNT)
        ]  # fmt: skip
        write_facts(items, access=access)
    instance.vacuum()
    now = datetime.now(UTC) + timedelta(hours=1)
    found: list[float] = []
    with workspace_scope(access.workspace_id):
        ids = list(
            MemoryRecord.objects.filter(partition_id=access.partition_id("large"))
            .order_by("id")
            .values_list("id", flat=True)
        )
        for number in range(min(rounds, LARGE // BATCH)):
            some = ids[number * BATCH : (number + 1) * BATCH]
            with cursor() as cur:
                found.append(timed(lambda c=cur, s=some: compare(c, access.workspace_id, s, now)))
    return found


if __name__ == "__main__":
    sys.exit(main())
