"""The pages of coming in and going out: log-in, log-out, invitations, the start."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from audits import doors, people
from audits.access import safe_next, signed_in
from audits.domain.roles import MEANINGS, Role, permissions_of
from audits.forms.door import JoinForm, LogInForm
from audits.models import User
from audits.templatetags.console import age
from audits.views.pages import show
from records.items import BadRequest, Conflict


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def log_in(request: HttpRequest) -> HttpResponse:
    """Show the log-in, or log in and go where the visitor wanted to."""
    target = safe_next(request, request.POST.get("next") or request.GET.get("next") or "/")
    if request.user.is_authenticated and request.method == "GET":
        return redirect(target)
    form = LogInForm(request.POST or None)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                user = doors.log_in(
                    request, form.cleaned_data["username"], form.cleaned_data["password"]
                )
            except doors.TooManyAttemptsError as error:
                status = 429
                form.add_error(None, f"Too many failed attempts. Try again in {age(error.wait)}.")
            else:
                if user is not None:
                    return redirect(target)
                form.add_error(None, "User name and password do not fit.")
    return show(request, "door/log_in.html", {"form": form, "next": target}, status=status)


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    """End the session."""
    doors.log_out(request)
    messages.success(request, "You are logged out.")
    return redirect("log-in")


@signed_in
def start(request: HttpRequest) -> HttpResponse:
    """Go to a workspace of this person: the one they were in last, or the first."""
    here = getattr(request, "here", None)
    if here is None:
        return show(request, "door/nowhere.html")
    return redirect("console:overview", here.slug)


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Show an invitation and take it up: as the person logged in, or with a new account."""
    invited = people.find_invitation(token)
    if invited is None:
        raise Http404("invitation")
    fault = invited.fault(timezone.now())
    is_known = request.user.is_authenticated
    form = JoinForm(request.POST or None)
    status = 410 if fault else 200
    if request.method == "POST" and not fault:
        request_id = getattr(request, "request_id", "")
        status = 422
        try:
            if is_known:
                people.accept(invited, cast(User, request.user), request_id=request_id)
                return redirect("console:overview", invited.workspace)
            if form.is_valid():
                user = people.open_account(
                    invited,
                    form.cleaned_data["username"],
                    form.cleaned_data["password"],
                    request_id=request_id,
                )
                doors.welcome(request, user)
                return redirect(reverse("start"))
        except BadRequest as error:
            for one in error.errors:
                form.add_error(one.field, one.message)
        except Conflict:
            fault, status = "has been used", 410
    role = Role(invited.role)
    context = {
        "invited": invited,
        "fault": fault,
        "form": form,
        "is_known": is_known,
        "may": [MEANINGS[one] for one in MEANINGS if one in permissions_of(role)],
    }
    return show(request, "door/join.html", context, status=status)
