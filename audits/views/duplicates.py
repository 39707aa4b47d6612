"""Facts that may say the same: the list, one group with its preview, and what a person decides.

Merging takes a record out of service and changes what agents are told, so it needs
the permission of whoever may take facts out (``RESPOND``); keeping apart changes
nothing but the list, and is a reviewer's (``REVIEW``).
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST, require_safe

from audits import duplicates
from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.duplicates.previewing import preview
from audits.duplicates.reading import SERVES_CAP, STATES, Cluster
from audits.forms.acts import ReasonForm
from audits.forms.duplicates import CHOICES, read_filters, read_ids, read_versions
from audits.views.pages import done, is_partial, reading, show, url
from audits.views.records import BAD_CURSOR
from records.items import BadRequest, Conflict, NotFound


@require_safe
@require(Permission.VIEW)
def list_duplicates(request: ConsoleRequest) -> HttpResponse:
    """Show a page of groups; all of its state is in the URL."""
    asked = read_filters(request.GET)
    with reading(request):
        ratio = duplicates.load_ratio(request.here.id)
        try:
            page = duplicates.list_clusters(
                asked.wanted, cursor=asked.after, workspace_id=request.here.id
            )
        except BadRequest:
            asked.warnings.append(BAD_CURSOR)
            asked.after = None
            page = duplicates.list_clusters(asked.wanted, cursor=None, workspace_id=request.here.id)
    context = {
        "asked": asked,
        "page": page,
        "ratio": ratio,
        "choices": CHOICES,
        "state": asked.wanted.state,
        "serves_cap": SERVES_CAP,
    }
    partial = "duplicates/_duplicates_table.html"
    return show(request, partial if is_partial(request) else "duplicates/list.html", context)


@require_safe
@require(Permission.VIEW)
def show_cluster(request: ConsoleRequest, cluster_id: UUID) -> HttpResponse:
    """Show one group: its members side by side, and exactly what a merge would do."""
    with reading(request):
        context = _context(request, cluster_id)
    return show(request, "duplicates/cluster.html", context)


@require_POST
@require(Permission.RESPOND)
def merge(request: ConsoleRequest, cluster_id: UUID) -> HttpResponse:
    """Merge the ticked members into the kept one, as they were shown."""
    form = ReasonForm(request.POST)
    kept, gone = read_ids(request.POST, "keep"), read_ids(request.POST, "merge")
    gone = [one for one in gone if one not in kept]
    if len(kept) != 1 or not gone:
        form.add_error(None, "Choose one record to keep and at least one to merge into it.")
    if not form.is_valid():
        return _again(request, cluster_id, form, 422)
    try:
        merged = duplicates.merge(
            kept[0],
            gone,
            form.cleaned_data["reason"],
            versions=read_versions(request.POST),
            access=request.access,
        )
    except NotFound as missing:
        raise Http404("record") from missing
    except Conflict as conflict:
        return _again(request, cluster_id, form, 409, f"Nothing was changed: {conflict}.")
    if not merged.changed:
        why = "; ".join(dict.fromkeys(why for _, why in merged.skipped))
        return _again(request, cluster_id, form, 409, f"Nothing was changed: a record {why}.")
    told = f"Merged {_records(len(merged.changed))}. What they say reinforces the kept one now."
    for _, why in merged.skipped:
        messages.warning(request, f"One record was left: it {why}.")
    query = f"state=merged&merge={'&merge='.join(str(one) for one in merged.merges)}"
    return done(request, told, url(request, "duplicates", query="state=merged") if not merged.merges
                else url(request, "duplicate-merged", merged.merges[0], query=query))  # fmt: skip


@require_safe
@require(Permission.VIEW)
def show_merged(request: ConsoleRequest, merge_id: UUID) -> HttpResponse:
    """Show a merge that was made: what became of which record, and its undo."""
    wanted = list(dict.fromkeys([merge_id, *read_ids(request.GET, "merge")]))[:50]
    with reading(request):
        merges = duplicates.load_merges(wanted, workspace_id=request.here.id)
    if not merges:
        raise Http404("merge")
    context = {
        "merges": merges,
        "standing": [one for one in merges if not one["ended"]],
        "form": ReasonForm(),
    }
    return show(request, "duplicates/merged.html", context)


@require_POST
@require(Permission.RESPOND)
def undo(request: ConsoleRequest, merge_id: UUID) -> HttpResponse:
    """Undo merges; what changed since is left, and told."""
    form = ReasonForm(request.POST)
    wanted = read_ids(request.POST, "merge") or [merge_id]
    if not form.is_valid():
        with reading(request):
            merges = duplicates.load_merges(wanted, workspace_id=request.here.id)
        context = {"merges": merges, "standing": merges, "form": form}
        return show(request, "duplicates/merged.html", context, status=422)
    try:
        parted = duplicates.undo(wanted, form.cleaned_data["reason"], access=request.access)
    except NotFound as missing:
        raise Http404("merge") from missing
    for _, why in parted.skipped:
        messages.warning(request, f"Left as it is: {why}.")
    if not parted.changed:
        return HttpResponseRedirect(url(request, "duplicate-merged", wanted[0]))
    return done(
        request,
        f"Parted {_records(len(parted.changed))}: each is a fact of its own again.",
        url(request, "duplicates"),
    )


@require_POST
@require(Permission.REVIEW)
def keep_apart(request: ConsoleRequest, cluster_id: UUID) -> HttpResponse:
    """Remember that the members of a group are different facts."""
    return _settle(request, cluster_id, is_apart=True)


@require_POST
@require(Permission.REVIEW)
def suggest_again(request: ConsoleRequest, cluster_id: UUID) -> HttpResponse:
    """Take back that the members of a group were kept apart."""
    return _settle(request, cluster_id, is_apart=False)


def _settle(request: ConsoleRequest, cluster_id: UUID, *, is_apart: bool) -> HttpResponse:
    form = ReasonForm(request.POST, is_reason_needed=False)
    if not form.is_valid():
        return _again(request, cluster_id, form, 422)
    ids = read_ids(request.POST, "member")
    act = duplicates.keep_apart if is_apart else duplicates.again
    settled = act(ids, form.cleaned_data["reason"], access=request.access)
    if not settled:
        messages.warning(request, "Nothing was changed: this was decided before.")
    elif is_apart:
        messages.success(request, "Kept apart. They are not suggested again.")
    else:
        messages.success(request, "Suggested again.")
    return HttpResponseRedirect(url(request, "duplicates"))


def _again(
    request: ConsoleRequest, cluster_id: UUID, form: ReasonForm, status: int, conflict: str = ""
) -> HttpResponse:
    """Show the group as it stands now, with what was typed."""
    with reading(request):
        context = _context(request, cluster_id) | {"form": form, "conflict": conflict}
    return show(request, "duplicates/cluster.html", context, status=status)


def _context(request: ConsoleRequest, cluster_id: UUID) -> dict[str, Any]:
    state = request.GET.get("state", "suggested")
    warnings = []
    if state not in STATES:
        warnings.append(f"The filter \u201cstate\u201d knows {', '.join(STATES)}; it was ignored.")
        state = "suggested"
    cluster = duplicates.load_cluster(cluster_id, state=state, workspace_id=request.here.id)
    if cluster is None:
        raise Http404("group of duplicates")
    asked = request.POST if request.method == "POST" else request.GET
    keep = next(iter(read_ids(asked, "keep")), None)
    if keep is not None and keep in {m["id"] for m in cluster.members}:
        cluster.keep_id = keep
    ticked = set(read_ids(asked, "merge"))
    others = [m["id"] for m in cluster.others if not ticked or m["id"] in ticked]
    return {
        "cluster": cluster,
        "state": state,
        "warnings": warnings,
        "merging": set(others),
        "preview": _preview(request, cluster, others) if state == "suggested" else None,
        "form": ReasonForm(),
        "serves_cap": SERVES_CAP,
        "may_review": request.here.may(Permission.REVIEW),
    }


def _preview(request: ConsoleRequest, cluster: Cluster, gone: list[UUID]) -> Any:
    assert cluster.keep_id is not None
    return preview(cluster.keep_id, gone, access=request.access)


def _records(count: int) -> str:
    return f"{count} record{'s' if count != 1 else ''}"
