"""Held facts, as the queue's tests need them: through the write path, or many by SQL."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from django.http import HttpResponse

from records.access import Access
from records.domain.risk import Risk
from tests import factories

from .conftest import Person, put, text


def contest(access: Access, subject: str = "", *, value: str = "Helio", **more: Any) -> UUID:
    """Hold one fact against a more confident one; return its id."""
    subject = subject or f"Person {uuid4().hex[:8]}"
    put(access, "Acme", subject=subject, confidence=0.9)
    made = put(access, value, subject=subject, confidence=0.6, **{"session": "s2", **more})
    assert made.status == "quarantined"
    assert made.id is not None
    return made.id


def hold(
    access: Access, value: str = "", *, risk: Risk = Risk.LOW, rule: str = "", **more: Any
) -> UUID:
    """Insert one held fact of a grade, as the gate would have left it."""
    value = value or f"value {uuid4().hex[:10]}"
    finding = {
        "rule": rule or "attack.override",
        "outcome": "quarantine",
        "severity": risk.name.lower(),
        "field": "value",
        "view": "raw",
        "span": [0, min(5, len(value))],
        "matched": value[:5],
        "reason": "Reads like an instruction.",
    }
    findings = [finding] if rule or risk > Risk.LOW else []
    return factories.make_record(
        access,
        value,
        **{
            "partition": "ada",
            "subject": f"Person {uuid4().hex[:8]}",
            "predicate": "note",
            "status": "quarantined",
            "hold_reason": "gate",
            "risk": int(risk),
            "findings": json.dumps(findings),
            "embed": False,
            "seen": datetime.now(UTC),
            **more,
        },
    )


def fields_of(page: HttpResponse | str) -> dict[str, str]:
    """Return what the decision's form would send, without the act."""
    shown = page if isinstance(page, str) else text(page)
    form = shown.split('<form id="decision"', 1)[1].split("</form>", 1)[0]
    names = ("version", "token", "key", "done")
    return {
        name: re.search(f'name="{name}" value="([^"]*)"', form).group(1)  # type: ignore[union-attr]
        for name in names
    }


def open_fields(person: Person, record_id: UUID, **query: Any) -> dict[str, str]:
    """Open an item and return its form."""
    page = person.get(f"queue/{record_id}", **query)
    assert page.status_code == 200, page.status_code
    return fields_of(page)


def ids_on(page: HttpResponse) -> list[UUID]:
    """Return the facts a list shows, in order."""
    return [UUID(one) for one in re.findall(r'data-row data-id="([0-9a-f-]{36})"', text(page))]


def next_of(page: HttpResponse) -> str | None:
    """Return the cursor of the next page."""
    found = re.search(r'rel="next" href="[^"?]*\?[^"]*after=([^"&]*)"', text(page))
    if found is None:
        return None
    from urllib.parse import unquote

    return unquote(found.group(1))
