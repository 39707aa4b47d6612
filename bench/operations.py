"""One background operation that evicts 50,000 facts of a session, and one that brings them back.

    .venv/bin/python -m bench.operations [--facts N] [--rounds N]

Bare: the same number of rows of the same tables, in one transaction each way: UPDATE of the
records' status, INSERT ... SELECT of one event each. It locks no slot, drops no claim, builds no
fence, restores nothing that was displaced, and keeps no account of what became of each. The
operation runs as a worker runs it, a thousand facts a transaction, with its preview, its drift
check, its probes and its receipt. Rounds of the kinds alternate within one run.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import statistics
import sys
from collections.abc import Callable
from contextlib import contextmanager
from datetime import UTC, datetime
from time import perf_counter
from typing import Any
from uuid import UUID, uuid4

from bench import instance
from bench.instance import bars, spread

# isort: split
from audits import approvals, operations, people
from audits.domain.roles import Role
from audits.domain.scope import Scope
from audits.models import Operation, User
from audits.operations import submitting
from audits.operations.running import perform_waiting
from records import write
from records.access import Access, Actor, ActorKind
from records.domain.canonical import session_id
from records.items import WriteItem
from records.queries import cursor
from records.scope import workspace_scope
from records.warm import warm
from records.workspaces import make_workspace

BATCH = 1_000
SUBJECTS = 5_000
PREDICATES = ("likes", "visited", "mentioned", "owns")  # each holds many values


def main() -> int:
    """Run the benchmark and print its figures; the exit code says whether the bars are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", action="store_true", help="where the client's time goes")
    wanted = parser.parse_args()
    submitting.queue = lambda job, workspace_id: None  # type: ignore[attr-defined]  # run here
    with instance.database():
        return _run(wanted.facts, wanted.rounds, is_profiled=wanted.profile)


def _run(facts: int, rounds: int, *, is_profiled: bool) -> int:
    access = make_workspace("bench", actor=Actor(ActorKind.COMMAND, "bench"))
    warm()
    bench = Bench(access)
    for name in ("by-operation", "by-hand"):
        bench.fill(name, facts)
    instance.vacuum()
    previewing, evicting, undoing, bare_out, bare_back = [], [], [], [], []
    for number in range(rounds):
        started = perf_counter()
        shown = bench.preview("by-operation")
        previewing.append(perf_counter() - started)
        assert operations.asked(shown) == facts
        with _profiled(is_profiled and number == rounds - 1):
            evicting.append(bench.run(shown))
        done = bench.ended(shown)
        assert (done.state, done.changed, done.receipt["residue_total"]) == ("done", facts, 0), done
        bare_out.append(_timed(lambda: bench.bare("by-hand", "evicted")))
        back = operations.preview_undo(done.id, access=access, user_id=bench.asker.id)
        with _profiled(is_profiled and number == rounds - 1):
            undoing.append(bench.run(back))
        assert (bench.ended(back).state, bench.ended(back).changed) == ("done", facts)
        bare_back.append(_timed(lambda: bench.bare("by-hand", "active")))
        instance.vacuum()
    print(f"{facts:,} facts of one session, {rounds} rounds, medians (quartiles)\n")
    print(f"preview, frozen           {spread(previewing)}")
    print(f"evicted by one operation  {spread(evicting)}")
    print(f"bare UPDATE and INSERT    {spread(bare_out)}")
    print(f"undone by one operation   {spread(undoing)}")
    print(f"bare, the way back        {spread(bare_back)}\n")
    middle = statistics.median
    print(f"undoing is {middle(undoing) / middle(bare_back):.1f} times the bare way\n")
    return bars(
        [
            ("evicting, of the bare way", middle(evicting) / middle(bare_out), "<=", 6.0),
            ("undo, of the time to evict", middle(undoing) / middle(evicting), "<=", 1.0),
        ]
    )


class Bench:
    """A workspace with two people and the facts of some sessions."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self.asker = self._person(Role.RESPONDER)
        self.boss = self._person(Role.APPROVER)

    def fill(self, partition: str, facts: int) -> None:
        """Write that many facts of one session into a partition."""
        for start in range(0, facts, BATCH):
            items = [
                WriteItem(
                    partition=partition,
                    subject=f"customer {number % SUBJECTS}",
                    predicate=PREDICATES[number % len(PREDICATES)],
                    value=f"thing {number} of the {number % 97}th kind",
                    session="imported",
                )
                for number in range(start, min(start + BATCH, facts))
            ]
            write.write_facts(items, access=self.access)

    def session(self, partition: str) -> UUID:
        """Return the session that wrote a partition's facts."""
        return session_id(self.access.workspace_id, self.access.partition_id(partition), "imported")

    def preview(self, partition: str) -> Operation:
        """Freeze the eviction of a partition's session."""
        return operations.preview(
            "evict",
            Scope(session_ids=(self.session(partition),)),
            access=self.access,
            user_id=self.asker.id,
        )

    def run(self, shown: Operation) -> float:
        """Submit, agree and run an operation; return the run's seconds."""
        waiting = operations.submit(
            shown.id,
            digest=shown.digest,
            reason="bench",
            typed_count=operations.asked(shown),
            access=self.access,
            user_id=self.asker.id,
        )
        if waiting.approval_id is not None:
            approvals.decide(
                waiting.approval_id,
                is_yes=True,
                reason="",
                access=self.access,
                user_id=self.boss.id,
            )
        return _timed(lambda: perform_waiting(self.access.workspace_id))

    def ended(self, operation: Operation) -> Operation:
        """Return an operation as it stands now."""
        with workspace_scope(self.access.workspace_id):
            return operations.load(operation.id, workspace_id=self.access.workspace_id)

    def bare(self, partition: str, status: str) -> None:
        """Move the status of a session's records and add one event each, and nothing else."""
        with workspace_scope(self.access.workspace_id):
            cur = cursor()
            about = {
                "session": self.session(partition),
                "status": status,
                "now": datetime.now(UTC),
                "workspace": self.access.workspace_id,
            }
            cur.execute(
                """UPDATE memory_record r SET prior_status = r.status, status = %(status)s, status_at = %(now)s
                   FROM claim c WHERE c.session_id = %(session)s AND r.id = c.record_id""",
                about,
            )
            cur.execute(
                """INSERT INTO event (workspace_id, partition_id, actor_kind, actor, action, target_kind,
                                      target_id, session_id, reason, details)
                   SELECT %(workspace)s, c.partition_id, 'command', 'bench', 'record.' || %(status)s, 'record',
                          c.record_id, c.session_id, 'bench', '{"from": "active"}'
                   FROM claim c WHERE c.session_id = %(session)s""",
                about,
            )

    def _person(self, role: Role) -> User:
        user = User.objects.create_user(f"{role}-{uuid4().hex[:8]}", password="bench")
        people.add_member(user, role, access=self.access)
        return user


@contextmanager
def _profiled(is_on: bool) -> Any:
    if not is_on:
        yield
        return
    profile = cProfile.Profile()
    profile.enable()
    yield
    profile.disable()
    pstats.Stats(profile).sort_stats("cumulative").print_stats(45)


def _timed(act: Callable[[], object]) -> float:
    started = perf_counter()
    act()
    return perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
