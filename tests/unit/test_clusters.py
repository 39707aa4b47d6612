"""Groups that suggestions join, and which of a group to keep."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from audits.domain.clusters import Standing, components, suggest_keep

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def standing(number: int, **more: object) -> Standing:
    values: dict[str, object] = {"corroboration": 1, "trust": 1, "last_seen": NOW, **more}
    return Standing(UUID(int=number), **values)  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=30))
def test_two_are_in_one_group_exactly_when_a_path_of_pairs_joins_them(
    pairs: list[tuple[int, int]],
) -> None:
    found = components(pairs)
    assert set(found) == {one for pair in pairs for one in pair}
    for one in found:
        reached, border = {one}, [one]
        while border:
            at = border.pop()
            for a, b in pairs:
                for other in ({a, b} - {at}) if at in (a, b) else set():
                    if other not in reached:
                        reached.add(other)
                        border.append(other)
        assert {k for k in found if found[k] == found[one]} == reached
        assert found[one] == min(reached)


def test_what_most_say_is_kept_then_the_trusted_then_the_newest() -> None:
    old, new = standing(1), standing(2, last_seen=NOW + timedelta(days=1))
    assert suggest_keep([old, new]) == (new.id, "it was seen last")
    trusted = standing(3, trust=2)
    assert suggest_keep([old, new, trusted]) == (trusted.id, "it comes from a trusted source")
    said = standing(4, corroboration=3, trust=0)
    keep, why = suggest_keep([old, new, trusted, said])
    assert (keep, why) == (said.id, "most say it: 3 independent sessions and sources")
    alone = standing(5, is_one_valued=True)
    assert suggest_keep([said, alone])[0] == alone.id
