"""Groups of facts that may say the same, as pages show them, and the duplicate ratio.

Inside a workspace scope. Every list is paged by keys along an index; a group reads
at most ``MEMBERS`` records. Which one to keep is ``domain.clusters``'.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from audits.domain.clusters import Standing, suggest_keep
from audits.domain.diff import Change, changes
from audits.queries.rows import fetch
from records.cursors import Page, list_key, make_page, open_cursor

PAGE = 25
MEMBERS = 20  # records of one group on its page; in a list the first few are enough
IN_LIST = 4
SERVES_CAP = 1_000
STATES = ("suggested", "apart", "merged")
KINDS = ("alike", "same")

# Two live records, or a suggestion is history: whoever lists knows before the job does.
ALIVE = """(p.state <> 'suggested' OR 2 = (SELECT count(*) FROM memory_record r
    WHERE r.id IN (p.one_id, p.other_id) AND r.status = 'active'))"""
CLUSTERS = """SELECT p.cluster_id, count(*) AS pairs, max(p.likeness) AS likeness,
    bool_or(p.kind = 'same') AS is_same, min(p.partition_id::text)::uuid AS partition_id,
    max(p.at) AS at, max(p.by) AS by
FROM duplicate_pair p WHERE {where} GROUP BY p.cluster_id ORDER BY p.cluster_id DESC LIMIT %(limit)s"""
PAIRS = f"""SELECT p.cluster_id, p.one_id, p.other_id, p.likeness, p.kind FROM duplicate_pair p
WHERE p.workspace_id = %(workspace)s AND p.state = %(state)s AND p.cluster_id = ANY(%(clusters)s)
  AND {ALIVE} ORDER BY p.cluster_id, p.one_id, p.other_id LIMIT %(most)s"""
FACTS = """SELECT r.id, r.partition_id, pa.name AS partition, r.subject, r.predicate, r.value, r.content,
    r.status, r.version, r.cardinality, r.corroboration, r.trust, r.confidence, r.valid_until,
    greatest(r.last_seen, t.last_seen) AS last_seen, r.recorded_at, coalesce(t.seen_count, 1) AS seen_count,
    coalesce(t.sessions, CASE WHEN r.derived THEN 0 ELSE 1 END) AS sessions,
    o.name AS source, o.tier,
    (SELECT count(*) FROM (SELECT 1 FROM serve v WHERE v.record_id = r.id
        AND v.workspace_id = %(workspace)s LIMIT %(serves)s) AS one) AS serves,
    (SELECT array_agg(DISTINCT s.name) FROM (SELECT DISTINCT source_id FROM claim c
        WHERE c.record_id = r.id AND c.state IN ('live', 'moved') LIMIT 5) AS mine
        JOIN source s ON s.id = mine.source_id) AS sources
FROM memory_record r JOIN partition pa ON pa.id = r.partition_id JOIN source o ON o.id = r.source_id
LEFT JOIN tally t ON t.record_id = r.id
WHERE r.workspace_id = %(workspace)s AND r.id = ANY(%(ids)s) AND r.status <> 'erased' ORDER BY r.id"""
RATIO = """SELECT m.at, m.numbers->'duplicates' AS duplicates, s.at AS looked_at, s.narrowed,
    s.last_checked, s.passed_at,
    (SELECT count(*) FROM (SELECT 1 FROM duplicate_pair WHERE workspace_id = %(workspace)s
        AND state = 'suggested' AND kind = 'same' LIMIT %(most)s) AS one) AS collisions
FROM (SELECT 1) AS one
LEFT JOIN measure m ON m.workspace_id = %(workspace)s
LEFT JOIN duplicate_search s ON s.workspace_id = %(workspace)s"""
MERGES = """SELECT m.id, m.gone_id, m.kept_id, m.at, m.by FROM record_merge m
WHERE m.workspace_id = %(workspace)s AND m.parted_at IS NULL AND m.gone_id = ANY(%(ids)s)
ORDER BY m.id DESC"""

MADE = """SELECT m.id, m.at, m.by, m.ended, m.parted_at, m.parted_by, m.gone_id, m.kept_id, pa.name AS partition,
    g.subject, g.predicate, g.value AS gone_value, k.value AS kept_value, g.status AS gone_status,
    k.status AS kept_status
FROM record_merge m JOIN memory_record g ON g.id = m.gone_id JOIN memory_record k ON k.id = m.kept_id
JOIN partition pa ON pa.id = m.partition_id
WHERE m.workspace_id = %(workspace)s AND m.id = ANY(%(ids)s) ORDER BY m.id"""


@dataclass(frozen=True, slots=True)
class ClusterFilter:
    """Which groups a list shows."""

    state: str = "suggested"
    kind: str | None = None
    partition: str | None = None
    predicate: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it shows all that is suggested."""
        return self == ClusterFilter()


@dataclass(slots=True)
class Cluster:
    """One group: its members with what speaks for each, and which to keep."""

    id: UUID
    pairs: int
    likeness: float
    is_same: bool
    members: list[dict[str, Any]]
    keep_id: UUID | None
    why: str
    merges: list[dict[str, Any]]
    at: datetime | None = None
    by: str = ""
    is_cut: bool = False
    suggested_id: UUID | None = None

    @property
    def keep(self) -> dict[str, Any] | None:
        """The member that is suggested to be kept."""
        return next((m for m in self.members if m["id"] == self.keep_id), None)

    @property
    def differences(self) -> list[tuple[dict[str, Any], list[Change]]]:
        """Each other member with the words that turn the kept one's value into its own."""
        keep = self.keep
        return [(m, list(changes(keep["value"], m["value"]))) for m in self.others] if keep else []

    @property
    def others(self) -> list[dict[str, Any]]:
        """The other members."""
        return [m for m in self.members if m["id"] != self.keep_id]

    @property
    def sources(self) -> list[str]:
        """Where the members come from, once each."""
        return sorted({name for m in self.members for name in m["sources"] or [m["source"]]})

    @property
    def seen_count(self) -> int:
        """How often all of them were said."""
        return sum(m["seen_count"] for m in self.members)

    @property
    def serves(self) -> int:
        """How often all of them were served, each counted up to a bound."""
        return sum(m["serves"] for m in self.members)


@dataclass(frozen=True, slots=True)
class Ratio:
    """Live rows beyond the first of one fact: 0 is what the unique index promises."""

    checked: int
    repeats: int
    at: datetime | None
    collisions: int
    looked_at: datetime | None
    narrowed: int
    passed_at: datetime | None
    compared: int

    @property
    def share(self) -> float:
        """The share of live rows that repeat another one."""
        return self.repeats / self.checked if self.checked else 0.0


def list_clusters(wanted: ClusterFilter, *, cursor: str | None, workspace_id: UUID) -> Page:
    """Return a page of groups, the newest fact's first. BadRequest: a cursor of another list."""
    key = list_key("console.duplicates", workspace_id, asdict(wanted))
    place = open_cursor(cursor, key=key)
    where = ["p.workspace_id = %(workspace)s", "p.state = %(state)s", ALIVE]
    values: dict[str, Any] = {"workspace": workspace_id, "state": wanted.state, "limit": PAGE + 1}
    if wanted.kind is not None:
        where.append("p.kind = %(kind)s")
        values["kind"] = wanted.kind
    if wanted.partition is not None:
        where.append("""p.partition_id = (SELECT id FROM partition
            WHERE workspace_id = %(workspace)s AND name = %(partition)s)""")
        values["partition"] = wanted.partition
    if wanted.predicate is not None:
        where.append("p.predicate = %(predicate)s")
        values["predicate"] = wanted.predicate
    if place is not None:
        where.append("p.cluster_id < %(after)s")
        values["after"] = UUID(place[0])
    rows = fetch(CLUSTERS.format(where=" AND ".join(where)), values)
    page = make_page(rows, limit=PAGE, key=key, place=lambda row: [row["cluster_id"]])
    return Page(_clusters(page.items, wanted.state, workspace_id, IN_LIST), page.next_cursor)


def load_cluster(cluster_id: UUID, *, state: str, workspace_id: UUID) -> Cluster | None:
    """Return one group as it is suggested, kept apart or merged; ``None`` when there is none."""
    where = f"p.workspace_id = %(workspace)s AND p.state = %(state)s AND p.cluster_id = %(id)s AND {ALIVE}"
    rows = fetch(
        CLUSTERS.format(where=where),
        {"workspace": workspace_id, "state": state, "id": cluster_id, "limit": 1},
    )
    found = _clusters(rows, state, workspace_id, MEMBERS)
    return found[0] if found else None


def load_merges(merge_ids: Collection[UUID], *, workspace_id: UUID) -> list[dict[str, Any]]:
    """Return merges that were made, with what both sides say."""
    return fetch(MADE, {"workspace": workspace_id, "ids": list(merge_ids)})


def load_ratio(workspace_id: UUID) -> Ratio:
    """Return the duplicate ratio as last measured, and how far the search has come."""
    (row,) = fetch(RATIO, {"workspace": workspace_id, "most": 10_000})
    numbers = row["duplicates"] or {}
    if isinstance(numbers, str):
        numbers = json.loads(numbers)
    return Ratio(
        checked=numbers.get("checked", 0),
        repeats=numbers.get("repeats", 0),
        at=row["at"],
        collisions=row["collisions"],
        looked_at=row["looked_at"],
        narrowed=row["narrowed"] or 0,
        passed_at=row["passed_at"],
        compared=row["last_checked"] or 0,
    )


def _clusters(
    rows: Iterable[dict[str, Any]], state: str, workspace_id: UUID, most: int
) -> list[Cluster]:
    """Return groups with their members: three statements, however many groups."""
    rows = list(rows)
    if not rows:
        return []
    values = {"workspace": workspace_id, "state": state, "most": 20 * MEMBERS * len(rows)}
    pairs = fetch(PAIRS, {**values, "clusters": [row["cluster_id"] for row in rows]})
    ids: dict[UUID, dict[UUID, None]] = defaultdict(dict)
    for pair in pairs:
        ids[pair["cluster_id"]] |= {pair["one_id"]: None, pair["other_id"]: None}
    shown = {cluster: list(members)[:most] for cluster, members in ids.items()}
    facts = _facts({one for several in shown.values() for one in several}, workspace_id)
    merges = _merges(facts, workspace_id) if state == "merged" else {}
    found = []
    for row in rows:
        members = [facts[one] for one in shown.get(row["cluster_id"], []) if one in facts]
        if len(members) < 2:
            continue  # one was erased since
        keep_id, why = suggest_keep(_standing(m) for m in members)
        found.append(
            Cluster(
                row["cluster_id"], row["pairs"], row["likeness"], row["is_same"], members, keep_id,
                why, [merges[m["id"]] for m in members if m["id"] in merges], row["at"], row["by"],
                len(ids[row["cluster_id"]]) > most, keep_id,
            )
        )  # fmt: skip
    return found


def _facts(record_ids: Collection[UUID], workspace_id: UUID) -> dict[UUID, dict[str, Any]]:
    rows = fetch(FACTS, {"workspace": workspace_id, "ids": list(record_ids), "serves": SERVES_CAP})
    return {row["id"]: row for row in rows}


def _merges(record_ids: Iterable[UUID], workspace_id: UUID) -> dict[UUID, dict[str, Any]]:
    rows = fetch(MERGES, {"workspace": workspace_id, "ids": list(record_ids)})
    return {row["gone_id"]: row for row in rows}


def _standing(fact: dict[str, Any]) -> Standing:
    return Standing(
        fact["id"],
        fact["corroboration"],
        fact["trust"],
        fact["last_seen"],
        fact["cardinality"] == "one",
    )
