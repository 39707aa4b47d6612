"""What people do to one record: one form and one answer for every act of ``domain/acts.py``.

Owns the way from a form to ``records.curate``. An act names the version that
the person saw; when the record has moved on, the answer is 409 with what is
there now, and what was typed stays.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from audits import review_second
from audits.access import ConsoleRequest, require
from audits.domain.acts import Act
from audits.forms.acts import ActForm
from audits.views.modal import finish, show_form
from audits.views.pages import reading, url
from audits.views.record import load
from records import curate
from records.correct import correct
from records.curate import Acted
from records.domain.facts import HoldReason, Status
from records.items import BadRequest, Conflict

ACTIVATION_DELAY = timedelta(seconds=10)  # an undo inside it guarantees that nobody was served


def view_of(act: Act) -> Callable[..., HttpResponse]:
    """Return the view of one act: its form by GET, the act itself by POST."""

    @require_http_methods(["GET", "POST"])
    @require(act.permission)
    def view(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
        with reading(request):
            context = load(request, record_id)
        record = context["record"]
        context |= {"act": act, "action": request.path}
        if request.method == "GET":
            form = ActForm(act, initial=_initial(act, record))
            if Status(record["status"]) not in act.on:
                return _conflict(request, context, form, f"The record is {record['status']} now.")
            return show_form(request, "record/act", {**context, "form": form})
        form = ActForm(act, request.POST)
        if not form.is_valid():
            return show_form(request, "record/act", {**context, "form": form}, status=422)
        try:
            acted = _do(act, record_id, form.cleaned_data, request)
        except Conflict as error:
            with reading(request):
                context |= load(request, record_id)
            return _conflict(request, context, form, f"{str(error)[:1].upper()}{str(error)[1:]}.")
        except BadRequest as error:
            for one in error.errors:
                form.add_error(one.field if one.field in form.fields else None, one.message)
            return show_form(request, "record/act", {**context, "form": form}, status=422)
        if not acted.changed:
            why = acted.skipped[0][1] if acted.skipped else "nothing changed"
            return _conflict(request, context, form, f"Nothing changed: the record {why}.")
        return finish(request, _told(act, acted), url(request, "record", acted.changed[-1]))

    view.__name__ = f"record_{act.verb}"
    return cast(Callable[..., HttpResponse], view)


def _do(act: Act, record_id: UUID, given: dict[str, Any], request: ConsoleRequest) -> Acted:
    access, version, reason = request.access, given["version"], given["reason"]
    if act.verb == "approve":
        review_second.forbid_alone(record_id, access=access)
        return curate.approve(
            record_id,
            access=access,
            version=version,
            reason=reason,
            valid_until=given["until"],
            activation_delay=ACTIVATION_DELAY,
        )
    if act.verb == "extend":
        return curate.extend(record_id, given["until"], reason, access=access, version=version)
    if act.verb == "hold":
        return curate.hold(
            [record_id],
            HoldReason(given["hold_reason"]),
            access=access,
            note=reason,
            version=version,
        )
    if act.verb == "reject":
        return curate.reject([record_id], reason, access=access, version=version)
    if act.verb == "retract":
        return curate.retract([record_id], reason, access=access, version=version)
    if act.verb == "edit":
        return _edit(record_id, given, request)
    if act.verb == "confirm":
        return curate.confirm(record_id, reason, access=access, version=version)
    if act.verb == "restore":
        return curate.restore([record_id], reason, access=access, version=version)
    return curate.evict([record_id], reason, access=access, version=version)


def _edit(record_id: UUID, given: dict[str, Any], request: ConsoleRequest) -> Acted:
    done = correct(
        record_id,
        value=given["value"],
        content=given["content"] or None,
        access=request.access,
        reason=given["reason"],
        confidence=1.0,
        version=given["version"],
    )
    if done.written.id is None:
        raise Conflict("this value is fenced: it was turned away before")
    acted = Acted(matched=1, changed=[done.written.id])
    if not done.retracted:
        acted.skipped.append((record_id, "stays until the new value is decided on"))
    return acted


def _initial(act: Act, record: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"version": record["version"]}
    if act.verb == "edit":
        found |= {"value": record["value"]}
    if act.verb == "extend" and record["valid_until"]:
        found |= {"until": record["valid_until"].date().isoformat()}
    return found


def _told(act: Act, acted: Acted) -> str:
    if act.verb == "edit" and acted.skipped:
        return "The new value waits for a decision; the record stays as it is until then."
    text = f"{act.done}."
    if acted.superseded:
        text += f" It replaced {len(acted.superseded)} record(s)."
    if acted.restored:
        text += f" {len(acted.restored)} record(s) that it had displaced are back."
    return text


def _conflict(
    request: ConsoleRequest, context: dict[str, Any], form: ActForm, text: str
) -> HttpResponse:
    """Show what is there now beside what was typed."""
    context = {**context, "form": form, "conflict": text}
    return show_form(request, "record/act", context, status=409)
