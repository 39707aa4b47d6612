"""The profile: how the console looks, which keys it listens to, the password."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from audits.access import actor_of, safe_next, signed_in
from audits.domain import shortcuts
from audits.forms.look import DENSITIES, THEMES, LookForm
from audits.models import User
from audits.views.pages import show
from records import events
from records.events import Happening


@require_safe
@signed_in
def show_profile(request: HttpRequest) -> HttpResponse:
    """Show the profile."""
    return _show(request)


@require_POST
@signed_in
def set_look(request: HttpRequest) -> HttpResponse:
    """Keep theme and density; the page has changed already where scripts run."""
    form = LookForm(request.POST)
    if not form.is_valid():
        return _show(request, status=422)
    user = cast(User, request.user)
    chosen = {name: value for name, value in form.cleaned_data.items() if value}
    for name, value in chosen.items():
        setattr(user, name, value)
    if chosen:
        user.save(update_fields=list(chosen))
    return redirect(safe_next(request, request.POST.get("next", "")))


@require_POST
@signed_in
def set_keys(request: HttpRequest) -> HttpResponse:
    """Keep the switch of single keys and the person's own keys."""
    user = cast(User, request.user)
    given = {
        name.removeprefix("key-"): str(value).strip()
        for name, value in request.POST.items()
        if name.startswith("key-") and str(value).strip()
    }
    chosen, errors = shortcuts.check_remap(given)
    if errors:
        return _show(request, status=422, errors=errors, given=given)
    user.shortcuts_on = request.POST.get("shortcuts_on") == "on"
    user.remap = {} if "reset" in request.POST else chosen
    user.save(update_fields=["shortcuts_on", "remap"])
    messages.success(request, "Your keys are kept.")
    return redirect("profile")


@sensitive_post_parameters()
@require_POST
@signed_in
def set_password(request: HttpRequest) -> HttpResponse:
    """Change the password; other sessions of this person end."""
    user = cast(User, request.user)
    form = PasswordChangeForm(user, request.POST)
    if not form.is_valid():
        return _show(request, status=422, password_form=form)
    form.save()
    update_session_auth_hash(request, user)
    events.append_outside(
        [Happening("person.password_changed", "person", user.id)],
        actor=actor_of(user),
        request_id=getattr(request, "request_id", ""),
    )
    messages.success(request, "Your password is changed; your other sessions have ended.")
    return redirect("profile")


def _show(
    request: HttpRequest,
    *,
    status: int = 200,
    errors: dict[str, str] | None = None,
    given: dict[str, str] | None = None,
    password_form: PasswordChangeForm | None = None,
) -> HttpResponse:
    user = cast(User, request.user)
    keys = shortcuts.keymap(user.remap) | (given or {})
    password_form = password_form or PasswordChangeForm(user)
    # Django's form takes the focus, which would scroll the page away from its head.
    password_form.fields["old_password"].widget.attrs.pop("autofocus", None)
    context = {
        "themes": THEMES,
        "densities": DENSITIES,
        "keys": [
            (one, keys[one.id], (errors or {}).get(one.id, "")) for one in shortcuts.SHORTCUTS
        ],
        "errors": errors,
        "password_form": password_form,
    }
    return show(request, "profile/profile.html", context, status=status)
