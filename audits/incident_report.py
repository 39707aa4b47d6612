"""The report of an incident, that people attach to a postmortem.

Owns what it says and in which order; ``domain/report.py`` owns how blocks look
as Markdown. Everything is read at one moment, in the caller's workspace scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from audits.domain import incidents as rules
from audits.domain.incident_words import words
from audits.domain.radius import Evidence, Radius, sentence, taint_sentence
from audits.domain.report import Block, Cell, Code, Quote, Quoted, Report, Section, Table, Words
from audits.queries import incident_report as queries
from audits.queries import radius
from audits.queries.incident_standing import Scope
from audits.queries.incident_timeline import Entry, list_timeline
from audits.queries.radius_taint import Weight, weigh

TIMELINE_MOST = 300
FACTS_MOST = 20
EXPOSED_MOST = 50
NOTES_MOST = 100
STATUS_WORDS = {"quarantined": "held"}


@dataclass(slots=True)
class Gathered:
    """All that a report is made of."""

    incident: dict[str, Any]
    scope: Scope
    operations: list[dict[str, Any]]
    radius: Radius
    weight: Weight
    partitions: Sequence[dict[str, Any]]
    has_more_partitions: bool
    worst: list[dict[str, Any]]
    entries: list[Entry]
    has_earlier: bool
    evidence: dict[str, Any]
    taken: list[dict[str, Any]]
    missing: Sequence[rules.Missing] = field(default_factory=tuple)


def gather(
    incident: dict[str, Any],
    scope: Scope,
    operations: list[dict[str, Any]],
    missing: Sequence[rules.Missing],
    *,
    workspace_id: UUID,
) -> Gathered:
    """Read what a report says beside what its caller has read already."""
    incident_id = incident["id"]
    facts = radius.of_incident(incident_id, workspace_id=workspace_id)
    found = radius.measure(facts, workspace_id=workspace_id)
    timeline = list_timeline(
        incident_id,
        cursor=None,
        workspace_id=workspace_id,
        serves=(found.first_at, found.last_at),
        limit=TIMELINE_MOST,
    )
    exposed = radius.list_exposed_partitions(
        facts, cursor=None, workspace_id=workspace_id, limit=EXPOSED_MOST
    )
    return Gathered(
        incident=incident,
        scope=scope,
        operations=operations,
        radius=found,
        weight=weigh(facts, workspace_id=workspace_id),
        partitions=exposed.items,
        has_more_partitions=exposed.next_cursor is not None,
        worst=queries.list_worst(facts, workspace_id=workspace_id, most=FACTS_MOST),
        entries=list(reversed(timeline.items)),
        has_earlier=timeline.next_cursor is not None,
        evidence=queries.load_evidence(incident_id, workspace_id=workspace_id),
        taken=queries.list_taken(incident_id, workspace_id=workspace_id),
        missing=missing,
    )


def write_report(
    found: Gathered, *, workspace: str, by: str, now: datetime, trail_url: str
) -> Report:
    """Put a report together."""
    sections = [
        Section("Summary", _summary(found, now)),
        Section("How far it went", _exposure(found, now)),
        Section("Scope", _scope(found)),
        Section("What was done", _done(found)),
        Section("Who was told", _told(found)),
        Section("Cause", [_text(found.incident["cause"])]),
        Section("Lessons", [_text(found.incident["lessons"])]),
        Section("Open points", _open(found)),
        Section("Timeline", _timeline(found)),
        Section("Notes", _notes(found)),
        Section("Evidence", _evidence(found, trail_url)),
    ]
    incident = found.incident
    return Report(incident["number"], incident["title"], workspace, now, by, sections)


def _summary(found: Gathered, now: datetime) -> list[Block]:
    incident = found.incident
    rows: list[tuple[str, Cell]] = [
        ("Severity", f"{incident['severity']}: {incident['meaning']}"),
        ("Status", incident["state"]),
        ("Owner", Quoted(incident["owner"]) if incident["owner"] else "nobody"),
        ("Opened", incident["opened_at"]),
        ("Acknowledged", incident["acknowledged_at"] or "not"),
        ("Contained", incident["contained_at"] or "not"),
        ("Evicted", incident["evicted_at"] or "not"),
        ("Closed", incident["closed_at"] or "not"),
    ]
    if incident["waived_reason"]:
        rows.append(("Waived, what is still in memory", Quoted(incident["waived_reason"])))
    verdict = rules.verdict(found.scope.total, parts=len(found.scope.parts))
    return [
        _text(incident["summary"]),
        Table(["", ""], rows),
        Words([f"At the time of this report: {verdict}"]),
    ]


def _exposure(found: Gathered, now: datetime) -> list[Block]:
    blocks: list[Block] = [Words([sentence(found.radius, now=now)])]
    if found.radius.first_at and found.radius.last_at:
        blocks.append(
            Words(["First served ", found.radius.first_at, ", last ", found.radius.last_at, "."])
        )
    if found.partitions:
        more = f"Only the first {EXPOSED_MOST} are listed." if found.has_more_partitions else ""
        blocks.append(
            Table(
                ["Partition", "Serves", "Facts", "Sessions", "First served", "Last served"],
                [
                    [
                        Quoted(row["partition"]),
                        f"{row['serves']:,}",
                        f"{row['facts']:,}",
                        f"{row['sessions']:,}",
                        row["first_at"],
                        row["last_at"],
                    ]
                    for row in found.partitions
                ],
                more,
            )
        )
    blocks.append(Words([taint_sentence(found.weight.by_depth(), found.weight.sessions)]))
    strengths = [
        [one.word, f"{found.weight.by_evidence(one):,}", one.meaning]
        for one in Evidence
        if found.weight.by_evidence(one)
    ]
    if strengths:
        blocks.append(Table(["Written afterwards", "Records", "What that says"], strengths))
    if found.worst:
        blocks.append(
            Table(
                ["Fact in scope", "Value", "Status", "Written by", "Serves"],
                [
                    [
                        Quoted(f"{row['subject']} · {row['predicate']}"),
                        Quoted(row["value"] or ""),
                        STATUS_WORDS.get(row["status"], row["status"]),
                        Quoted(row["session"]),
                        f"{row['serves']:,}",
                    ]
                    for row in found.worst
                ],
                f"The {len(found.worst)} that were served most."
                if found.radius.facts > len(found.worst)
                else "",
            )
        )
    return blocks


def _scope(found: Gathered) -> list[Block]:
    if not found.scope.parts:
        return [Words(["The scope is empty."])]
    rows: list[list[Cell]] = []
    for part in found.scope.parts:
        name = part.name if not part.partition else f"{part.name} (in {part.partition})"
        standing = part.standing
        rows.append(
            [
                "words" if part.kind == "text" else part.kind,
                Quoted(name),
                f"{standing.facts:,}",
                f"{standing.served:,}",
                f"{standing.withheld:,}",
                f"{standing.held:,}",
                f"{standing.out:,}",
            ]
        )
    return [Table(["What", "Name", "Facts", "Served", "Suspended", "Held", "Out"], rows)]


def _done(found: Gathered) -> list[Block]:
    blocks: list[Block] = []
    acts = [
        one
        for one in found.entries
        if one.kind == "event"
        and one.row["action"].split(".")[-1] in ("suspended", "released")
        and one.row["target_kind"] in ("session", "source")
    ]
    if acts:
        blocks.append(
            Table(
                ["When", "What", "Name", "By"],
                [
                    [
                        one.at,
                        one.words,
                        Quoted(one.row["session"] or one.row["source"] or ""),
                        Quoted(one.row["actor"]),
                    ]
                    for one in acts[:EXPOSED_MOST]
                ],
            )
        )
    if found.operations:
        blocks.append(
            Table(
                [
                    "Operation",
                    "Status",
                    "By",
                    "Finished",
                    "Set",
                    "Changed",
                    "Skipped",
                    "Failed",
                    "Residue",
                    "Fences",
                    "Digest",
                ],
                [_operation(one) for one in reversed(found.operations)],
            )
        )
    return blocks or [Words(["Nothing was suspended or taken out from here."])]


def _operation(one: dict[str, Any]) -> list[Cell]:
    receipt = one["receipt"] or {}
    residue = receipt.get("residue_total")
    return [
        f"{one['kind']} {one['id']}",
        one["state"],
        Quoted(one["requested_by"]),
        one["finished_at"],
        f"{one['total']:,}",
        f"{one['changed']:,}",
        f"{one['skipped']:,}",
        f"{one['failed']:,}",
        None if residue is None else f"{residue:,}",
        f"{receipt.get('fences', 0):,}",
        receipt.get("digest", "")[:16],
    ]


def _told(found: Gathered) -> list[Block]:
    if not found.taken:
        return [Words(["Nobody has taken the list of people to notify."])]
    return [
        Words(["The list of who was served was taken as a file:"]),
        Table(
            ["When", "By", "Lines by", "Format"],
            [
                [
                    row["at"],
                    Quoted(row["actor"]),
                    str((row["details"] or {}).get("by", "")),
                    str((row["details"] or {}).get("format", "")),
                ]
                for row in found.taken
            ],
        ),
    ]


def _open(found: Gathered) -> list[Block]:
    # The tasks are named one by one below.
    rows: list[list[Cell]] = [[one.text] for one in found.missing if one.code != "tasks"]
    rows += [[Quoted(task["title"])] for task in found.incident["tasks"] if task["done_at"] is None]
    return [Table(["Still open"], rows)] if rows else [Words(["None."])]


def _timeline(found: Gathered) -> list[Block]:
    rows: list[list[Cell]] = []
    for one in found.entries:
        if one.kind == "note":
            rows.append([one.at, "Note", Quoted(one.row["actor"]), Quoted(one.text), None])
        elif one.kind == "event":
            name = one.row["session"] or one.row["source"] or one.row["reason"]
            position = one.row["position"]
            rows.append(
                [
                    one.at,
                    _own(one),
                    Quoted(one.row["actor"]),
                    Quoted(name) if name else None,
                    f"#{position}" if position else "not sealed",
                ]
            )
        else:
            rows.append([one.at, one.words, None, Quoted(one.text) if one.text else None, None])
    more = f"Only the last {TIMELINE_MOST} lines are listed." if found.has_earlier else ""
    return [Table(["When", "What", "By", "About", "In the trail"], rows, more)]


def _own(entry: Entry) -> str:
    """Return an event's words; a name of a person in them is not this program's own."""
    if entry.row["action"] == "incident.assigned":
        return words("incident.assigned")
    return entry.words


def _notes(found: Gathered) -> list[Block]:
    notes = found.incident["notes"]
    if not notes:
        return [Words(["None."])]
    return [
        Quote(note["text"], by=note["user"], at=note["written_at"]) for note in notes[:NOTES_MOST]
    ]


def _evidence(found: Gathered, trail_url: str) -> list[Block]:
    evidence = found.evidence
    blocks: list[Block] = []
    if evidence["first"]:
        unsealed = evidence["unsealed"]
        blocks.append(
            Words(
                [
                    f"{evidence['events']:,} events of the trail, from #{evidence['first']} to"
                    f" #{evidence['last']}"
                    + (
                        f"; {unsealed:,} {'is' if unsealed == 1 else 'are'} not sealed yet."
                        if unsealed
                        else "."
                    )
                ]
            )
        )
    else:
        blocks.append(
            Words([f"{evidence['events']:,} events of the trail, none of them sealed yet."])
        )
    if evidence["seal"]:
        blocks.append(
            Table(
                ["Seal", "Events", "Sealed", "Key", "Merkle root"],
                [
                    [
                        str(evidence["seal"]),
                        f"#{evidence['seal_first']} to #{evidence['seal_last']}",
                        evidence["sealed_at"],
                        evidence["key_id"],
                        evidence["root"],
                    ]
                ],
            )
        )
    blocks += [
        Words(
            [
                "To verify without MemConsole: export these events from the page below as JSON"
                " lines, get the public keys from somebody you trust, and run"
            ]
        ),
        Code("python verify_export.py export.jsonl --keys trail_keys"),
        Words(["The events are at:"]),
        Code(trail_url),
    ]
    return blocks


def _text(text: str) -> Block:
    return Quote(text) if text else Words(["Not written."])
