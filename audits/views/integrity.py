"""The integrity of the trail: its last check, its checkpoints, a check now, a check of a file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST, require_safe

from audits import anchors, checks, file_checks, verify_export, webhook
from audits.access import ConsoleRequest, require
from audits.domain.roles import Permission
from audits.queries import integrity as queries
from audits.views.pages import is_partial, reading, show, url

MANIFEST_LIMIT = 1024 * 1024


@require_safe
@require(Permission.SEE_TRAIL)
def show_integrity(request: ConsoleRequest) -> HttpResponse:
    """Show what is known of the trail's integrity; a check that is on is asked for again."""
    context = _context(request)
    template = "trail/_trail_check.html" if is_partial(request) else "trail/integrity.html"
    return show(request, template, context)


@require_POST
@require(Permission.AUDIT)
def check_now(request: ConsoleRequest) -> HttpResponse:
    """Check the whole trail: a small one at once, a large one in the background."""
    answer = checks.check_now(request.access)
    if answer == "open":
        messages.warning(request, "A check is on already.")
    elif answer == "queued":
        messages.success(request, "The check has begun. Its result will be on this page.")
    else:
        report = checks.last_check(request.here.id)
        if report is not None and report["whole"]:
            messages.success(request, report["sentence"])
        elif report is not None:
            messages.error(request, report["sentence"])
    return HttpResponseRedirect(url(request, "trail-integrity"))


@require_POST
@require(Permission.AUDIT)
def check_file(request: ConsoleRequest) -> HttpResponse:
    """Check an export that somebody brings back, with its manifest where it has one."""
    file, manifest = request.FILES.get("file"), request.FILES.get("manifest")
    fault = _fault(file, manifest)
    found = None
    if not fault and isinstance(file, UploadedFile):
        with _kept(file) as path, _kept(manifest) as beside:
            found = file_checks.check_file(
                path, file.name or "the file", beside if manifest else None, access=request.access
            )
    context = {**_context(request), "file_fault": fault, "file_check": found}
    return show(request, "trail/integrity.html", context, status=422 if fault else 200)


@require_safe
@require(Permission.SEE_TRAIL)
def download_script(request: ConsoleRequest) -> HttpResponse:
    """Hand out the script that proves an export offline."""
    text = Path(verify_export.__file__).read_text("utf-8")
    return _file(text, "verify_export.py", "text/x-python")


@require_safe
@require(Permission.SEE_TRAIL)
def download_keys(request: ConsoleRequest) -> HttpResponse:
    """Hand out the public keys that are believed."""
    path: Path = settings.TRAIL_PUBLIC_KEYS_FILE
    return _file(path.read_text("ascii") if path.exists() else "", "trail_keys", "text/plain")


def _file(text: str, name: str, kind: str) -> HttpResponse:
    return HttpResponse(
        text,
        content_type=f"{kind}; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store",
        },
    )


def _context(request: ConsoleRequest) -> dict[str, Any]:
    with reading(request):
        found = queries.load_checks(request.here.id)
        state = queries.load_state(request.here.id)
    anchoring = state["anchoring"] or {}
    note = anchors.newest_note(request.here.id)
    delivery = webhook.State.from_json(anchoring.get("webhook"))
    on = next((one for one in found if one["state"] in ("queued", "running")), None)
    return {
        "tab": "integrity",
        "may_audit": request.here.may(Permission.AUDIT),
        "checks": [one for one in found if one is not on],
        "last": next((one for one in found if one["state"] == "done" and one["report"]), None),
        "on": on,
        "checked_to": (on["cursor"] or {}).get("last", 0) if on else 0,
        "state": state,
        "unsealed_cap": queries.UNSEALED_CAP,
        "note": note,
        "note_at": _moment(note.at if note else ""),
        "delivered_at": _moment(delivery.delivered_at),
        "next_at": _moment(delivery.next_at),
        "webhook": webhook.place() if webhook.is_configured() else "",
        "delivery": delivery,
        "size_limit": file_checks.SIZE_LIMIT // (1024 * 1024),
        "retention": settings.LOG_RETENTION_DAYS,
    }


def _moment(text: str) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _fault(file: Any, manifest: Any) -> str:
    if not isinstance(file, UploadedFile):
        return "File: choose the exported file."
    if (file.size or 0) > file_checks.SIZE_LIMIT:
        limit = file_checks.SIZE_LIMIT // (1024 * 1024)
        return (
            f"File: it is larger than {limit} MB. Check it with verify_export.py, which has no"
            " limit."
        )
    if isinstance(manifest, UploadedFile) and (manifest.size or 0) > MANIFEST_LIMIT:
        return "Manifest: it is larger than 1 MB, which no manifest is."
    return ""


@contextmanager
def _kept(file: Any) -> Iterator[Path]:
    """Keep an upload in a file of its own while it is checked."""
    with tempfile.NamedTemporaryFile(prefix="memconsole-") as kept:
        if isinstance(file, UploadedFile):
            for piece in file.chunks():
                kept.write(piece)
            kept.flush()
        yield Path(kept.name)
