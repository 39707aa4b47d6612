"""Plotly's script: the basic build where it was fetched, else the package's; never an import."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memconsole import plotly

CODE = Path(__file__).resolve().parents[2]


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(plotly, "FETCHED", tmp_path)
    plotly.script.cache_clear()
    return tmp_path


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    plotly.script.cache_clear()


def test_basic_build_is_served_where_it_was_fetched(fetched: Path) -> None:
    (fetched / "plotly-basic-9.9.9.min.js").write_text("basic")
    finder = plotly.PlotlyFinder()
    ((name, storage),) = finder.list(None)
    assert name == plotly.NAME
    with storage.open(name) as found:
        assert found.read() == b"basic"
    assert finder.find(name) == str(fetched / "plotly-basic-9.9.9.min.js")
    assert finder.find(name, find_all=True) == [finder.find(name)]
    assert finder.find("css/base.css") == []


def test_package_s_own_build_is_served_where_nothing_was_fetched(fetched: Path) -> None:
    found = plotly.script()
    assert found is not None
    assert found.parts[-3:] == ("plotly", "package_data", "plotly.min.js")
    ((name, storage),) = plotly.PlotlyFinder().list(None)
    assert storage.size(name) == found.stat().st_size


def test_no_plotly_at_all_is_no_error(fetched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plotly, "find_spec", lambda name: None)
    assert plotly.script() is None
    assert list(plotly.PlotlyFinder().list(None)) == []
    assert plotly.PlotlyFinder().find(plotly.NAME) == []


def test_both_builds_are_of_one_version() -> None:
    fetching = (CODE / ".ci" / "plotly").read_text()
    version = re.search(r"^version=(\S+)", fetching, re.M)
    assert version is not None
    package = plotly.find_spec("plotly")
    assert package is not None
    assert package.submodule_search_locations
    own = Path(package.submodule_search_locations[0]) / "package_data" / "plotly.min.js"
    with own.open(encoding="utf-8") as script:
        assert f"plotly.js v{version[1]}" in script.read(200)
    assert re.search(r"^integrity=sha512-[A-Za-z0-9+/]{86}==$", fetching, re.M)


def test_finding_the_script_imports_no_plotly() -> None:
    code = "import sys; from memconsole import plotly; plotly.script(); sys.exit('plotly' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=CODE, check=False).returncode == 0
