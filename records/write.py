"""The one way in: everything that adds or restates a fact goes through here.

    shape -> policy and identity -> gate -> slots locked in order -> ledger -> one transaction

Owns the order of steps. The rules are pure (``domain``), the statements are
``store.py``'s. A batch and single writes give the same outcome, and a batch
costs a constant number of statements. Acts of people are ``curate.py``.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from pgvector import HalfVector

from records import embeddings, judges, store
from records.access import Access
from records.domain import canonical, terms
from records.domain.facts import Cardinality, Fact, Finding, GateContext, Outcome, Status
from records.domain.gate import Ruleset, beside, check
from records.domain.ledger import Ledger
from records.domain.reconcile import Known
from records.drafts import Draft, draft, incoming, redact
from records.fences import fence_key, keyed_fingerprint
from records.items import FieldError, NotFound, Refused, WriteItem, Written
from records.policies import PolicyBook, book
from records.queries import Row, cursor
from records.rulesets import ruleset
from records.saving import save
from records.scope import partition_scope, retried
from records.shape import Shaped, shape
from records.telemetry import counts, traces

log = logging.getLogger(__name__)

NAMES = (
    "partition", "session", "agent", "extracted_by", "source", "source_key", "external_id",
)  # fmt: skip
RECENT_TEXTS = 8  # how many of a session's last writes on a subject the gate reads joined
RECENT_WINDOW = timedelta(hours=1)


def write_fact(
    item: WriteItem, *, access: Access, now: datetime | None = None
) -> Written | Refused:
    """Write one fact; see ``write_facts``."""
    return write_facts([item], access=access, now=now)[0]


@retried
def write_facts(
    items: Sequence[WriteItem],
    *,
    access: Access,
    now: datetime | None = None,
    approved: frozenset[str] = frozenset(),
) -> list[Written | Refused]:
    """Write facts and say for each, in order, what was done with it.

    One transaction: everything well-formed is stored with its claims and
    events, or, if the database fails, nothing. A malformed item comes back as
    ``Refused`` and takes no other down. Raises ``NotFound`` when an item names
    a partition out of the access's reach. ``approved`` fingerprints were
    judged by a person: the gate's hold and fences do not stop them.
    """
    now = now or datetime.now(UTC)
    results: list[Written | Refused | None] = [None] * len(items)
    well_formed: list[tuple[int, Shaped]] = []
    for place, item in enumerate(items):
        found = shape(item, now=now)
        if not isinstance(found, Shaped):
            results[place] = Refused(found)
            continue
        if secret := _secret_names(found):
            results[place] = Refused(secret)
            continue
        if not access.reaches(found.partition):
            raise NotFound(f"partition {found.partition}")
        well_formed.append((place, found))
    if well_formed:
        partitions = {access.partition_id(s.partition): s.partition for _, s in well_formed}
        with (
            traces.span("memory.write", workspace=access.workspace_id, items=len(items)),
            partition_scope(access.workspace_id, partitions),
            cursor() as cur,
        ):
            _write(cur, well_formed, partitions, results, access, now, approved)
    written = [one for one in results if isinstance(one, Written)]
    counts.count_writes(written, refused=len(items) - len(written))
    return [one for one in results if one is not None]


def _secret_names(shaped: Shaped) -> tuple[FieldError, ...]:
    """Return an error for each name that holds a credential: a name cannot be masked."""
    names = {name: getattr(shaped, name) for name in NAMES}
    return tuple(
        FieldError(field, f"holds what looks like a credential ({kind})", "secret")
        for field, kind in beside.secret_names(names)
    )


def _write(
    cur: psycopg.Cursor[Row],
    well_formed: Sequence[tuple[int, Shaped]],
    partitions: dict[UUID, str],
    results: list[Written | Refused | None],
    access: Access,
    now: datetime,
    approved: frozenset[str],
) -> None:
    policies = book(access.workspace_id)
    drafts = [
        draft(place, shaped, policies=policies, access=access, now=now)
        for place, shaped in well_formed
    ]
    new_partitions = store.ensure_partitions(cur, access.workspace_id, partitions)
    _ensure_origins(cur, drafts, access)
    rules = ruleset(access.workspace_id)
    with traces.span("memory.gate", facts=len(drafts)) as gate:
        _judge(cur, drafts, rules, policies, new_partitions, access, now)
        if judges.are_asked():
            _ask_judges(cur, drafts, approved)
        gate.note(held=sum(one.verdict.outcome is not Outcome.ALLOW for one in drafts))
    with traces.span("memory.embed", facts=len(drafts)):
        _embed(cur, drafts, access)
    with traces.span("memory.reconcile", facts=len(drafts)):
        ledger = _load(cur, drafts, access, now, approved)
        for one in drafts:
            assert one.arriving is not None
            one.applied = ledger.apply(one.arriving, item=one.item)
    with traces.span("memory.save", facts=len(drafts)):
        answers = save(cur, ledger, drafts, new_partitions=new_partitions, access=access, now=now)
    for one, answer in zip(drafts, answers, strict=True):
        results[one.item] = answer


def _ensure_origins(cur: psycopg.Cursor[Row], drafts: Sequence[Draft], access: Access) -> None:
    """Make new sources and sessions, and tell each draft its source's tier."""
    names = sorted({d.source for d in drafts})
    ids = [canonical.source_id(access.workspace_id, name) for name in names]
    sources = store.load_sources(cur, access.workspace_id, names, ids)
    sessions: dict[UUID, tuple[Any, ...]] = {}
    for one in drafts:
        one.origin = sources[one.source]
        sessions.setdefault(
            one.session_id,
            (
                one.session_id,
                one.partition_id,
                one.session_name,
                one.synthesised,
                one.shaped.agent,
                one.shaped.extracted_by,
            ),
        )
    store.ensure_sessions(cur, access.workspace_id, list(sessions.values()))


def _judge(
    cur: psycopg.Cursor[Row],
    drafts: Sequence[Draft],
    rules: Ruleset,
    policies: PolicyBook,
    new_partitions: Sequence[UUID],
    access: Access,
    now: datetime,
) -> None:
    """Let the gate judge every draft, each in the context that the ones before it made."""
    new = frozenset(new_partitions)
    old = [d for d in drafts if d.partition_id not in new] if new else drafts
    recent, counts = _recent(cur, old, now)
    corroboration = _corroboration(cur, [d for d in old if d.policy.sensitive])
    names: dict[tuple[str, str], tuple[Finding, ...]] = {}
    for one in drafts:
        shaped, session_id = one.shaped, one.session_id
        texts = recent[session_id, one.identity.subject_key]
        fact = Fact(
            subject=shaped.subject,
            predicate=shaped.predicate,
            value=shaped.value,
            content=shaped.content,
            evidence=shaped.evidence,
            tags=shaped.tags,
        )
        context = GateContext(
            tier=one.source_view.tier,
            derived=shaped.is_derived,
            recent_texts=tuple(texts[-RECENT_TEXTS:]),
            session_writes=counts[session_id],
            corroborating_sessions=corroboration.get(
                (one.partition_id, one.identity.fingerprint), 0
            )
            if corroboration
            else 0,
        )
        one.verdict = check(fact, context=context, policy=one.policy, ruleset=rules, now=now)
        one.verdict = beside.add(one.verdict, _name_findings(one, names, context, rules, now))
        one.verdict = beside.hide_secrets(one.verdict, shaped.tags, shaped.metadata)
        if one.verdict.redacted:
            redact(one, policies=policies, access=access)
        texts.append(one.shaped.value)
        counts[session_id] += 1


def _ask_judges(
    cur: psycopg.Cursor[Row], drafts: Sequence[Draft], approved: frozenset[str]
) -> None:
    """Let the judges beside the gate add to the verdicts, before any slot is locked.

    Not asked about what a person approved, and not about an observed fact that
    is known and in force, for its sentence stays the one that was judged.
    """
    allowed = [
        d
        for d in drafts
        if d.verdict.outcome is Outcome.ALLOW and d.identity.fingerprint not in approved
    ]
    restated = _restated(cur, [d for d in allowed if not d.shaped.is_derived])
    asked = [d for d in allowed if d.id not in restated]
    facts = [Fact(s.subject, s.predicate, s.value, s.content) for s in (d.shaped for d in asked)]
    judged = judges.add(facts, [d.verdict for d in asked])
    for one, verdict in zip(asked, judged, strict=True):
        one.verdict = verdict


def _name_findings(
    one: Draft,
    known: dict[tuple[str, str], tuple[Finding, ...]],
    context: GateContext,
    rules: Ruleset,
    now: datetime,
) -> list[Finding]:
    """Return what the gate says of the names that recall shows beside the fact."""
    shown = {
        "session": one.session_name,
        "source": one.source,
        "extracted_by": one.shaped.extracted_by,
    }
    found: list[Finding] = []
    for key in shown.items():
        if key not in known:
            plain = replace(context, recent_texts=(), session_writes=0, corroborating_sessions=0)
            known[key] = beside.read_name(*key, context=plain, ruleset=rules, now=now)
        found += known[key]
    return found


def _recent(
    cur: psycopg.Cursor[Row], drafts: Sequence[Draft], now: datetime
) -> tuple[dict[tuple[UUID, str], list[str]], dict[UUID, int]]:
    """Return the sessions' last writes by subject, and how many they wrote in the last hour."""
    recent: dict[tuple[UUID, str], list[str]] = defaultdict(list)
    counts: dict[UUID, int] = defaultdict(int)
    sessions = sorted({d.session_id for d in drafts})
    if not sessions:
        return recent, counts
    cur.execute(
        """SELECT s.id, r.subject_key, r.value, r.id FROM unnest(%s::uuid[]) AS s (id)
           CROSS JOIN LATERAL (
               SELECT m.id, m.subject_key, m.value FROM claim c JOIN memory_record m ON m.id = c.record_id
               WHERE c.session_id = s.id AND c.last_at > %s AND m.status <> 'erased'
               ORDER BY c.record_id DESC LIMIT 64) r
           ORDER BY s.id, r.id""",
        [sessions, now - RECENT_WINDOW],
    )
    for session_id, subject_key, value, _ in cur.fetchall():
        recent[session_id, subject_key].append(value)
        counts[session_id] += 1
    return recent, counts


def _corroboration(
    cur: psycopg.Cursor[Row], drafts: Sequence[Draft]
) -> dict[tuple[UUID, str], int]:
    """Return how many independent origins claim each sensitive fact already."""
    if not drafts:
        return {}
    cur.execute(
        """SELECT r.partition_id, r.fingerprint, r.corroboration
           FROM unnest(%b::uuid[], %b::text[]) AS w (p, f)
           JOIN memory_record r ON r.partition_id = w.p AND r.fingerprint = w.f
            AND r.status IN ('active', 'quarantined')""",
        [[d.partition_id for d in drafts], [d.identity.fingerprint for d in drafts]],
    )
    return {(row[0], row[1]): row[2] for row in cur}


def _embed(cur: psycopg.Cursor[Row], drafts: Sequence[Draft], access: Access) -> None:
    """Give every draft that may become a record its vector, before any lock is taken.

    A provider that fails costs the vector, never the fact: the row shows that
    it has none, text finds it, and a background job fills it in.
    """
    kept = [d for d in drafts if d.verdict.outcome is not Outcome.REJECT]
    mine = [d for d in kept if d.shaped.embedding is None]
    for one in kept:
        if one.shaped.embedding is not None:
            given = embeddings.caller_vectors(
                [one.shaped.embedding], workspace_id=access.workspace_id
            )
            one.vector, one.model = HalfVector(given.vectors[0]), given.model.number
    known = _known_fingerprints(cur, mine)
    mine = [
        d
        for d in mine
        if d.shaped.is_derived or (d.partition_id, d.identity.fingerprint) not in known
    ]
    if not mine:
        return
    texts = [one.searched for one in mine]
    try:
        found = embeddings.embed(texts, workspace_id=access.workspace_id, kind="document")
    except embeddings.EmbeddingError as error:
        log.warning("facts are stored without embedding: %s", error)
        return
    halves = found.vectors.astype("float16")
    for place, one in enumerate(mine):
        one.vector = HalfVector(halves[place])
        one.model = found.model.number
        one.vector_partial = place in found.partial


def _known_fingerprints(cur: psycopg.Cursor[Row], drafts: Sequence[Draft]) -> set[tuple[UUID, str]]:
    if not drafts:
        return set()
    cur.execute(
        """SELECT r.partition_id, r.fingerprint FROM unnest(%b::uuid[], %b::text[]) AS w (p, f)
           JOIN memory_record r ON r.partition_id = w.p AND r.fingerprint = w.f
            AND r.status IN ('active', 'quarantined')""",
        [[d.partition_id for d in drafts], [d.identity.fingerprint for d in drafts]],
    )
    return {(row[0], row[1]) for row in cur}


def _restated(cur: psycopg.Cursor[Row], drafts: Sequence[Draft]) -> set[UUID]:
    """Return the drafts that say again what is stored and not expired: they make no record."""
    if not drafts:
        return set()
    cur.execute(
        """SELECT w.id FROM unnest(%b::uuid[], %b::uuid[], %b::text[], %b::timestamptz[])
               AS w (id, p, f, at)
           JOIN memory_record r ON r.partition_id = w.p AND r.fingerprint = w.f
            AND r.status IN ('active', 'quarantined')
            AND (r.valid_until IS NULL OR r.valid_until > w.at)""",
        [
            [d.id for d in drafts],
            [d.partition_id for d in drafts],
            [d.identity.fingerprint for d in drafts],
            [d.shaped.seen_at for d in drafts],
        ],
    )
    return {row[0] for row in cur}


def _moved_addresses(
    drafts: Sequence[Draft], held: dict[UUID, UUID], known: dict[UUID, Known]
) -> dict[UUID, Known]:
    """Return the live facts that an address held so far and a draft takes it from.

    Also those that an address may come to hold and leave again within one batch.
    """
    found: dict[UUID, Known] = {}
    named: dict[UUID, set[str]] = defaultdict(set)
    for one in drafts:
        address = one.identity.address_id
        if address is not None:
            named[address].add(one.identity.fingerprint)
        record = known.get(held[address]) if address is not None and address in held else None
        if record is not None and record.is_live and record.fingerprint != one.identity.fingerprint:
            found[record.id] = record
    passing = {one for several in named.values() if len(several) > 1 for one in several}
    if passing:
        found |= {k.id: k for k in known.values() if k.is_live and k.fingerprint in passing}
    return found


def _with_merged(
    fingerprints: Sequence[tuple[UUID, str]], known: dict[UUID, Known], drafts: Sequence[Draft]
) -> list[tuple[UUID, str]]:
    """Return the fingerprints, and those of the records that merged wordings mean."""
    partition_of = {(d.identity.slot_id, d.identity.fingerprint): d.partition_id for d in drafts}
    found = dict.fromkeys(fingerprints)
    for alias in [k for k in known.values() if (k.slot_id, k.fingerprint) in partition_of]:
        partition_id = partition_of[alias.slot_id, alias.fingerprint]
        at: Known | None = alias
        while at is not None and at.is_alias and at.merged_into is not None:
            at = known.get(at.merged_into)
            if at is None or (partition_id, at.fingerprint) in found:
                break
            found[partition_id, at.fingerprint] = None
    return list(found)


def _load(
    cur: psycopg.Cursor[Row],
    drafts: Sequence[Draft],
    access: Access,
    now: datetime,
    approved: frozenset[str],
) -> Ledger:
    """Lock what the drafts touch and load what they can meet."""
    slots = {d.identity.slot_id: d.partition_id for d in drafts}
    with store.locking_slots(cur, access.workspace_id, slots) as fresh:
        for one in drafts:  # what needs no look at the store, while the server locks
            one.arriving = incoming(one, is_approved=one.identity.fingerprint in approved)
            one.words = terms.terms(one.searched)
    addresses = {
        d.identity.address_id: (d.partition_id, d.source_view.id, d.shaped.source_key)
        for d in drafts
        if d.identity.address_id is not None and d.shaped.source_key is not None
    }
    held = store.lock_addresses(cur, access.workspace_id, addresses, now) if addresses else {}
    opened = set(fresh)
    for one in drafts:
        if one.identity.slot_id in opened:
            opened.discard(one.identity.slot_id)
            one.opens = True
    # A slot that did not exist holds nothing: most new facts need no look-up at all.
    old = [d for d in drafts if d.identity.slot_id not in fresh]
    fingerprints = list(dict.fromkeys((d.partition_id, d.identity.fingerprint) for d in old))
    since: dict[UUID, datetime] = {}
    for one in old:
        if one.cardinality is Cardinality.ONE:
            slot = one.identity.slot_id
            since[slot] = min(since.get(slot, one.shaped.order_at), one.shaped.order_at)
    # Only a write that names its own time can say again what was superseded at that time.
    past = sorted(
        {
            (d.partition_id, d.identity.fingerprint, d.shaped.order_at)
            for d in old
            if d.identity.address_id is not None and d.shaped.order_at < now
        }
    )
    dependents = sorted({slot for d in drafts for slot in d.dependent_slots})
    sessions = sorted({d.session_id for d in drafts})
    told = store.load_sentences(cur, sessions, now)
    known = store.load_known(
        cur,
        fingerprints=fingerprints,
        slots=since,
        dependents=dependents,
        record_ids={*held.values(), *(record for _, record, _ in told)},
        past=past,
    )
    merged = [k for k in known.values() if k.is_alias]
    if merged:
        store.follow_merges(cur, access.workspace_id, known, set(slots))
        merged = [k for k in known.values() if k.is_alias]
    moved = _moved_addresses(drafts, held, known)
    if moved:
        store.load_voices(cur, moved)
    same = {k.id: k for k in known.values() if k.status in (Status.ACTIVE, Status.QUARANTINED)}
    served: list[tuple[UUID, UUID]] = []
    if same or merged:
        store.load_claimants(cur, same | {k.id: k for k in merged}, sessions)
        served = store.load_serves(cur, list(same), sessions, now)
    fences = []
    if fingerprints:
        key = fence_key(access.workspace_id)
        # A fence around what a wording was merged into holds for the wording, too.
        asked = _with_merged(fingerprints, known, drafts) if merged else fingerprints
        digests = [(p, f, keyed_fingerprint(key, f)) for p, f in asked]
        fences = store.load_fences(cur, digests, now)
    return Ledger(
        known=known.values(),
        fences=fences,
        served=served,
        sentences={(s, canonical.identifier(text)): record for s, record, text in told},
        addresses=held,
        now=now,
    )
