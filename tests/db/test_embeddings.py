"""Vectors: of length one, of a known model, and never the reason why a fact is lost."""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
import wordllama
from django.db import connections

from records import embeddings
from records.access import Access
from records.embeddings import EmbeddingError, providers, registry
from records.embeddings.model import STORED_LIMIT, unit
from records.items import BadRequest
from records.jobs.catalogue import Job
from records.jobs.runs import STALE_AFTER, claim, perform
from records.reembed import reembed
from records.retrieve import RecallRequest, recall
from records.scope import partition_scope, workspace_scope
from tests import factories as make

JOB = Job("reembed-test", "test", "records.reembed", None)


@pytest.fixture
def access() -> Access:
    make.make_workspace()
    return make.make_workspace()


def wait_for_announcement(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let new models be used at once, instead of fifteen seconds later."""
    monkeypatch.setattr(registry, "ANNOUNCED", timedelta(0))


def test_the_default_model_has_number_one_and_length_one(access: Access) -> None:
    model = embeddings.serving_model(access.workspace_id)
    assert (model.number, model.provider, model.dimensions) == (1, "wordllama", 256)
    texts = ["Alice works at Acme", "東京に住んでいる", "x" * 4_000, "\u200b"]
    made = embeddings.embed(texts, workspace_id=access.workspace_id, kind="document")
    assert made.vectors.shape == (4, 256)
    assert made.vectors.dtype == np.float32
    assert np.linalg.norm(made.vectors, axis=1) == pytest.approx(np.ones(4), abs=1e-5)
    assert made.partial == frozenset()


def test_a_text_has_the_same_vector_alone_and_in_a_batch(access: Access) -> None:
    texts = ["tea", "a much longer text about the sea and the tea that is drunk there", "東京"]
    batch = embeddings.embed(texts, workspace_id=access.workspace_id).vectors
    for text, vector in zip(texts, batch, strict=True):
        alone = embeddings.embed([text], workspace_id=access.workspace_id).vectors[0]
        assert np.array_equal(alone, vector)


def test_no_texts_have_no_vectors(access: Access) -> None:
    assert embeddings.embed([], workspace_id=access.workspace_id).vectors.shape == (0, 256)


def test_the_wheels_weights_are_those_that_the_models_name_stands_for() -> None:
    # Other weights under the same name would compare vectors that cannot be compared:
    # raise WORDLLAMA_NAME's version together with this digest.
    file = Path(wordllama.__file__).parent / "weights" / "l2_supercat_256.safetensors"
    assert hashlib.sha256(file.read_bytes()).hexdigest()[:16] == "64b47a2dc493cb8e"
    assert providers.WORDLLAMA_NAME == "l2_supercat_256/1"


def test_many_threads_embed_at_once(access: Access) -> None:
    texts = [f"fact number {number}" for number in range(50)]
    expected = embeddings.embed(texts, workspace_id=access.workspace_id).vectors
    model = embeddings.serving_model(access.workspace_id)

    def once(_: int) -> bool:
        made = providers.provider(model.provider, model.name, model.dimensions)
        return np.array_equal(unit(made.embed(texts, "document")[0]), expected)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(once, range(40)))


def test_a_missing_wheel_is_said_once_and_costs_only_the_likeness(
    access: Access, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    make.make_record(access, "Acme")
    monkeypatch.setitem(__import__("sys").modules, "wordllama", None)
    providers._provider.cache_clear()
    try:
        for _ in range(3):
            with pytest.raises(EmbeddingError, match="not installed"):
                embeddings.embed(["x"], workspace_id=access.workspace_id)
        assert len([r for r in caplog.records if "has no wheel" in r.message]) == 1
        answer = recall(RecallRequest("alice", "employer"), access=access)
        assert not answer.is_complete
        assert answer.items[0].factors["similarity"] == 0.0
    finally:
        providers._provider.cache_clear()


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (("Alice", "job_title", "engineer", ""), "Alice job title engineer"),
        (("Alice", "employer", "Acme", "Alice works at Acme"), "employer Alice works at Acme"),
        (("Alice", "married", "yes", "yes"), "Alice married yes"),
        (("alice", "note", "Buy tea", "Buy tea"), "alice note Buy tea"),
    ],
)
def test_the_embedded_text_says_what_the_content_leaves_out(
    fact: tuple[str, str, str, str], expected: str
) -> None:
    assert embeddings.embedding_text(*fact) == expected


@pytest.mark.parametrize("dimensions", [1, 3, 896, 897, 1_024, 1_536, 3_072, 4_096])
def test_a_callers_vector_of_any_length_fits_beside_160_terms(
    access: Access, dimensions: int
) -> None:
    rng = np.random.default_rng(dimensions)
    vector = rng.normal(size=dimensions)
    made = embeddings.caller_vectors([vector.tolist()], workspace_id=access.workspace_id)
    assert made.vectors.shape == (1, min(dimensions, STORED_LIMIT))
    words = " ".join(f"w{number}" for number in range(400))
    make.make_record(
        access, "long", content=words, embed=False,
        embedding=make.vector(vector.tolist()), embedding_model=made.model.number,
    )  # fmt: skip
    request = RecallRequest("alice", "zebra", embedding=(vector * 7).tolist())
    (item,) = recall(request, access=access).items
    assert item.factors["similarity"] == pytest.approx(1.0, abs=2e-3)


def test_long_vectors_keep_their_likeness() -> None:
    rng = np.random.default_rng(1)
    full = rng.normal(size=(60, 1_536))
    full[:, :50] *= 5  # real vectors are not alike in all directions
    full /= np.linalg.norm(full, axis=1, keepdims=True)
    kept = unit(full)
    off = np.abs(kept @ kept.T - full @ full.T)
    assert off.mean() < 0.02
    assert off.max() < 0.12


def test_one_length_is_one_model_however_many_register_it_at_once(access: Access) -> None:
    def register(_: int) -> int:
        try:
            embeddings.forget()
            return embeddings.caller_model(access.workspace_id, 12).number
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(register, range(6)))) == 1
    other = embeddings.caller_model(access.workspace_id, 13).number
    numbers = [m.number for m in embeddings.models_of(access.workspace_id)]
    assert sorted(set(numbers)) == numbers == [1, 2, 3]
    assert other == 3


def test_a_model_registered_in_a_transaction_that_fails_is_forgotten(access: Access) -> None:
    class FailedError(Exception):
        pass

    def register_and_fail(dimensions: int) -> None:
        with workspace_scope(access.workspace_id):
            embeddings.caller_model(access.workspace_id, dimensions)
            embeddings.models_of(access.workspace_id)
            raise FailedError

    with pytest.raises(FailedError):
        register_and_fail(12)
    assert [m.number for m in embeddings.models_of(access.workspace_id)] == [1]
    assert embeddings.caller_model(access.workspace_id, 99).number == 2


def test_another_workspaces_models_are_not_seen(access: Access) -> None:
    other = make.make_workspace()
    embeddings.caller_model(other.workspace_id, 5)
    embeddings.forget()
    assert [m.number for m in embeddings.models_of(access.workspace_id)] == [1]
    with pytest.raises(EmbeddingError):
        embeddings.serving_model(uuid4())


@pytest.mark.parametrize(
    "vectors",
    [[[1.0, math.nan]], [[10**400, 1]], [[math.inf, 1.0]], [[0.0, 0.0]], [[]], [[1.0] * 4_097]],
)
def test_a_bad_vector_is_refused_by_name(access: Access, vectors: list[list[float]]) -> None:
    with pytest.raises(BadRequest) as caught:
        embeddings.caller_vectors(vectors, workspace_id=access.workspace_id)
    assert [error.field for error in caught.value.errors] == ["embedding"]


def test_numbers_near_the_end_of_a_float_still_have_a_direction(access: Access) -> None:
    made = embeddings.caller_vectors([[1e300, 1e300]], workspace_id=access.workspace_id)
    assert made.vectors[0] == pytest.approx([math.sqrt(0.5)] * 2)


class Server(BaseHTTPRequestHandler):
    """An OpenAI-compatible server as simple as one can be: hashes words into dimensions."""

    status = 200
    spoil = ""
    asked: list[dict[str, Any]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).asked.append({**body, "key": self.headers.get("Authorization")})
        data = [
            {"index": place, "embedding": self._vector(text)}
            for place, text in enumerate(body["input"])
        ]
        if self.spoil == "count":
            data = data[:-1]
        answer = b"not json" if self.spoil == "json" else json.dumps({"data": data[::-1]}).encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def _vector(self, text: str) -> list[float]:
        numbers = [0.001] * (31 if self.spoil == "dimensions" else 32)
        for word in text.casefold().split():
            numbers[hashlib.md5(word.encode()).digest()[0] % len(numbers)] += 1.0
        return [math.nan, *numbers[1:]] if self.spoil == "nan" else numbers

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def embeddings_server(settings: Any) -> Iterator[type[Server]]:
    handler = type("OneServer", (Server,), {"asked": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    settings.EMBEDDINGS = {
        "provider": "openai",
        "url": f"http://127.0.0.1:{server.server_port}/v1",
        "key": "sk-test",
        "model": "words-32",
        "dimensions": 32,
        "ask_dimensions": True,
        "timeout": 5.0,
    }
    providers._provider.cache_clear()
    try:
        yield handler
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        providers._provider.cache_clear()
        embeddings.forget()


def test_an_openai_compatible_server_is_asked_in_portions(settings: Any) -> None:
    with embeddings_server(settings) as server:
        access = make.make_workspace()
        texts = [f"text {number}" for number in range(300)] + ["long " * 3_000]
        made = embeddings.embed(texts, workspace_id=access.workspace_id, kind="document")
        assert made.model.provider == "openai"
        assert made.vectors.shape == (301, 32)
        assert made.partial == {300}
        assert [len(one["input"]) for one in server.asked] == [256, 45]
        asked = server.asked[0]
        assert (asked["model"], asked["dimensions"]) == ("words-32", 32)
        assert asked["key"] == "Bearer sk-test"
        alone = embeddings.embed(["text 7"], workspace_id=access.workspace_id).vectors[0]
        assert np.array_equal(alone, made.vectors[7])


@pytest.mark.parametrize(
    ("status", "spoil"), [(500, ""), (401, ""), (200, "json"), (200, "count"),
                          (200, "dimensions"), (200, "nan")],
)  # fmt: skip
def test_a_server_that_answers_nonsense_costs_the_likeness_never_the_answer(
    settings: Any, status: int, spoil: str
) -> None:
    with embeddings_server(settings) as server:
        access = make.make_workspace()
        make.make_record(access, "Acme")
        server.status, server.spoil = status, spoil
        with pytest.raises(EmbeddingError) as caught:
            embeddings.embed(["text", "other"], workspace_id=access.workspace_id)
        assert "sk-test" not in str(caught.value)
        answer = recall(RecallRequest("alice", "employer"), access=access)
        assert [item.value for item in answer.items] == ["Acme"]
        assert not answer.is_complete


def test_a_new_model_takes_over_while_the_old_one_serves(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = make.make_workspace()
    for number in range(7):
        make.make_record(access, f"Acme {number}")
    unembedded = make.make_record(access, "Globex", embed=False)
    caller = make.caller_number(access, 3)
    make.make_record(
        access, "theirs", embed=False, embedding=make.vector([1.0, 0, 0]), embedding_model=caller
    )
    evicted = make.make_record(access, "gone", status="evicted")
    before = datetime.now(UTC)

    def numbers() -> dict[int | None, int]:
        rows = make.select(
            access,
            """SELECT embedding_model, count(*) FROM memory_record
               WHERE status = 'active' GROUP BY 1""",
            [],
        )
        return dict(rows)

    with embeddings_server(settings):
        monkeypatch.setattr("records.reembed.BATCH", 3)
        run = perform(JOB, access.workspace_id, reembed)
        assert run is not None
        # Announced, but not used yet: the old model still embeds, and fills what had no vector.
        assert run.changed == {"switched": 1, "embedded": 1}
        assert embeddings.serving_model(access.workspace_id).number == 1
        assert numbers() == {1: 8, caller: 1}

        wait_for_announcement(monkeypatch)
        model = embeddings.serving_model(access.workspace_id)
        assert (model.provider, model.number) == ("openai", caller + 1)
        make.make_record(access, "Hooli")
        found = recall(RecallRequest("alice", "Hooli Acme employer", top_k=20), access=access)
        with_likeness = {i.value for i in found.items if i.factors["similarity"] > 0.01}
        assert {"Hooli", "Acme 1", "Globex"} <= with_likeness

        run = perform(JOB, access.workspace_id, reembed)
        assert run is not None
        assert run.changed == {"embedded": 8, "retired": 1}
        assert numbers() == {model.number: 9, caller: 1}
        states = {m.number: m.state for m in embeddings.models_of(access.workspace_id)}
        assert states == {1: "retired", caller: "caller", model.number: "serving"}
        run = perform(JOB, access.workspace_id, reembed)
        assert run is not None
        assert run.changed == {}
        rows = make.select(
            access,
            "SELECT id, embedding_model FROM memory_record WHERE id = ANY(%s) ORDER BY 2",
            [[unembedded, evicted]],
        )
        assert rows == [(evicted, 1), (unembedded, model.number)]
    assert before < datetime.now(UTC)


def test_a_row_that_changed_while_its_text_was_embedded_is_left_for_the_next_run(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    record_id = make.make_record(access, "Acme", embed=False)
    real = providers.WordLlama.embed

    def embed_slowly(self: Any, texts: Any, kind: Any) -> Any:
        make.change(access, "memory_record", "id", record_id, confidence=0.5)
        return real(self, texts, kind)

    monkeypatch.setattr(providers.WordLlama, "embed", embed_slowly)
    run = perform(JOB, access.workspace_id, reembed)
    assert run is not None
    assert run.changed == {"skipped": 1}
    monkeypatch.undo()
    run = perform(JOB, access.workspace_id, reembed)
    assert run is not None
    assert run.changed == {"embedded": 1}


def test_a_killed_run_goes_on_where_its_last_batch_ended(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        make.make_record(access, f"Acme {number}", embed=False)
    monkeypatch.setattr("records.reembed.BATCH", 2)
    real, batches = providers.WordLlama.embed, []

    class KilledError(Exception):
        pass

    def embed(self: Any, texts: Any, kind: Any) -> Any:
        batches.append(len(texts))
        if len(batches) == 3:
            raise KilledError
        return real(self, texts, kind)

    monkeypatch.setattr(providers.WordLlama, "embed", embed)
    run = claim(JOB, access.workspace_id)
    assert run is not None
    with pytest.raises(KilledError):
        reembed(run, datetime.now(UTC))
    left = "SELECT count(*) FROM memory_record WHERE embedding IS NULL"
    assert make.select(access, left, []) == [(2,)]

    assert perform(JOB, access.workspace_id, reembed) is None  # it may be alive still
    long_ago = datetime.now(UTC) - STALE_AFTER * 2
    make.change(access, "job_run", "id", run.id, heartbeat_at=long_ago)
    batches[:] = [0, 0, 0]
    taken = perform(JOB, access.workspace_id, reembed)
    assert taken is not None
    assert (taken.id, taken.changed) == (run.id, {"embedded": 6})
    assert batches == [0, 0, 0, 2]
    assert make.select(access, left, []) == [(0,)]


def test_an_agents_scope_may_read_the_registry(access: Access) -> None:
    partition = make.make_partition(access)
    embeddings.forget()
    with partition_scope(access.workspace_id, [partition]):
        assert embeddings.serving_model(access.workspace_id).number == 1
