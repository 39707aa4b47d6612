"""What comes back meets the address it came from as that address is now."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from audits.domain.scope import Scope
from audits.models import Operation
from records import curate
from records.access import Access
from records.models import Address
from records.scope import workspace_scope

from .operating import evict, outcomes, statuses, undo
from .test_write import NOW, fact, put

LATER = NOW + timedelta(hours=1)


def import_(access: Access, value: str, session: str, *, at: int = 0) -> UUID:
    """Write what one row of a source says."""
    item = fact(predicate="likes", value=value, session=session, source="crm", source_key="row-1")
    made = put(access, item, NOW + timedelta(hours=at))
    assert made.id is not None
    return made.id


def taken_out(access: Access) -> tuple[Operation, UUID]:
    first = import_(access, "tea", "import-1")
    return evict(access, Scope(record_ids=(first,))), first


def holder(access: Access) -> UUID | None:
    with workspace_scope(access.workspace_id):
        return Address.objects.get(workspace_id=access.workspace_id).record_id


def test_undone_fact_lines_up_behind_what_its_source_says_now(access: Access) -> None:
    done, first = taken_out(access)
    second = import_(access, "coffee", "import-2", at=1)
    back = undo(access, done)
    assert outcomes(access, back)[first] == ("restored", "")
    assert statuses(access, [first, second]) == ["superseded", "active"]
    assert holder(access) == second


def test_undone_fact_takes_its_address_back_where_nothing_came_since(access: Access) -> None:
    done, first = taken_out(access)
    assert holder(access) is None
    undo(access, done)
    assert statuses(access, [first]) == ["active"]
    assert holder(access) == first


def test_newer_fact_that_comes_back_leaves_what_others_say_too(access: Access) -> None:
    first = import_(access, "tea", "import-1")
    second = import_(access, "coffee", "import-2", at=1)
    assert statuses(access, [first, second]) == ["superseded", "active"]
    curate.evict([second], "wrong", access=access)
    assert statuses(access, [first]) == ["active"]
    put(access, fact(predicate="likes", value="tea", session="a person"), LATER)
    curate.restore([second], "right after all", access=access)
    assert statuses(access, [first, second]) == ["active", "active"]
    assert holder(access) == second
