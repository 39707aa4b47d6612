"""Tools of auditors: a seeded sample, the review of who has access, and the map of controls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from django.http import HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.urls import NoReverseMatch
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from audits.access import ConsoleRequest, require
from audits.domain.controls import CONTROLS, Control
from audits.domain.csv_text import csv_line
from audits.domain.roles import Permission
from audits.export import Tally
from audits.exports import Sending, Wish
from audits.forms.trail import AskedTrail, read_filters
from audits.queries import auditing as queries
from audits.views.exports import stream
from audits.views.pages import reading, show, url

SEED_LIMIT = 100
DEFAULT_SIZE = 25
EVERYTHING = 1_000_000
SAMPLE_HEADINGS = (
    *("place", "number", "time_utc", "actor_kind", "actor", "role", "action", "outcome"),
    *("target_kind", "target_id", "session_id", "reason", "request_id", "leaf_sha256"),
)
ACCESS_HEADINGS = (
    *("what", "name", "role_or_scopes", "since_utc", "granted_by", "last_used_utc"),
    *("last_log_in_utc", "expires_utc", "ended_utc", "ended_by", "remarks"),
)


@dataclass(slots=True)
class AskedSample:
    """What a sample is to be drawn from, with which seed, and what could not be read."""

    asked: AskedTrail
    seed: str = ""
    size: int = DEFAULT_SIZE
    errors: list[str] = field(default_factory=list)

    @property
    def query(self) -> str:
        """The sample as a URL's query."""
        return "&".join(
            part
            for part in (urlencode({"seed": self.seed, "size": str(self.size)}), self.asked.query)
            if part
        )


@require_safe
@require(Permission.SEE_TRAIL)
def show_sample(request: ConsoleRequest) -> HttpResponse:
    """Draw a sample of events and show it; the URL draws the same one again."""
    sample = _read_sample(request.GET, request)
    drawn = None
    with reading(request):
        last = queries.last_position(request.here.id)
        if sample.seed and not sample.errors:
            drawn = _draw(sample, last, request)
    return _show_sample(request, sample, drawn, last, status=422 if sample.errors else 200)


@require_POST
@require(Permission.AUDIT)
def export_sample(request: ConsoleRequest) -> HttpResponseBase:
    """Send a sample as a file."""
    sample = _read_sample(QueryDict(request.POST.get("query", "")), request)
    with reading(request):
        last = queries.last_position(request.here.id)
        drawn = None if sample.errors or not sample.seed else _draw(sample, last, request)
    if drawn is None:
        return _show_sample(request, sample, None, last, status=422)
    rows = drawn.rows

    def lines(tally: Tally) -> Iterator[str]:
        yield csv_line(SAMPLE_HEADINGS)
        for row in rows:
            tally.rows += 1
            yield csv_line(
                [
                    *(row["place"], row["position"], row["at"], row["actor_kind"], row["actor"]),
                    *(row["role"], row["action"], row["outcome"], row["target_kind"]),
                    *(row["target_id"], row["session_id"], row["reason"], row["request_id"]),
                    row["leaf"],
                ]
            )
        positions = [row["position"] for row in rows]
        tally.first, tally.last = min(positions, default=None), max(positions, default=None)

    return _send(request, "sample", sample.query, lines)


@require_safe
@require(Permission.SEE_ACCESS)
def review_access(request: ConsoleRequest) -> HttpResponse:
    """Show who has access, since when, and when they last used it; and who left."""
    with reading(request):
        context = {
            "members": queries.list_members(request.here.id),
            "keys": queries.list_keys(request.here.id),
            "listed": queries.LISTED,
            "tab": "access",
            "may_audit": request.here.may(Permission.AUDIT),
        }
    return show(request, "trail/access.html", context)


@require_POST
@require(Permission.AUDIT)
def export_access(request: ConsoleRequest) -> HttpResponseBase:
    """Send the access review as a file, whole."""
    with reading(request):
        members = queries.list_members(request.here.id, most=EVERYTHING)
        keys = queries.list_keys(request.here.id, most=EVERYTHING)

    def lines(tally: Tally) -> Iterator[str]:
        yield csv_line(ACCESS_HEADINGS)
        for one in members:
            tally.rows += 1
            remarks = [
                text
                for text, holds in (
                    ("every workspace", one["is_everywhere"]),
                    ("account switched off", not one["is_active"]),
                    ("idle for 90 days", one["is_idle"]),
                )
                if holds
            ]
            yield csv_line(
                [
                    *("member", one["username"], one["role"], one["created_at"]),
                    *(one["created_by"], one["last_act"], one["last_login"], None),
                    *(one["removed_at"], None, "; ".join(remarks)),
                ]
            )
        for one in keys:
            tally.rows += 1
            remarks = ["idle for 90 days"] if one["is_idle"] else []
            remarks += ["has expired"] if one["is_expired"] else []
            yield csv_line(
                [
                    *("key", f"{one['name']} ({one['prefix']})", " ".join(one["scopes"])),
                    *(one["created_at"], one["created_by"], one["last_used_at"], None),
                    *(one["expires_at"], one["revoked_at"], one["revoked_by"]),
                    "; ".join(remarks),
                ]
            )

    return _send(request, "access", "", lines)


@require_safe
@require(Permission.SEE_TRAIL)
def show_controls(request: ConsoleRequest) -> HttpResponse:
    """Show which pages bear on which control, and what is not covered."""
    with reading(request):
        controls = [(one, _links(request, one)) for one in CONTROLS]
    return show(request, "trail/controls.html", {"controls": controls, "tab": "controls"})


def _show_sample(
    request: ConsoleRequest,
    sample: AskedSample,
    drawn: queries.Sample | None,
    last: int,
    *,
    status: int,
) -> HttpResponse:
    context = {
        "sample": sample,
        "asked": sample.asked,
        "drawn": drawn,
        "last": last,
        "size_limit": queries.SIZE_LIMIT,
        "range_limit": queries.RANGE_LIMIT,
        "tab": "sample",
        "may_audit": request.here.may(Permission.AUDIT),
    }
    return show(request, "trail/sample.html", context, status=status)


def _links(request: ConsoleRequest, control: Control) -> list[dict[str, str]]:
    found = []
    for one in control.evidence:
        try:
            found.append({"text": one.text, "url": url(request, one.route, query=one.query)})
        except NoReverseMatch:
            continue
    return found


def _send(
    request: ConsoleRequest, kind: str, query: str, lines: Callable[[Tally], Iterator[str]]
) -> HttpResponseBase:
    wish = Wish(kind, "csv", query, request.user.id)
    return stream(Sending(wish, lines, access=request.access))


def _draw(sample: AskedSample, last: int, request: ConsoleRequest) -> queries.Sample | None:
    """Draw, unless the range is too wide, which becomes an error."""
    wanted = sample.asked.wanted
    first, until = wanted.first or 1, min(wanted.last or last, last)
    if until - first + 1 > queries.RANGE_LIMIT:
        sample.errors.append(
            f"From # and to #: a sample is drawn from at most {queries.RANGE_LIMIT:,} numbers,"
            f" not {until - first + 1:,}."
        )
        return None
    return queries.draw_sample(
        wanted,
        seed=sample.seed,
        size=sample.size,
        first=first,
        last=until,
        workspace_id=request.here.id,
    )


def _read_sample(query: QueryDict, request: ConsoleRequest) -> AskedSample:
    rest = query.copy()
    seed = "".join(rest.pop("seed", [""])[-1:]).strip()
    size = "".join(rest.pop("size", [""])[-1:]).strip() or str(DEFAULT_SIZE)
    sample = AskedSample(read_filters(rest, access=request.access))
    if len(seed) > SEED_LIMIT or not seed.isprintable():
        sample.errors.append(f"Seed: at most {SEED_LIMIT} printable characters.")
    else:
        sample.seed = seed
    if size.isascii() and size.isdigit() and 1 <= int(size[:9]) <= queries.SIZE_LIMIT:
        sample.size = int(size[:9])
    else:
        sample.errors.append(f"Size: a whole number from 1 to {queries.SIZE_LIMIT}.")
    return sample
