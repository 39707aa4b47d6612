"""The audit trail: the list of events, one event, and its proof checked while one looks.

Approvers, auditors and administrators see it; others see history on the
records they work on. What changes anything about it (checks, exports) is in
``integrity.py`` and ``exports.py``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.urls import NoReverseMatch
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from audits import proofs
from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.forms.trail import CHOICES, COLUMN_OF, FLOW_WORDS, ONLY, AskedTrail, read_filters
from audits.queries import trail as queries
from audits.seals import instant
from audits.views.pages import is_partial, reading, show, url
from audits.views.records import BAD_CURSOR
from records.items import BadRequest

NOBODY = UUID(int=0)  # stands in a link until the id is known
# What an event is about -> the page that shows one of them, and how it is named there.
PAGE_OF = {
    "record": "record",
    "session": "session",
    "source": "source",
    "operation": "operation",
    "incident": "incident",
    "approval": "approval",
    "recall": "recall",
    "subject_request": "subject",
}
LIST_OF = {
    "api_key": "keys",
    "job_run": "jobs",
    "membership": "people",
    "invitation": "people",
    "person": "people",
    "policy": "policies",
    "export": "trail-exports",
    "ruleset": "gate",
}
# A move of a record says where it came from; where it went is in its name.
AFTER = {
    "record.approved": "active",
    "record.held": "quarantined",
    **{f"record.{one}": one for one in ("evicted", "rejected", "retracted", "erased")},
    "record.superseded": "superseded",
}
FILTERED = (  # the cells that f and F filter by, with the filter's name in the URL
    *("actor", "role", "action", "outcome", "target_kind", "target", "session", "operation"),
    *("incident", "request_id"),
)


@require_safe
@require(Permission.SEE_TRAIL)
def list_events(request: ConsoleRequest) -> HttpResponse:
    """Show a page of events; all of its state is in the URL."""
    asked = read_filters(request.GET, access=request.access)
    with reading(request):
        found = _load(request, asked)
    drawing = Drawing(request, asked)
    rows = [drawing.of(row) for row in found.page.items]
    actions = {row["action"] for row in rows}
    families = {f"{one.split('.', 1)[0]}.*" for one in actions if "." in one}
    context = {
        "asked": asked,
        "found": found,
        "page": found.page,
        "rows": rows,
        "choices": CHOICES,
        "only": ONLY,
        "flows": FLOW_WORDS.items(),
        "actions": sorted(actions | families),
        "budget": queries.BUDGET,
        "tab": "events",
        "may_audit": request.here.may(Permission.AUDIT),
        "without": _without(asked),
    }
    template = "trail/_trail_table.html" if is_partial(request) else "trail/trail.html"
    return show(request, template, context)


@require_safe
@require(Permission.SEE_TRAIL)
def go_to_number(request: ConsoleRequest, position: int) -> HttpResponse:
    """Go to the event that has this number in the trail."""
    with reading(request):
        event_id = queries.find_position(min(position, 2**62), workspace_id=request.here.id)
    if event_id is None:
        raise Http404("event")
    return HttpResponseRedirect(url(request, "trail-event", event_id))


@require_safe
@require(Permission.SEE_TRAIL)
def show_event(request: ConsoleRequest, event_id: int) -> HttpResponse:
    """Show one event: every column, what it changed, its neighbours in the chain."""
    with reading(request):
        event = load(request, event_id)
        position = event["position"]
        near = queries.load_neighbours(position, workspace_id=request.here.id) if position else []
    asked = AskedTrail(queries.TrailFilter())
    context = {
        "event": Drawing(request, asked).of(event),
        "columns": [
            (name, str(event[COLUMN_OF.get(name, name)]))
            for name in (*FILTERED, "actor_kind", "partition")
            if event.get(COLUMN_OF.get(name, name))
        ],
        "parts": structure(event["details"], after=AFTER.get(event["action"])),
        "before": next((one for one in near if one["position"] < position), None),
        "after": next((one for one in near if one["position"] > (position or 0)), None),
        "raw": json.dumps(event["details"], indent=2, ensure_ascii=False, sort_keys=True),
    }
    return show(request, "trail/event.html", context)


@require_safe
@require(Permission.SEE_TRAIL)
def show_proof(request: ConsoleRequest, event_id: int) -> HttpResponse:
    """Check one event against its seal now and show each step: a piece, or a page."""
    with reading(request):
        event = load(request, event_id)
        proof = proofs.prove_event(event_id, workspace_id=request.here.id)
    context = {
        "event": event,
        "proof": proof,
        "path": [one.hex() for one in proof.path] if proof else [],
        "citation": cite(request, event, proof) if proof else "",
    }
    template = "trail/_trail_proof.html" if is_partial(request) else "trail/proof.html"
    said = "Not sealed yet." if proof is None else "Proven." if proof.holds else "Not proven."
    return show(request, template, context, announce=said)


def load(request: ConsoleRequest, event_id: int) -> dict[str, Any]:
    """Return one event; 404 for what is unknown or foreign."""
    event = queries.load_event(min(event_id, 2**62), workspace_id=request.here.id)
    if event is None:
        raise Http404("event")
    return event


def cite(request: ConsoleRequest, event: Mapping[str, Any], proof: proofs.Proof) -> str:
    """Return how to quote an event, so that others can find and check it."""
    who = f"{event['actor_kind']}:{event['actor']}"
    where = request.build_absolute_uri(url(request, "trail-event", event["id"]))
    text = (
        f"MemConsole, workspace {request.here.name}, event #{proof.position}: {event['action']}"
        f" ({event['outcome']}) by {who} at {instant(event['at'])}."
        f" Leaf SHA-256 {proof.leaf.hex()}"
    )
    if proof.seal is not None:
        body = proof.seal.body
        text += (
            f", in seal {body.number} (#{body.first}-#{body.last}), root {body.root.hex()},"
            f" signed by key {body.key_id}"
        )
    return f"{text}. {where}"


def structure(details: Mapping[str, Any], after: str | None = None) -> list[dict[str, Any]]:
    """Return an event's details as lines: what it says, or what was before and after.

    ``after`` is the state that the action itself tells. Events hold structure
    and keyed digests, never the text of a memory.
    """
    rest = dict(details)
    if after is not None and "from" in rest:
        rest.setdefault("to", after)
    lines: list[dict[str, Any]] = []
    for old, new in (("from", "to"), ("before", "after")):
        if old in rest and new in rest:
            was, now = rest.pop(old), rest.pop(new)
            if isinstance(was, dict) and isinstance(now, dict):
                lines += [
                    {"name": name, "before": _said(was.get(name)), "after": _said(now.get(name))}
                    for name in sorted({*was, *now})
                    if was.get(name) != now.get(name)
                ]
            else:
                lines.append({"name": "state", "before": _said(was), "after": _said(now)})
    for name, value in rest.items():
        if isinstance(value, dict) and {"from", "to"} <= set(value):
            lines.append(
                {"name": name, "before": _said(value["from"]), "after": _said(value["to"])}
            )
        else:
            lines.append({"name": name, "value": _said(value)})
    return lines


def _said(value: Any) -> str:
    if value is None:
        return "nothing"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _load(request: ConsoleRequest, asked: AskedTrail) -> queries.TrailPage:
    try:
        return queries.list_trail(asked.wanted, cursor=asked.after, workspace_id=request.here.id)
    except BadRequest:
        asked.warnings.append(BAD_CURSOR)
        asked.after = None
        return queries.list_trail(asked.wanted, cursor=None, workspace_id=request.here.id)


class Drawing:
    """Adds the links of rows: to what they are about, and to the lists their cells filter to.

    Each kind of link is made once and then only filled in: a page has hundreds.
    """

    def __init__(self, request: ConsoleRequest, asked: AskedTrail) -> None:
        self.request = request
        self.events = url(request, "trail-event", 0)[:-1]
        self.bases = {name: f"?{_base(asked, name)}{name}=" for name in FILTERED}
        self.targets: dict[str, str] = {}

    def of(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row with its links."""
        links = {}
        for name in FILTERED:
            value = row[COLUMN_OF.get(name, name)]
            if value:
                links[name] = self.bases[name] + quote(str(value), safe="")
        if "actor" in links:
            links["actor"] += f"&actor_kind={row['actor_kind']}"
        return {
            **row,
            "at_text": f"{row['at'].astimezone(UTC):%Y-%m-%d %H:%M:%S}",
            "only": links,
            "url": f"{self.events}{row['id']}",
            "target_url": self._target(row["target_kind"], row["target_id"]),
        }

    def _target(self, kind: str, target_id: UUID | None) -> str:
        if kind in PAGE_OF and target_id is None:
            return ""
        if kind not in self.targets:
            self.targets[kind] = target_url(self.request, kind, NOBODY)
        return self.targets[kind].replace(str(NOBODY), str(target_id))


def _base(asked: AskedTrail, name: str) -> str:
    """Return the query without one filter, ready to have it appended."""
    dropped = {name, "actor_kind"} if name == "actor" else {name}
    kept = [(key, value) for key, value in asked.values.items() if key not in dropped]
    kept += [(f"not_{key}", value) for key, several in asked.excluded.items() for value in several]
    kept += [("only", one) for one in asked.only]
    return f"{urlencode(kept)}&" if kept else ""


def _without(asked: AskedTrail) -> Sequence[dict[str, str]]:
    """Return the values left out, each with the list that takes it in again."""
    found = []
    for name, several in asked.excluded.items():
        for value in several:
            fewer = {
                key: [one for one in values if (key, one) != (name, value)]
                for key, values in asked.excluded.items()
            }
            query = AskedTrail(asked.wanted, asked.values, fewer, asked.only).query
            found.append({"name": name, "value": value, "query": query})
    return found


def target_url(request: ConsoleRequest, kind: str, target_id: UUID | None) -> str:
    """Return the page of what an event is about; empty where none shows it."""
    try:
        if kind in PAGE_OF and target_id is not None:
            return url(request, PAGE_OF[kind], target_id)
        if kind in LIST_OF:
            return url(request, LIST_OF[kind])
    except NoReverseMatch:
        pass
    return ""
