"""What a merge would do, shown before anybody decides: the computation that the merge carries out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from records import queries
from records.access import Access
from records.curate.acting import read
from records.curate.merging import Numbers, preview_merge


@dataclass(frozen=True, slots=True)
class Preview:
    """The kept record before and after, how many claims move, and what cannot be merged."""

    before: Numbers | None
    after: Numbers | None
    claims: int
    shared: int
    refused_claims: int
    leaving: tuple[UUID, ...]
    refused: tuple[tuple[UUID, str], ...]


def preview(kept_id: UUID, gone_ids: Sequence[UUID], *, access: Access) -> Preview:
    """Say what merging would do; changes nothing. Inside a workspace scope."""
    with queries.cursor() as cur:
        found = read(cur, [kept_id, *gone_ids])
        kept = found.get(kept_id)
        gone = [found[one] for one in gone_ids if one in found]
        if kept is None or not gone:
            return Preview(None, None, 0, 0, 0, (), ())
        unions, refused = preview_merge(cur, kept, gone, access)
    return Preview(
        unions[0].before if unions else None,
        unions[-1].after if unions else None,
        sum(one.claims for one in unions),
        sum(one.shared for one in unions),
        sum(one.refused for one in unions),
        tuple(one.gone_id for one in unions),
        tuple(refused),
    )
