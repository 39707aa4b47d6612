"""Random histories with merges in them: one identity lives once, every claim counts once,
and a merge that is undone at once has left nothing behind."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import UUID

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from records import curate
from records.items import WriteItem, Written
from records.models import Claim, RecordMerge, Tally
from records.scope import workspace_scope
from records.write import write_facts

from .conftest import make_access
from .test_histories import SESSIONS, History

VALUES = ("red bikes", "bikes that are red", "skis", "snowboards")
PREDICATES = ("likes", "employer")
IN_SERVICE = ("active", "quarantined")

write = st.tuples(
    st.just("write"),
    st.lists(
        st.builds(
            lambda predicate, value, session, ttl, key: WriteItem(
                partition="p",
                subject="Ada",
                predicate=predicate,
                value=value,
                session=session,
                metadata={"age": 0, "ttl": ttl},
                source="feed" if key else None,
                source_key=key,
            ),
            st.sampled_from(PREDICATES),
            st.sampled_from(VALUES),
            st.sampled_from(SESSIONS),
            st.sampled_from((None, None, None, 5)),
            st.sampled_from((None, None, "k1")),
        ),
        min_size=1,
        max_size=4,
    ),
)
pick = st.integers(0, 40)
merging = st.tuples(st.sampled_from(("merge", "merge", "try")), st.tuples(pick, pick))
step = st.one_of(
    write,
    write,
    merging,
    merging,
    merging,
    st.tuples(st.just("part"), pick),
    st.tuples(st.just("part"), pick),
    st.tuples(
        st.sampled_from(("evict", "restore", "retract", "erase", "hold", "approve", "reject")), pick
    ),
    st.tuples(st.just("evict_session"), st.sampled_from(SESSIONS)),
    st.tuples(st.just("wait"), st.sampled_from((1, 30))),
)


class Merging(History):
    """A history in which people merge, too."""

    def do(self, step: tuple[object, ...]) -> None:
        name, what = step
        if name == "write":
            assert isinstance(what, list)
            self.write(what)
        elif name in ("merge", "try"):
            assert isinstance(what, tuple)
            self.merge(*what, at_once=name == "try")
        elif name == "part":
            assert isinstance(what, int)
            self.part(what)
        else:
            super().do(step)

    def write(self, items: list[WriteItem]) -> None:
        """Write, and see that a merged wording never becomes a second fact beside the kept one."""
        alias = {m.gone_id: m.kept_id for m in self.standing()}
        rows = {row.id: row for row in self.rows()}
        super().do(("write", items))
        for gone, kept in alias.items():
            if rows[gone].status == "superseded" and rows[kept].status in IN_SERVICE:
                now = {row.id: row for row in self.rows()}
                if now[kept].status in IN_SERVICE and now[gone].merged_into is not None:
                    same = [r for r in now.values() if r.fingerprint == rows[gone].fingerprint]
                    assert not [r for r in same if r.status in IN_SERVICE]

    def merge(self, one: int, other: int, *, at_once: bool) -> None:
        live = [row for row in self.rows() if row.status == "active"]
        if len(live) < 2:
            return
        place = one % len(live)
        kept = live[place].id
        gone = live[(place + 1 + other % (len(live) - 1)) % len(live)].id
        before = self.picture()
        done = curate.merge(kept, [gone], "same", access=self.access, now=self.now)
        if done.merges and at_once:
            curate.part(done.merges, "not", access=self.access, now=self.now)
            assert self.picture() == before

    def part(self, number: int) -> None:
        merges = self.standing()
        if merges:
            curate.part([merges[number % len(merges)].id], "no", access=self.access, now=self.now)

    def standing(self) -> list[RecordMerge]:
        with workspace_scope(self.access.workspace_id):
            return list(RecordMerge.objects.filter(parted_at=None).order_by("id"))

    def claims(self) -> list[Claim]:
        with workspace_scope(self.access.workspace_id):
            return list(Claim.objects.all())

    def picture(self) -> dict[str, Any]:
        """Return everything that a merge and its undo may not leave changed."""
        rows = {
            row.id: (row.status, row.confidence, row.trust, row.valid_until, row.last_seen,
                     row.corroboration, row.superseded_by, row.merged_into)
            for row in self.rows()
        }  # fmt: skip
        said = {
            (c.record_id, c.session_id, c.source_id): (c.state, c.count, c.first_at, c.last_at)
            for c in self.claims()
            if c.state != "moved" or c.count
        }
        return {"rows": rows, "claims": said}


def check(history: Merging) -> None:
    rows = {row.id: row for row in history.rows()}
    history.check_chains(rows)
    taken = Counter(
        row.fingerprint
        for row in rows.values()
        if row.status in IN_SERVICE or (row.status == "superseded" and row.merged_into)
    )
    assert max(taken.values(), default=0) <= 1
    claims = history.claims()
    alive = {m.gone_id: m for m in history.standing()}
    for row in rows.values():
        if row.merged_into is not None:
            assert alive[row.id].kept_id == row.merged_into
    for claim in claims:
        if claim.state == "moved" and claim.count:
            merge = alive.get(claim.record_id)
            assert merge is None or merge.id == claim.merge_id
        if claim.state == "live" and claim.record_id in alive:
            # Said of the merged wording itself: only while what it means was out of service.
            assert rows[alive[claim.record_id].kept_id].status not in IN_SERVICE or claim.count == 0
    counted: dict[UUID, int] = Counter()
    for claim in claims:
        if claim.state == "live":
            counted[claim.record_id] += claim.count
    with workspace_scope(history.access.workspace_id):
        tallies = {t.record_id: t.seen_count for t in Tally.objects.all()}
    for record_id, seen in tallies.items():
        if rows[record_id].status == "active":
            assert seen == max(counted[record_id], 1), record_id


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    phases=[Phase.generate],  # shrinking a history of real commits takes minutes
)
@given(st.lists(step, min_size=8, max_size=16))
def test_whatever_is_merged_and_parted_every_claim_counts_once(
    steps: list[tuple[object, ...]],
) -> None:
    history = Merging(make_access())
    first = write_facts(
        [WriteItem(partition="p", subject="Ada", predicate="likes", value=v, session=s)
         for v, s in zip(VALUES, (*SESSIONS, "s0"), strict=True)],
        access=history.access, now=history.now,
    )  # fmt: skip
    assert all(isinstance(one, Written) for one in first)
    for one in steps:
        history.do(one)
        check(history)
    history.check()
