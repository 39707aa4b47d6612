"""The bounds of the first audit, as flags of the command."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from audits.domain.first_audit import BOUNDED, SHARES


def add_bounds(parser: ArgumentParser) -> None:
    """Add one flag for each number and each share that can be bounded."""
    for name, words in BOUNDED.items():
        parser.add_argument(
            f"--max-{name.replace('_', '-')}", type=_count, metavar="N", help=f"most {words}"
        )
    for name, (part, whole) in SHARES.items():
        parser.add_argument(
            f"--max-{name.replace('_', '-')}",
            type=_share,
            metavar="X",
            help=f"largest share of {part.replace('_', ' ')} in {whole}, 0 to 1",
        )


def read_bounds(options: dict[str, Any]) -> dict[str, float]:
    """Return the bounds that were given, by the number's name."""
    given = {name: options.get(f"max_{name}") for name in (*BOUNDED, *SHARES)}
    return {name: float(bound) for name, bound in given.items() if bound is not None}


def _count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise ValueError("must not be negative")
    return value


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError("must lie between 0 and 1")
    return value
