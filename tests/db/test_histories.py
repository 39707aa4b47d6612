"""Random histories of everything that can happen to facts, and what must hold after each.

Nothing withheld comes out of an agent's door by text, id, likeness or time; a
one-valued slot has at most one live record; a fact has at most one live row;
history never shrinks.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from records import curate
from records.access import Access
from records.domain import canonical
from records.domain.facts import HoldReason
from records.items import Conflict, WriteItem, Written
from records.models import Claim, Event, MemoryRecord, Session
from records.retrieve import RecallRequest, recall
from records.scope import workspace_scope
from records.write import write_facts

from .conftest import make_access

START = datetime(2026, 1, 1, tzinfo=UTC)
SESSIONS = ("s0", "s1", "s2")
VALUES = ("Acme", "Helio", "Crux")
PREDICATES = ("employer", "allergy", "birthday")
WITHHELD = {"quarantined", "rejected", "retracted", "evicted", "erased"}

write = st.tuples(
    st.just("write"),
    st.lists(
        st.builds(
            lambda predicate, value, session, confidence, age, ttl, key: WriteItem(
                partition="p",
                subject="Ada",
                predicate=predicate,
                value=value,
                session=session,
                confidence=confidence,
                # Filled in relative to the history's clock.
                metadata={"age": age, "ttl": ttl},
                source="feed" if key else None,
                source_key=key,
            ),
            st.sampled_from(PREDICATES),
            st.sampled_from(VALUES),
            st.sampled_from(SESSIONS),
            st.sampled_from((0.4, 0.8, 1.0)),
            st.sampled_from((0, 0, 0, 3, 40)),
            st.sampled_from((None, None, 1, 20)),
            st.sampled_from((None, None, None, "k1", "k2")),
        ),
        min_size=1,
        max_size=5,
    ),
)
pick = st.integers(0, 40)
act = st.one_of(
    write,
    write,
    st.tuples(
        st.sampled_from(
            ("evict", "restore", "approve", "reject", "retract", "erase", "hold", "confirm")
        ),
        pick,
    ),
    st.tuples(st.sampled_from(("suspend", "release", "evict_session")), st.sampled_from(SESSIONS)),
    st.tuples(st.just("wait"), st.sampled_from((1, 30))),
)


@dataclass
class History:
    """A workspace under test, its clock, and what has been there."""

    access: Access
    now: datetime = START
    seen: set[UUID] = field(default_factory=set)
    events: int = 0
    belief: dict[datetime, set[UUID]] = field(default_factory=dict)

    def rows(self) -> list[MemoryRecord]:
        with workspace_scope(self.access.workspace_id):
            return list(MemoryRecord.objects.order_by("id"))

    def session_id(self, name: str) -> UUID:
        return canonical.session_id(self.access.workspace_id, self.access.partition_id("p"), name)

    def do(self, step: tuple[object, ...]) -> None:
        self.now += timedelta(minutes=1)
        name, what = step
        if name == "write":
            assert isinstance(what, list)
            items = [self.dated(item) for item in what]
            results = write_facts(items, access=self.access, now=self.now)
            assert all(isinstance(r, Written) for r in results)
        elif name == "wait":
            assert isinstance(what, int)
            self.now += timedelta(days=what)
        elif isinstance(what, str):
            self.do_to_session(str(name), what)
        elif isinstance(what, int):
            rows = self.rows()
            if rows:
                self.do_to_record(str(name), rows[what % len(rows)].id)

    def dated(self, item: WriteItem) -> WriteItem:
        seen = self.now - timedelta(days=item.metadata["age"])
        ttl = item.metadata["ttl"]
        until = seen + timedelta(days=ttl) if ttl else None
        return replace(item, written_at=seen, valid_until=until, metadata={})

    def do_to_session(self, name: str, session: str) -> None:
        identity = self.session_id(session)
        with workspace_scope(self.access.workspace_id):
            exists = Session.objects.filter(id=identity).exists()
            claimed = list(
                Claim.objects.filter(session_id=identity).values_list("record_id", flat=True)
            )
        if name == "evict_session":
            curate.evict(claimed, "poison", access=self.access, session_id=identity, now=self.now)
        elif exists:
            contain = curate.suspend if name == "suspend" else curate.release
            contain("session", identity, "look", access=self.access, now=self.now)

    def do_to_record(self, name: str, record_id: UUID) -> None:
        try:
            if name == "approve":
                curate.approve(record_id, access=self.access, now=self.now)
            elif name == "confirm":
                curate.confirm(record_id, "seen", access=self.access, now=self.now)
            elif name == "hold":
                curate.hold([record_id], HoldReason.MANUAL, access=self.access, now=self.now)
            else:
                do = getattr(curate, name)
                do([record_id], "because", access=self.access, now=self.now)
        except Conflict:
            pass

    def served(
        self, *, query: str = "Ada Acme Helio Crux employer allergy birthday", **more: object
    ) -> set[UUID]:
        request = RecallRequest("p", query, top_k=100, **more)  # type: ignore[arg-type]
        answer = recall(request, access=self.access, now=self.now)
        ids = [item.id for item in answer.items]
        assert len(ids) == len(set(ids))
        return set(ids)

    def check(self) -> None:
        rows = self.rows()
        by_id = {r.id: r for r in rows}
        assert self.seen <= set(by_id), "history shrank"
        self.seen = set(by_id)
        with workspace_scope(self.access.workspace_id):
            events = Event.objects.count()
            suspended = set(Session.objects.exclude(suspended_at=None).values_list("id", flat=True))
            claims = list(Claim.objects.filter(state="live"))
            named = set(Event.objects.exclude(target_id=None).values_list("target_id", flat=True))
        assert events >= self.events
        self.events = events
        assert set(by_id) <= named, "a record without an event"
        live = [r for r in rows if r.status == "active"]
        slots = [r.slot_id for r in live if r.cardinality == "one"]
        assert len(slots) == len(set(slots)), "two live records in a one-valued slot"
        prints = [r.fingerprint for r in rows if r.status in ("active", "quarantined")]
        assert len(prints) == len(set(prints)), "two live rows of one fact"
        self.check_chains(by_id)
        self.check_doors(by_id, claims, suspended)

    def check_chains(self, by_id: dict[UUID, MemoryRecord]) -> None:
        for row in by_id.values():
            assert (row.status == "superseded") <= (row.superseded_by is not None)
            walked, at = set(), row
            while at.superseded_by is not None:
                assert at.id not in walked, "a chain that runs in a circle"
                walked.add(at.id)
                at = by_id[at.superseded_by]

    def check_doors(
        self, by_id: dict[UUID, MemoryRecord], claims: list[Claim], suspended: set[UUID]
    ) -> None:
        open_claims = {c.record_id for c in claims if c.session_id not in suspended}
        expected = {r.id for r in by_id.values() if r.status == "active" and r.id in open_claims}
        if by_id:
            assert self.served() == expected
            current = self.served(current_only=True)
            assert current <= expected
            for one in current:
                until = by_id[one].valid_until
                assert until is None or until > self.now
            for then in (self.now, *list(self.belief)[-2:]):
                for served in (
                    self.served(as_of=then),
                    self.served(valid_at=then),
                    self.served(as_of=then, valid_at=then),
                ):
                    for one in served:
                        assert by_id[one].status not in WITHHELD
                        assert one in open_claims
                if then in self.belief:
                    # What was believed then, less what is withheld now: nothing is added later.
                    assert self.served(as_of=then) <= self.belief[then]
        self.belief[self.now] = {r.id for r in by_id.values() if r.status == "active"}


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(st.lists(act, min_size=3, max_size=10))
def test_promises_hold_after_every_step_of_any_history(steps: list[tuple[object, ...]]) -> None:
    history = History(make_access())
    for step in steps:
        history.do(step)
        history.check()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(write, min_size=1, max_size=6))
def test_a_batch_gives_what_single_writes_give(steps: list[tuple[str, list[WriteItem]]]) -> None:
    together, apart = History(make_access()), History(make_access())
    for _, items in steps:
        together.now = apart.now = together.now + timedelta(minutes=1)
        dated = [together.dated(item) for item in items]
        one = write_facts(dated, access=together.access, now=together.now)
        other = [write_facts([i], access=apart.access, now=apart.now)[0] for i in dated]
        for a, b in zip(one, other, strict=True):
            assert isinstance(a, Written)
            assert isinstance(b, Written)
            assert (a.decision, a.status, a.seen_count, len(a.superseded)) == (
                b.decision,
                b.status,
                b.seen_count,
                len(b.superseded),
            )
    assert picture(together) == picture(apart)


def picture(history: History) -> list[tuple[object, ...]]:
    """Everything about a store that does not depend on ids."""
    with workspace_scope(history.access.workspace_id):
        claims = [
            (c.record.fingerprint, c.session.external_id, c.count, c.state, c.first_at, c.last_at)
            for c in Claim.objects.select_related("record", "session")
        ]
    rows = [
        (r.fingerprint, r.status, r.hold_reason, round(r.confidence, 4), r.order_at, r.valid_until)
        for r in history.rows()
    ]
    return [*sorted(rows, key=str), *sorted(claims, key=str)]
