"""The freshness page: what should be refreshed, and acts on several facts with a preview."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from audits import freshness
from audits.access import ConsoleRequest, require
from audits.domain.freshness import AHEAD, MEANINGS, SINCE, TITLES, VERBS, Tab, Verb
from audits.domain.roles import Permission
from audits.forms.freshness import (
    BY_DATE,
    BY_POLICY,
    CHOICES,
    AskedFreshness,
    FreshnessForm,
    open_seal,
    read_filters,
    read_ids,
    seal,
)
from audits.freshness.acting import ends_by_policy
from audits.queries import freshness as queries
from audits.views.pages import done, is_partial, reading, show, url
from audits.views.records import BAD_CURSOR
from records.items import BadRequest

SAMPLE = 10


@require_safe
@require(Permission.VIEW)
def list_facts(request: ConsoleRequest) -> HttpResponse:
    """Show one list of what goes stale; all of its state is in the URL."""
    now = timezone.now()
    with reading(request):
        asked = read_filters(request.GET, access=request.access)
        where: dict[str, Any] = {"workspace_id": request.here.id, "now": now}
        counts = queries.count_lists(asked.wanted, **where)
        try:
            page = queries.list_facts(asked.wanted, cursor=asked.after, **where)
        except BadRequest:
            asked.warnings.append(BAD_CURSOR)
            asked.after = None
            page = queries.list_facts(asked.wanted, cursor=None, **where)
    tab = asked.wanted.tab
    context = {
        "asked": asked,
        "page": page,
        "tab": tab,
        "tabs": [(one, TITLES[one], counts[one]) for one in Tab],
        "count": counts[tab],
        "cap": queries.COUNT_CAP,
        "most": queries.MOST,
        "serves_cap": queries.SERVES_CAP,
        "meaning": MEANINGS[tab],
        "since": SINCE[tab],
        "ahead": AHEAD,
        "verbs": _verbs(tab),
        "query": urlencode(asked.values),
        "may_review": request.here.may(Permission.REVIEW),
        "may_manage": request.here.may(Permission.MANAGE_POLICIES),
    }
    template = "freshness/_freshness_table.html" if is_partial(request) else "freshness/list.html"
    return show(request, template, context)


@require_http_methods(["GET", "POST"])
@require(Permission.REVIEW)
def act_on_facts(request: ConsoleRequest) -> HttpResponse:
    """Show what an act on the chosen facts would do; run exactly what was shown."""
    now = timezone.now()
    if request.method == "POST":
        opened = open_seal(request.POST.get("frozen", ""), request.here.id)
        if opened is None:
            messages.error(request, "The preview could not be read. Nothing was changed.")
            return HttpResponseRedirect(url(request, "freshness"))
        verb, versions = opened
        form = FreshnessForm(verb, request.POST)
        if form.is_valid():
            return _run(request, verb, versions, form.cleaned_data, now)
        with reading(request):
            context = _preview(request, verb, list(versions), now, form=form)
        return show(request, "freshness/act.html", context, status=422)
    if request.GET.get("verb", "") not in {str(one) for one in Verb}:
        messages.warning(request, "Choose what to do with the facts.")
        return HttpResponseRedirect(url(request, "freshness"))
    verb = Verb(request.GET["verb"])
    with reading(request):
        asked = read_filters(request.GET, access=request.access)
        # A filter that was left out would make the set larger than was meant.
        is_wider = request.GET.get("all") == "1" and bool(asked.warnings)
        ids, warnings = ([], []) if is_wider else _chosen(request, asked, now)
        context = _preview(request, verb, ids, now, form=FreshnessForm(verb))
    if not ids:
        told = " ".join(asked.warnings) if is_wider else "nothing was selected."
        messages.warning(request, f"Select facts first: {told}")
        return HttpResponseRedirect(url(request, "freshness", query=urlencode(asked.values)))
    context["warnings"] = [*asked.warnings, *warnings]
    return show(request, "freshness/act.html", context)


def _chosen(
    request: ConsoleRequest, asked: AskedFreshness, now: datetime
) -> tuple[list[UUID], list[str]]:
    """Return the ticked facts, or all that the filters show, up to the bound."""
    if request.GET.get("all") != "1":
        return read_ids(request.GET, queries.MOST)
    ids = queries.list_ids(asked.wanted, workspace_id=request.here.id, now=now)
    if len(ids) <= queries.MOST:
        return ids, []
    told = f"At most {queries.MOST:,} facts change at once; these are the first of the list."
    return ids[: queries.MOST], [told]


def _preview(
    request: ConsoleRequest, verb: Verb, ids: list[UUID], now: datetime, *, form: FreshnessForm
) -> dict[str, Any]:
    """Return what the act would do to the facts as they stand now."""
    rows = queries.load_chosen(ids, workspace_id=request.here.id)
    live = [row for row in rows if row["status"] == "active"]
    ends = ends_by_policy(
        {row["id"]: row["predicate"] for row in live}, workspace_id=request.here.id, now=now
    )
    for row in live:
        row["until"] = ends[row["id"]]
    tab = request.GET.get("tab", "")
    return {
        "verb": verb,
        "title": VERBS[verb][0],
        "meaning": VERBS[verb][1],
        "form": form,
        "live": len(live),
        "gone": len(rows) - len(live),
        "missing": len(ids) - len(rows),
        "predicates": Counter(row["predicate"] for row in live).most_common(10),
        "sample": live[:SAMPLE],
        "frozen": seal(verb, {row["id"]: row["version"] for row in live}, request.here.id),
        "back": url(
            request, "freshness", query=urlencode({"tab": tab}) if tab in CHOICES["tab"] else ""
        ),
    }


def _run(
    request: ConsoleRequest,
    verb: Verb,
    versions: dict[UUID, int],
    given: Mapping[str, Any],
    now: datetime,
) -> HttpResponse:
    """Do the act; say how many facts it changed and why the others stayed."""
    until: dict[UUID, datetime | None] = {}
    if verb is Verb.EXTEND:
        until = dict.fromkeys(versions, given["day"] if given["how"] == BY_DATE else None)
        if given["how"] == BY_POLICY:
            with reading(request):
                rows = queries.load_chosen(list(versions), workspace_id=request.here.id)
                until |= ends_by_policy(
                    {row["id"]: row["predicate"] for row in rows},
                    workspace_id=request.here.id,
                    now=now,
                )
    try:
        made = freshness.act(
            verb, versions, given["reason"], until=until, access=request.access, now=now
        )
    except BadRequest as error:
        messages.error(request, f"Nothing was changed: the choice {error.errors[0].message}.")
        return HttpResponseRedirect(url(request, "freshness"))
    text = f"{VERBS[verb][0]}: {made.changed:,} of {len(versions):,} facts."
    if made.skipped:
        left = ", ".join(f"{count:,} {why}" for why, count in made.skipped.items())
        text += f" Left as they were: {left}."
    if made.batch_id is not None:
        return done(request, text, url(request, "verification-batch", made.batch_id))
    return done(request, text, url(request, "freshness"))


def _verbs(tab: Tab) -> list[tuple[Verb, str]]:
    """Return the acts that make sense for a list."""
    left_out = {
        Tab.EXPIRED: {Verb.END},
        Tab.RECHECK: {Verb.RECHECK},
        Tab.RELISTED: {Verb.EXTEND, Verb.END},
    }.get(tab, set())
    return [(verb, VERBS[verb][0]) for verb in Verb if verb not in left_out]
