"""The one statement that scores every candidate of a partition and returns the best.

Owns its text, put together once for each shape of request (how many search
terms, which filters) and prepared by the connection. Exact: every filter comes
before the limit, and candidates are read from the covering index alone
(``memory_record_recall``; a test pins the plan). The formula is
``domain/ranking.py``'s, and its constants are taken from there.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from records.domain import ranking
from records.domain.terms import MAX_INDEXED_TERMS

from . import past

# How many terms a statement has room for: a connection keeps its prepared statements, each with
# a plan of some hundred kilobytes, so there must not be one for every number.
TERM_COUNTS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32)

TIES = 50  # records of one score that are told apart by their counters; beyond, by last seen

# Settings of the transaction: the plan must not depend on how one partition's size compares
# with the others'. At 100,000 candidates the planner would rather scan the table in parallel.
PLANNER = {
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "max_parallel_workers_per_gather": "0",
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
}


def _float(number: float) -> str:
    """Write a constant as double precision: SQL would read 0.3 as numeric, which is slow."""
    return f"{number!r}::float8"


@dataclass(frozen=True, slots=True)
class Shape:
    """What of a request changes the statement's text and not only its parameters."""

    terms: int
    models: tuple[int, ...]
    current_only: bool = False
    corroborated_only: bool = False
    min_trust: bool = False
    min_score: bool = False
    predicates: bool = False
    as_of: bool = False
    valid_at: bool = False

    @property
    def is_past(self) -> bool:
        """Whether superseded records may answer."""
        return self.as_of or self.valid_at


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with the names of its parameters, $1 first."""

    text: bytes
    names: tuple[str, ...]


@lru_cache(maxsize=512)
def build(shape: Shape) -> Statement:
    """Return the statement for a shape, in the server's own notation.

    psycopg would read named placeholders anew each time: it remembers
    statements of up to 4,096 bytes only.
    """
    parts = [
        DOUBTED,
        f"candidate AS MATERIALIZED ({_candidates(shape)})",
        f"weight AS MATERIALIZED ({_weights(shape)})",
        f"top AS ({_top(shape)})",
        f"best AS MATERIALIZED ({_best(shape)})",
    ]
    names: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        return f"${names.setdefault(found[1], len(names) + 1)}"

    text = " ".join(f"WITH {', '.join(parts)} {ANSWER}".split())
    return Statement(PLACEHOLDER.sub(number, text).encode(), tuple(names))


PLACEHOLDER = re.compile(r"%\((\w+)\)s")


# What suspended sessions and sources have claimed. The scans end at once when nothing is
# suspended. ``certain``: with one independent claimant, the suspended one was the only one.
DOUBTED = """
no_session AS MATERIALIZED (
    SELECT id, synthesised FROM session
    WHERE workspace_id = %(workspace)s AND partition_id = %(partition)s
      AND suspended_at IS NOT NULL),
no_source AS MATERIALIZED (
    SELECT id FROM source WHERE workspace_id = %(workspace)s AND suspended_at IS NOT NULL),
doubted AS MATERIALIZED (
    SELECT record_id, bool_or(certain) AS certain FROM (
        SELECT record_id, NOT derived AND session_id <> ALL (
                   ARRAY(SELECT id FROM no_session WHERE synthesised)) AS certain
        FROM claim
        WHERE session_id = ANY (ARRAY(SELECT id FROM no_session)) AND state = 'live'
          AND workspace_id = %(workspace)s AND partition_id = %(partition)s
        UNION ALL
        SELECT record_id, derived FROM claim
        WHERE source_id = ANY (ARRAY(SELECT id FROM no_source)) AND state = 'live'
          AND workspace_id = %(workspace)s AND partition_id = %(partition)s) claimed
    GROUP BY record_id)"""

# What is left of a doubted record: 4 x its independent claimants + their best trust, counted as
# ``store.refresh_tallies`` does but without the suspended. Looked up one by one, and only where
# the index cannot say.
STANDING = """CASE
    WHEN d.record_id IS NULL THEN NULL WHEN d.certain AND k.corroboration <= 1 THEN 0
    ELSE (SELECT 4 * count(DISTINCT CASE WHEN c.derived THEN c.source_id
                                         WHEN s.synthesised THEN c.partition_id
                                         ELSE c.session_id END)
               + coalesce(max(CASE o.tier WHEN 'trusted' THEN 2 WHEN 'standard' THEN 1 END), 0)
          FROM claim c JOIN session s ON s.id = c.session_id JOIN source o ON o.id = c.source_id
          WHERE c.record_id = k.id AND c.state = 'live'
            AND c.session_id NOT IN (SELECT id FROM no_session)
            AND c.source_id NOT IN (SELECT id FROM no_source)) END"""


def _candidates(shape: Shape) -> str:
    hits = "".join(f", %(term{i})s::int4 = ANY (r.terms) AS h{i}" for i in range(shape.terms))
    return f"""
    SELECT r.id, {_similarity(shape)} AS similarity, r.confidence::float8 AS confidence,
           {past.NOT_CURRENT if shape.is_past else NOT_CURRENT} AS is_not_current,
           {AGE} AS age, r.corroboration, r.trust, r.last_seen{hits}
    FROM ({_rows(shape)} OFFSET 0) r"""


COLUMNS = """m.id, m.embedding, m.embedding_model, m.confidence, m.valid_from, m.valid_until,
             m.last_seen, m.half_life_days, m.corroboration, m.trust"""

# The rest of a long text's terms is outside the index, and looked at for long texts only.
ALL_TERMS = f"""CASE WHEN cardinality(m.terms) < {MAX_INDEXED_TERMS} THEN m.terms ELSE m.terms ||
    coalesce((SELECT l.more_terms FROM memory_record l WHERE l.id = m.id), '{{}}') END AS terms"""

ALIASED = """m.predicate = ANY (%(predicates)s::text[] || ARRAY(
    SELECT p.predicate FROM predicate_policy p WHERE p.workspace_id = %(workspace)s
       AND p.retired_at IS NULL AND p.aliases && %(predicates)s::text[]))"""


def _rows(shape: Shape) -> str:
    """Return the rows that may be served at all, and pass the filters that need no score."""
    where = """m.workspace_id = %(workspace)s AND m.partition_id = %(partition)s
        AND (m.serve_after IS NULL OR m.serve_after <= %(now)s)"""
    if shape.predicates:
        where += f" AND {ALIASED}"
    if not shape.is_past:
        return f"""SELECT {COLUMNS}, m.demoted, {ALL_TERMS} FROM memory_record m
                   WHERE {where} AND m.status = 'active'"""
    held = past.held(as_of=shape.as_of, valid_at=shape.valid_at)
    return f"""SELECT DISTINCT ON (m.fingerprint)
                      {COLUMNS}, m.recheck_at, m.unlisted_at, {ALL_TERMS}
               FROM memory_record m WHERE {where} AND m.{past.ANSWERS} AND {held}
               ORDER BY m.fingerprint, m.order_at DESC, m.id DESC"""


NOT_CURRENT = """(r.demoted OR coalesce(r.valid_until <= %(at)s, false)
                  OR coalesce(r.valid_from > %(at)s, false))"""

_DAYS = f"""(greatest({_float(0)}, %(epoch)s::float8 - date_part('epoch', r.last_seen))
           / {_float(ranking.SECONDS_A_DAY)})"""
AGE = f"""CASE WHEN r.half_life_days > 0
               THEN power({_float(0.5)}, least({_float(1)}, {_DAYS} / r.half_life_days))
               ELSE greatest({_float(ranking.AGE_FLOOR)},
                             {_float(1)} - {_DAYS} / {_float(ranking.AGE_DAYS)}) END"""


def _similarity(shape: Shape) -> str:
    """Return the cosine with the query's vector of the row's own model, never below zero.

    Vectors have length one, so the inner product is the cosine; unlike the
    cosine it is never NaN.
    """
    if not shape.models:
        return "0::float8"
    cases = " ".join(
        f"WHEN {int(n)} THEN least(1.0::float8, greatest(0.0::float8, -(r.embedding <#>"
        f" %(vector{int(n)})s::halfvec)))"
        for n in shape.models
    )
    return f"CASE r.embedding_model {cases} ELSE 0.0::float8 END"


def _weights(shape: Shape) -> str:
    """Weigh each term by how rare it is among the candidates (``ranking.rarity``).

    Terms past the query's own fill up the shape and weigh nothing.
    """
    if not shape.terms:
        return "SELECT 1.0::float8 AS total"
    counts = ", ".join(f"count(*) FILTER (WHERE h{i}) AS d{i}" for i in range(shape.terms))
    weights = ", ".join(
        f"CASE WHEN {i} < %(term_count)s THEN"
        f" ln(1.0::float8 + (n - d{i} + 0.5::float8) / (d{i} + 0.5::float8))"
        f" ELSE 0.0::float8 END AS w{i}"
        for i in range(shape.terms)
    )
    total = " + ".join(f"w{i}" for i in range(shape.terms))
    return f"""SELECT w.*, {total} AS total FROM (
        SELECT {weights} FROM (SELECT count(*) AS n, {counts} FROM candidate) c) w"""


def _text(shape: Shape) -> str:
    if not shape.terms:
        return "0::float8"
    hits = " + ".join(f"CASE WHEN h{i} THEN w{i} ELSE 0.0::float8 END" for i in range(shape.terms))
    return f"(({hits}) / total)"


# log2(n) is ln(n) / ln(2); the step is for each doubling.
_STEP = ranking.CORROBORATION_STEP / math.log(2)
CORROBORATION = f"""least({_float(ranking.CORROBORATION_CEILING)},
    {_float(1)} + {_float(_STEP)} * ln(greatest(1, c.corroboration)::float8))"""
VALIDITY = f"CASE WHEN c.is_not_current THEN {_float(ranking.NOT_CURRENT)} ELSE {_float(1)} END"


def _left(shape: Shape) -> str:
    """Return what is not withheld, with the corroboration and trust that are left of it.

    least() passes over NULL: a record that nobody doubts keeps its own.
    """
    hits = "".join(f", h{i}" for i in range(shape.terms))
    return f"""
    SELECT id, similarity, confidence, is_not_current, age, last_seen{hits},
           least(corroboration, standing / 4) AS corroboration, least(trust, standing % 4) AS trust
    FROM (SELECT k.*, {STANDING} AS standing
          FROM candidate k LEFT JOIN doubted d ON d.record_id = k.id OFFSET 0) k
    WHERE standing IS NULL OR standing >= 4"""


def _top(shape: Shape) -> str:
    """Return the best by score, and enough of those that may tie with the last of them.

    A sort that keeps only its head takes a third of the time of FETCH FIRST ...
    WITH TIES, which sorts all candidates.
    """
    fused = f"""(c.similarity + ({_float(1)} - c.similarity)
                * {_float(ranking.TEXT_WEIGHT)} * {_text(shape)})"""
    filters = ["true"]
    if shape.current_only:
        filters.append("NOT c.is_not_current")
    if shape.corroborated_only:
        filters.append("c.corroboration >= 2")
    if shape.min_trust:
        filters.append("c.trust >= %(min_trust)s")
    return f"""
    SELECT c.*, {fused} * c.confidence * ({VALIDITY}) * c.age * {CORROBORATION} AS score
    FROM ({_left(shape)}) c CROSS JOIN weight w
    WHERE {" AND ".join(filters)}
    ORDER BY score DESC, c.last_seen DESC, c.id LIMIT %(top_k)s + {TIES}"""


def _best(shape: Shape) -> str:
    """Settle ties by the exact counters, which only the best need.

    The order is by score, so that what is worth nothing or too little may be
    left out after the limit.
    """
    return f"""
    SELECT c.id, c.score, c.similarity, {_text(shape)} AS text, c.confidence,
           {VALIDITY} AS validity, c.age, {CORROBORATION} AS corroboration,
           coalesce(t.seen_count, 1) AS seen_count, t.first_seen,
           greatest(t.last_seen, c.last_seen) AS last_seen
    FROM (SELECT *, rank() OVER (ORDER BY score DESC) AS place FROM top) c CROSS JOIN weight w
    LEFT JOIN tally t ON t.record_id = c.id
    WHERE c.place <= %(top_k)s AND c.score > 0
          {"AND c.score >= %(min_score)s" if shape.min_score else ""}
    ORDER BY c.score DESC, 9 DESC, 11 DESC, c.id LIMIT %(top_k)s"""


# A record's claims may be many thousands: the first two hundred name enough of them.
ANSWER = """
SELECT b.id, m.content, m.subject, m.predicate, m.value, b.score,
       b.similarity, b.text, b.confidence, b.validity, b.age, b.corroboration,
       m.valid_from, m.valid_until, m.recheck_at, m.unlisted_at, m.extracted_by,
       coalesce(b.first_seen, m.written_at), b.last_seen, b.seen_count, p.sessions, p.sources
FROM best b JOIN memory_record m ON m.id = b.id
CROSS JOIN LATERAL (
    SELECT array_agg(s.external_id ORDER BY c.last_at DESC) AS sessions,
           array_agg(o.name ORDER BY c.last_at DESC) AS sources
    FROM (SELECT session_id, source_id, last_at FROM claim
          WHERE record_id = b.id AND state = 'live' LIMIT 200) c
    JOIN session s ON s.id = c.session_id JOIN source o ON o.id = c.source_id
    WHERE s.suspended_at IS NULL AND o.suspended_at IS NULL) p
ORDER BY b.score DESC, b.seen_count DESC, b.last_seen DESC, b.id"""
