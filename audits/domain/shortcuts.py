"""The console's keys: each with an id, a default, and what it does.

Pure. The help dialog, the profile page and the script read this one list. An
element acts by a key when it carries ``data-shortcut="<id>"``: links and
buttons are pressed, fields are focused. People may give a shortcut another
key; ids never change, or their choice would be lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shortcut:
    """One key: a single character, or ``g`` and a character for pages."""

    id: str
    key: str
    does: str
    group: str


SHORTCUTS: tuple[Shortcut, ...] = (
    Shortcut("help", "?", "Show the keys of this page", "Everywhere"),
    Shortcut("search", "/", "Go to the search field", "Everywhere"),
    Shortcut("go-overview", "g d", "Go to the overview", "Pages"),
    Shortcut("go-queue", "g q", "Go to the queue of held facts", "Pages"),
    Shortcut("go-records", "g r", "Go to all records", "Pages"),
    Shortcut("go-sessions", "g s", "Go to the sessions", "Pages"),
    Shortcut("go-incidents", "g i", "Go to the incidents", "Pages"),
    Shortcut("go-operations", "g o", "Go to the operations", "Pages"),
    Shortcut("go-trail", "g a", "Go to the audit trail", "Pages"),
    Shortcut("go-policies", "g p", "Go to the policies", "Pages"),
    Shortcut("go-jobs", "g j", "Go to the jobs", "Pages"),
    Shortcut("next", "j", "Next row", "Lists"),
    Shortcut("previous", "k", "Previous row", "Lists"),
    Shortcut("open", "o", "Open the row", "Lists"),
    Shortcut("back", "u", "Back to the list", "Lists"),
    Shortcut("select", "x", "Select the row", "Lists"),
    Shortcut("select-session", "X", "Decide all of this session", "Lists"),
    Shortcut("load-new", ".", "Load what is new", "Lists"),
    Shortcut("approve", "a", "Approve; at high risk, then 1 to 9 for the reason", "Decisions"),
    Shortcut("reject", "r", "Reject, then 1 to 9 for the reason", "Decisions"),
    Shortcut("edit", "e", "Edit", "Decisions"),
    Shortcut("supersede", "s", "Replace the current value", "Decisions"),
    Shortcut("snooze", "w", "Snooze until a date or the next serve", "Decisions"),
    Shortcut("note", "n", "Write a note", "Decisions"),
    Shortcut("lease", "c", "Take or give back the lease", "Decisions"),
    Shortcut("diff", "d", "Show the difference", "Decisions"),
    Shortcut("exposure", "b", "Show where it was served", "Decisions"),
    Shortcut("undo", "z", "Undo the last decision", "Decisions"),
    Shortcut("copy-link", "y", "Copy the link", "Decisions"),
    Shortcut("suspend", "m", "Suspend or release a session", "Sessions"),
    Shortcut("preview", "p", "Preview an eviction", "Sessions"),
    Shortcut("incident", "i", "Open an incident about it", "Sessions"),
    Shortcut("acknowledge", "A", "Acknowledge an incident", "Incidents"),
    Shortcut("verify-true", "1", "True", "Sample and verify"),
    Shortcut("verify-stale", "2", "Stale: true once, no longer", "Sample and verify"),
    Shortcut("verify-false", "3", "False: it never was", "Sample and verify"),
    Shortcut("verify-unknown", "4", "Cannot tell", "Sample and verify"),
    Shortcut("go-scans", "g c", "Go to the scans", "Pages"),
    Shortcut("go-verification", "g v", "Go to sample and verify", "Pages"),
    Shortcut("go-freshness", "g f", "Go to what should be refreshed", "Pages"),
    Shortcut("filter-cell", "f", "Show only rows with this cell's value", "Audit trail"),
    Shortcut("exclude-cell", "F", "Leave out rows with this cell's value", "Audit trail"),
)
_BY_ID = {one.id: one for one in SHORTCUTS}


def keymap(remap: Mapping[str, str]) -> dict[str, str]:
    """Return the key of every shortcut, a person's own choices applied.

    A default that came later and is a key that the person has given to something
    else has none: what they chose goes on working.
    """
    taken = set(remap.values())
    return {one.id: remap.get(one.id, "" if one.key in taken else one.key) for one in SHORTCUTS}


def grouped(remap: Mapping[str, str]) -> dict[str, list[tuple[Shortcut, str]]]:
    """Return the shortcuts by group, each with the key it has now."""
    keys = keymap(remap)
    groups: dict[str, list[tuple[Shortcut, str]]] = {}
    for one in SHORTCUTS:
        groups.setdefault(one.group, []).append((one, keys[one.id]))
    return groups


def check_remap(wanted: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the choices that differ from the defaults, and what is wrong with others, by id."""
    chosen: dict[str, str] = {}
    errors: dict[str, str] = {}
    for name, key in wanted.items():
        if name not in _BY_ID:
            continue
        if key == "":  # no key: shown where a person's own choice has taken the default
            chosen[name] = key
            continue
        fault = "" if key == _BY_ID[name].key else _fault(key)
        if fault:
            errors[name] = fault
        elif key != _BY_ID[name].key:
            chosen[name] = key
    taken: dict[str, str] = {}
    for one in SHORTCUTS:
        name, key = one.id, chosen.get(one.id, one.key)
        if key and key in taken:
            errors[name if name in chosen else taken[key]] = f"is the key of another act: {key}"
        taken[key] = name
    return chosen, errors


def _fault(key: str) -> str:
    if key.startswith("g ") and len(key) == 3 and key[2].isprintable() and key[2] != " ":
        return ""
    if len(key) != 1 or not key.isprintable() or key == " ":
        return "must be one character, or g, a space and one character"
    if key.isdigit():
        return "must not be a digit: digits choose reasons"
    return "must not be g alone: it begins the keys of pages" if key == "g" else ""
