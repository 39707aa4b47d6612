"""Which records answer a question about the past: belief (``as_of``), world (``valid_at``).

Owns the candidates of such a question and when they hold. These read the
table, not the covering index: the past is asked about by people and by few
agents. Whatever the time asked about, only records that are active or
superseded now may answer: what is withheld now was not true then either.
"""

from __future__ import annotations

ANSWERS = "status IN ('active', 'superseded')"

# When a superseded record's time in the world ended: where the first successor that is not
# withheld begins. A poisoned successor that was taken out ends nothing.
ENDED = f"""(
    WITH RECURSIVE chain AS (
        SELECT n.id, n.{ANSWERS} AS answers, n.order_at, n.superseded_by
        FROM memory_record n WHERE n.id = m.superseded_by
        UNION
        SELECT n.id, n.{ANSWERS}, n.order_at, n.superseded_by
        FROM chain c JOIN memory_record n ON n.id = c.superseded_by WHERE NOT c.answers)
    SELECT min(order_at) FROM chain WHERE answers)"""
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
        WHEN {SUPERSEDED_BY_THEN} THEN coalesce({ENDED} > %(valid_at)s, true)
        ELSE m.believed @> %(as_of)s END"""
