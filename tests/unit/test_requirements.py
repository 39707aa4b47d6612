"""What the code imports is what the requirements name: a machine that has more hides nothing."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

CODE = Path(__file__).resolve().parents[2]
OURS = {"memconsole", "records", "audits", "tests", "bench"}


def named(file: str) -> set[str]:
    """Return the distributions that a requirements file names, those it includes as well."""
    found: set[str] = set()
    for written in (CODE / file).read_text().splitlines():
        line = written.split("#")[0].strip()
        if line.startswith("-r "):
            found |= named(line[3:].strip())
        elif match := re.match(r"([A-Za-z0-9_.-]+)(\[[^\]]*\])?", line):
            found.add(plain(match[1]))
            # psycopg[pool] brings psycopg-pool, and so on.
            found |= {plain(f"{match[1]}-{extra}") for extra in (match[2] or "[]")[1:-1].split(",")}
    return found


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def imported(folder: str) -> set[str]:
    """Return the packages that a folder's modules import, wherever in them."""
    found: set[str] = set()
    for path in (CODE / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.split(".")[0])
    return found - OURS - set(sys.stdlib_module_names)


# Parts of packages that are named: Celery stands on Kombu, psycopg's pool on its extra.
PARTS = {"kombu", "billiard", "amqp", "pydantic_core"}


@cache
def distributions() -> Mapping[str, list[str]]:
    return packages_distributions()


def missing(folders: tuple[str, ...], file: str) -> set[str]:
    have = named(file)
    homes = distributions()
    return {
        package
        for folder in folders
        for package in imported(folder)
        if package not in PARTS and not have & {plain(one) for one in homes.get(package, [package])}
    }


def test_product_imports_only_what_it_requires() -> None:
    assert missing(("memconsole", "records", "audits"), "requirements.txt") == set()


def test_tests_and_benchmarks_import_only_what_they_require() -> None:
    assert missing(("tests", "bench"), "requirements-dev.txt") == set()
