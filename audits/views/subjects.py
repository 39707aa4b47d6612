"""Requests of data subjects: found, previewed, answered with a bundle or by erasing.

Owns the way from the forms to ``audits.subjects``. Whoever is asked about is
named in the form and, until an erasure is done, in the request; the trail
names nobody.
"""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.http import (
    Http404,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audits import operations, subjects
from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.forms.privacy import EraseForm, FindForm
from audits.models import Operation, SubjectRequest
from audits.queries import subjects as queries
from audits.subjects import Wanted, certificate
from audits.subjects.bundle import Bundle
from audits.views.holds import unknown_filters
from audits.views.pages import done, is_partial, reading, show, url
from records.items import BadRequest, Conflict

STATES = ("open", "waiting", "running", "done", "refused", "expired", "failed")


@require_safe
@require(Permission.HANDLE_SUBJECTS)
def list_requests(request: ConsoleRequest) -> HttpResponse:
    """Show the requests, with when each is due."""
    warnings = unknown_filters(request, "state", "after")
    state = request.GET.get("state", "").strip()
    if state and state not in STATES:
        warnings.append(
            f"The filter \u201cstate\u201d knows {', '.join(STATES)}, but not"
            f" \u201c{state[:60]}\u201d; it was ignored."
        )
        state = ""
    after = request.GET.get("after") or None
    with reading(request):
        try:
            page = queries.list_requests(state=state, cursor=after, workspace_id=request.here.id)
        except BadRequest:
            warnings.append("The place in the list could not be read; this is its beginning.")
            after = None
            page = queries.list_requests(state=state, cursor=None, workspace_id=request.here.id)
    context = {
        "page": page,
        "state": state,
        "states": STATES,
        "after": after,
        "warnings": warnings,
        "now": timezone.now(),
        "form": FindForm(),
    }
    template = "subjects/_requests_table.html" if is_partial(request) else "subjects/list.html"
    return show(request, template, context)


@require_safe
@require(Permission.HANDLE_SUBJECTS)
def find(request: ConsoleRequest) -> HttpResponse:
    """Show what there is by a name: the partition itself, or a subject's records to choose from."""
    form = FindForm(request.GET)
    context: dict[str, Any] = {
        "form": form,
        "warnings": unknown_filters(request, "name", "by", "partition"),
    }
    with reading(request):
        if form.is_valid():
            context |= _found(request, form.cleaned_data)
    status = 200 if form.is_valid() else 422
    return show(request, "subjects/find.html", context, status=status)


def _found(request: ConsoleRequest, given: dict[str, Any]) -> dict[str, Any]:
    workspace_id = request.here.id
    if given["by"] == "partition":
        return {"partitions": queries.find_partitions(given["name"], workspace_id=workspace_id)}
    partition_id = request.access.partition_id(given["partition"]) if given["partition"] else None
    found = queries.find_subject(given["name"], partition_id, workspace_id=workspace_id)
    return {
        "found": found,
        "cap": queries.FOUND_CAP,
        "mentions_shown": queries.MENTIONS_SHOWN,
    }


@require_POST
@require(Permission.HANDLE_SUBJECTS)
def make_request(request: ConsoleRequest) -> HttpResponse:
    """Make a request about what was chosen; nothing is changed yet."""
    wanted = _wanted(request)
    if wanted is None:
        return done(request, "Nothing was chosen.", url(request, "subjects"))
    try:
        made = subjects.make_request(wanted, access=request.access, user_id=request.user.id)
    except BadRequest as error:
        return _sorry(request, error.errors[0].message)
    return HttpResponseRedirect(url(request, "subject", made.id))


def _wanted(request: ConsoleRequest) -> Wanted | None:
    """Read what was ticked; ids that are none, or that are not here, are left out."""
    kind = request.POST.get("kind", "")
    partition_id = _uuid(request.POST.get("partition_id", ""))
    subject = request.POST.get("subject", "").strip()[:200].replace("\x00", "")
    with reading(request):
        if partition_id is not None and not subject:
            row = queries.load_partition(partition_id, workspace_id=request.here.id)
            if row is None:
                return None
            return Wanted(kind, partition_id=row["id"], partition=row["name"])
        if not subject:
            return None
        within = request.POST.get("partition", "").strip()[:200].replace("\x00", "")
        found_here = queries.find_subject(
            subject,
            request.access.partition_id(within) if within else None,
            workspace_id=request.here.id,
        )
    known = {row["id"]: row for row in (*found_here.own, *found_here.mentions)}
    chosen = [row["id"] for row in found_here.own if request.POST.get("own")]
    ticked = {_uuid(text) for text in request.POST.getlist("record")}
    chosen += [one for one in known if one in ticked and one not in set(chosen)]
    spellings = set(request.POST.getlist("spelling"))
    for one in found_here.spellings:
        if f"{one['partition_id']}:{one['subject_key']}" in spellings:
            chosen += one["record_ids"]
    return Wanted(kind, subject=subject, record_ids=tuple(dict.fromkeys(chosen)))


@require_http_methods(["GET", "POST"])
@require(Permission.HANDLE_SUBJECTS)
def show_request(request: ConsoleRequest, request_id: UUID) -> HttpResponse:
    """Show one request: its preview, where it stands, its certificate; let its erasure run."""
    form = EraseForm(request.POST or None)
    conflict = ""
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                subjects.erase(
                    _load(request, request_id).id,
                    reason=form.cleaned_data["reason"],
                    typed_count=form.cleaned_data["count"],
                    access=request.access,
                    user_id=request.user.id,
                )
            except Conflict as error:
                status, conflict = 409, str(error)
            except BadRequest as error:
                for fault in error.errors:
                    field = "count" if "count" in fault.field else "reason"
                    form.add_error(field, fault.message)
            else:
                return done(
                    request,
                    "Asked for. Nothing is destroyed until a second person agrees.",
                    url(request, "subject", request_id),
                )
    with reading(request):
        found = queries.load_request(request_id, workspace_id=request.here.id)
        if found is None:
            raise Http404("request")
        context = {"request_row": found, "form": form, "conflict": conflict, **_preview(found)}
        if found["state"] == "preview":
            context["holds"] = queries.list_holds_over(
                workspace_id=request.here.id,
                partition_id=found["partition_id"],
                record_ids=[UUID(one) for one in found["counts"].get("chosen", ())],
            )
    return show(request, "subjects/request.html", context, status=status)


def _preview(found: dict[str, Any]) -> dict[str, Any]:
    """Return what the page draws of a request's counts."""
    context: dict[str, Any] = {
        "beside": subjects.words_of_request(found["counts"]),
        "is_late": found["finished_at"] is None and found["due_at"] < timezone.now(),
    }
    if found["kind"] == "erasure" and found["operation_id"] is not None:
        operation = Operation.objects.filter(
            id=found["operation_id"], workspace_id=found["workspace_id"]
        ).first()
        if operation is not None:
            context |= {
                "operation": operation,
                "groups": operations.group_words(operation),
                "total": operations.asked(operation),
            }
    if found["certificate"]:
        context["said"] = found["certificate"]
        context["is_genuine"] = certificate.is_genuine(found["certificate"])
    return context


@require_POST
@require(Permission.HANDLE_SUBJECTS)
def preview_again(request: ConsoleRequest, request_id: UUID) -> HttpResponse:
    """Preview an erasure anew."""
    _load(request, request_id)
    try:
        subjects.preview_again(request_id, access=request.access, user_id=request.user.id)
    except Conflict as error:
        return done(request, f"Nothing changed: {error}.", url(request, "subject", request_id))
    return HttpResponseRedirect(url(request, "subject", request_id))


@require_POST
@require(Permission.HANDLE_SUBJECTS)
def send_bundle(request: ConsoleRequest, request_id: UUID) -> HttpResponseBase:
    """Send everything that is kept, as it is read."""
    found = _load(request, request_id)
    if found.kind != "access":
        raise Http404("bundle")
    bundle = Bundle(found, access=request.access, user_id=request.user.id)
    response = StreamingHttpResponse(bundle.chunks(), content_type="application/zip")
    response.headers["Content-Disposition"] = f'attachment; filename="{bundle.file_name}"'
    response.headers["Cache-Control"] = "no-store"
    return response


@require_safe
@require(Permission.HANDLE_SUBJECTS)
def send_certificate(request: ConsoleRequest, request_id: UUID, form: str) -> HttpResponse:
    """Send the certificate of an erasure, to be read (html) or checked (json)."""
    found = _load(request, request_id)
    if not found.certificate or form not in ("html", "json"):
        raise Http404("certificate")
    if form == "json":
        body = json.dumps(found.certificate, indent=2, ensure_ascii=False) + "\n"
        response = HttpResponse(body, content_type="application/json")
    else:
        page = render_to_string(
            "subjects/certificate_file.html",
            {"said": found.certificate, "digest": certificate.digest(found.certificate)},
        )
        response = HttpResponse(page)
    name = f"memconsole-erasure-{request_id.hex[-12:]}.{form}"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Cache-Control"] = "no-store"
    return response


def _load(request: ConsoleRequest, request_id: UUID) -> SubjectRequest:
    with reading(request):
        found = SubjectRequest.objects.filter(id=request_id, workspace_id=request.here.id).first()
    if found is None:
        raise Http404("request")
    return found


def _sorry(request: ConsoleRequest, message: str) -> HttpResponse:
    with reading(request):
        pass
    context = {"form": FindForm(), "problem": message, "warnings": []}
    return show(request, "subjects/find.html", context, status=422)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
