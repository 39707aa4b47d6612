"""Where plotly.js comes from: the basic build that ``.ci/plotly`` fetched, or the package's own.

Owns one static file, ``vendor/plotly.min.js``. Both builds draw what the
console draws; the basic one is a quarter of the other. The Python package is
never imported: that takes longer than a page may.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage, Storage

NAME = "vendor/plotly.min.js"
FETCHED = Path(sys.prefix) / "share" / "memconsole"


@cache
def script() -> Path | None:
    """Return the file that is served; ``None`` where plotly is not installed."""
    fetched = sorted(FETCHED.glob("plotly-basic-*.min.js"))
    if fetched:
        return fetched[-1]
    found = find_spec("plotly")
    folders = list(found.submodule_search_locations or ()) if found else []
    packaged = [Path(one) / "package_data" / "plotly.min.js" for one in folders]
    return next((path for path in packaged if path.is_file()), None)


class _OneFile(FileSystemStorage):
    """The folder of the script, in which the script goes by the name of the static file."""

    prefix = ""

    def path(self, name: str) -> str:
        """Return where the file is."""
        return super().path(Path(script() or "").name if name == NAME else name)


class PlotlyFinder(BaseFinder):
    """Finds plotly.js for the static files, whichever build is there."""

    def check(self, **kwargs: Any) -> list[Any]:
        """Find nothing to complain about: a page without the script shows its table."""
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        """Return the script's path when it is asked for."""
        # Before Django 6 the argument may also come by its older name.
        wants_all = find_all or bool(kwargs.get("all"))
        found = script() if path == NAME else None
        if found is None:
            return []
        return [str(found)] if wants_all else str(found)

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, Storage]]:
        """Yield the script, for collecting."""
        found = script()
        if found is not None:
            yield NAME, _OneFile(location=str(found.parent))
