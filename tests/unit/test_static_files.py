"""Static files as `make run` serves them: hashed, compressed, and every name of a template there."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from django.contrib.staticfiles import finders

CODE = Path(__file__).resolve().parents[2]
NAME = re.compile(r"\{%\s*static\s+['\"]([^'\"]+)['\"]")


def test_every_static_file_that_a_template_names_is_there() -> None:
    # Under hashed names a missing one is an error of the whole page.
    named = {
        (path.name, name)
        for path in (CODE / "templates").rglob("*.html")
        for name in NAME.findall(path.read_text(encoding="utf-8"))
    }
    assert ("_chart.html", "vendor/plotly.min.js") in named
    assert [one for one in sorted(named) if finders.find(one[1]) is None] == []


def test_first_collecting_makes_hashed_and_compressed_files(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "manage.py", "collectstatic", "--noinput", "-v0"],
        cwd=CODE,
        env={
            **os.environ,
            "MEMCONSOLE_HOME": str(tmp_path / "home"),
            "DJANGO_SETTINGS_MODULE": "memconsole.settings",
        },
        check=True,
    )
    root = tmp_path / "home" / "static"
    names = json.loads((root / "staticfiles.json").read_text())["paths"]
    for name in ("vendor/plotly.min.js", "js/charts.js", "css/base.css"):
        hashed = root / names[name]
        assert hashed.name != Path(name).name
        zipped = Path(f"{hashed}.gz")
        assert gzip.decompress(zipped.read_bytes()) == hashed.read_bytes()
