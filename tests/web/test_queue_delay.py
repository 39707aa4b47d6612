"""Undo inside the activation delay: nobody is served, however hard they ask."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from uuid import UUID

from django.db import connections

from audits.domain.review import ACTIVATION_DELAY
from audits.domain.roles import Role
from records.access import Access
from records.models import Serve
from records.retrieve import RecallRequest, recall
from records.scope import workspace_scope

from .conftest import make_person, put
from .queue_facts import contest, open_fields


class Client(threading.Thread):
    """An agent that asks the same question over and over, and notes all it is told."""

    def __init__(self, access: Access, question: str) -> None:
        super().__init__()
        self.access, self.question = access, question
        self.asked = 0
        self.told: set[UUID] = set()
        self.is_over = threading.Event()

    def run(self) -> None:
        try:
            while not self.is_over.wait(0.03):
                answer = recall(
                    RecallRequest("ada", self.question, top_k=10),
                    access=self.access,
                    now=datetime.now(UTC),
                )
                self.told |= {item.id for item in answer.items}
                self.asked += 1
        finally:
            connections.close_all()


def test_fact_approved_and_undone_within_the_delay_is_served_to_nobody() -> None:
    ann = make_person(role=Role.REVIEWER)
    held = contest(ann.access, "Gil")
    always = put(ann.access, "cashews", subject="Gil", predicate="allergy")
    client = Client(ann.access, "Gil employer Helio")
    client.start()
    try:
        began = time.monotonic()
        fields = open_fields(ann, held)
        assert ann.post(f"queue/{held}/decide", {**fields, "act": "approve"}).status_code == 302
        time.sleep(2)
        assert ann.post("queue/undo").status_code == 302
        # Past the moment at which the approval would have begun to serve.
        while time.monotonic() - began < ACTIVATION_DELAY.total_seconds() + 1:
            time.sleep(0.1)
    finally:
        client.is_over.set()
        client.join()
    assert client.asked > 20
    assert always.id in client.told
    assert held not in client.told
    with workspace_scope(ann.access.workspace_id):
        assert Serve.objects.filter(record_id=held).count() == 0
