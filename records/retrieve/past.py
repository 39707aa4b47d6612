"""Which records answer a question about the past: belief (``as_of``), world (``valid_at``).

Owns the candidates of such a question and when they hold. These read the
table, not the covering index: the past is asked about by people and by few
agents. Whatever the time asked about, only records that are active or
superseded now may answer: what is withheld now was not true then either.
"""

from __future__ import annotations

ANSWERS = "status IN ('active', 'superseded')"

# Whether the store knew of a successor at that instant: it believed it, or a late arrival was put
# in its place in the chain by then.
KNOWN_THEN = """(lower(n.believed) <= %(as_of)s
    OR (n.status = 'superseded' AND n.superseded_at <= %(as_of)s))"""


def ended(answers: str) -> str:
    """Return when a superseded record's time in the world ended.

    That is where the first successor begins that ``answers``: a poisoned one that was taken out
    ends nothing. A late arrival that had ended by its own word, beside a longer fact that went on,
    ended when it said.
    """
    return f"""(
    WITH RECURSIVE chain AS (
        SELECT n.id, coalesce({answers}, false) AS answers, n.order_at, n.superseded_by
        FROM memory_record n WHERE n.id = m.superseded_by
        UNION
        SELECT n.id, coalesce({answers}, false), n.order_at, n.superseded_by
        FROM chain c JOIN memory_record n ON n.id = c.superseded_by WHERE NOT c.answers)
    SELECT CASE WHEN min(order_at) < m.order_at THEN coalesce(m.valid_until, min(order_at))
        ELSE min(order_at) END
    FROM chain WHERE answers)"""


ENDED = ended(f"n.{ANSWERS}")
ENDED_AS_KNOWN_THEN = ended(f"n.{ANSWERS} AND {KNOWN_THEN}")
TRUE_THEN = "m.order_at <= %(valid_at)s"
SUPERSEDED_BY_THEN = (
    "(m.status = 'superseded' AND coalesce(m.superseded_at, m.status_at) <= %(as_of)s)"
)

NOT_CURRENT = """(coalesce(r.valid_until <= %(at)s, false) OR coalesce(r.valid_from > %(at)s, false)
    OR coalesce(r.recheck_at <= %(at)s, false) OR coalesce(r.unlisted_at <= %(at)s, false))"""


def held(*, as_of: bool, valid_at: bool) -> str:
    """Return the condition that a record answers, given which times are asked about."""
    if as_of and not valid_at:
        return "m.believed @> %(as_of)s"
    if not as_of:
        return f"{TRUE_THEN} AND (m.status = 'active' OR coalesce({ENDED} > %(valid_at)s, true))"
    # What was believed then about the world before: links made later are not known yet.
    return f"""{TRUE_THEN} AND CASE
        WHEN {SUPERSEDED_BY_THEN} THEN coalesce({ENDED_AS_KNOWN_THEN} > %(valid_at)s, true)
        ELSE m.believed @> %(as_of)s END"""
