"""Imports go one way, and importing the package stays cheap."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import penstock

pytestmark = pytest.mark.slow

ROOT = Path(penstock.__file__).parent

MAY_IMPORT = {
    "errors": set(),
    "display": set(),
    "metrics": {"errors", "display"},
    "storage": {"errors", "common"},
    "common": {"errors", "display", "metrics"},
    "runtime": {"errors", "metrics", "storage", "common", "_native"},
    "connectors": {"errors", "storage", "common", "runtime"},
    "job": {"errors", "metrics", "storage", "common", "compiler", "runtime", "connectors", "plan", "flink", "analysis"},
    "savepoints": {"errors", "storage", "common", "runtime", "connectors", "job", "plan", "flink", "spark"},
    "flink": {"errors", "storage", "common", "analysis", "plan"},
    "analysis": {"errors", "display", "metrics", "common", "compiler", "runtime", "_native"},
    "plan": {"errors", "display", "common", "analysis", "_native"},
    "compare": {"display", "runtime", "job", "flink", "analysis", "_native"},
    "lock": {"errors", "common", "analysis", "compare"},
    "lint": {"errors", "display", "common", "compiler", "runtime", "connectors", "analysis", "plan"},
    "viewer": {"errors", "metrics", "storage", "job", "analysis", "plan", "compare"},
    "compiler": {"common", "runtime"},
    "datastream": {"errors", "storage", "common", "compiler", "runtime", "connectors", "plan"},
    "pyflink": {"errors", "common", "plan", "datastream"},
    "local": {"errors", "common", "runtime", "job", "plan"},
    "spark": {"errors", "storage", "common", "runtime", "connectors", "job", "plan"},
    "testing": {"errors", "metrics", "common", "runtime", "job", "analysis", "plan", "datastream"},
    "pytest_plugin": {"datastream", "testing"},
}
"""Parts of the package that each part may import, at the top of a module or inside a function; the command line may
import everything."""

ABOVE_THE_RUNTIME = {"pyspark", "penstock._native", "penstock.plan", "penstock.datastream", "penstock.spark"}


def imported(tree: ast.AST) -> set[str]:
    """The parts of the package that a module imports."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names |= {node.module} if node.module != "penstock" else {f"penstock.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("penstock.")}


@pytest.mark.parametrize("part", MAY_IMPORT)
def test_nothing_points_back(part: str) -> None:
    files = sorted((ROOT / part).rglob("*.py")) or [ROOT / f"{part}.py"]
    for file in files:
        back = imported(ast.parse(file.read_text())) - MAY_IMPORT[part] - {part}
        assert not back, f"{file.relative_to(ROOT)} imports {back}"


def test_the_runtime_has_one_door_to_the_native_module() -> None:
    users = [
        file.name for file in (ROOT / "runtime").rglob("*.py") if "_native" in imported(ast.parse(file.read_text()))
    ]
    assert users == ["native.py"]


def test_every_part_has_a_law() -> None:
    parts = {path.stem for path in ROOT.iterdir() if path.suffix in ("", ".py") and not path.name.startswith("_")}
    assert parts - {"cli"} == MAY_IMPORT.keys()


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("penstock", {"pyspark", "pyarrow", "penstock._native", "penstock.datastream"}),
        ("penstock.datastream", {"pyspark", "pyarrow", "confluent_kafka", "pandas", "fsspec", "penstock._native"}),
        ("penstock.datastream", {"asyncio", "penstock.compiler", "penstock.common.column_types"}),
        ("penstock.datastream", {"penstock.datastream.connectors", "penstock.datastream.formats"}),
        ("penstock.runtime.task.task", {*ABOVE_THE_RUNTIME, "confluent_kafka"}),
        ("penstock.job.steps.outputs", ABOVE_THE_RUNTIME),
        ("penstock.local", {"pyspark", "pyarrow", "pandas", "fsspec", "penstock._native"}),
        ("penstock.spark", {"pyspark", "pyarrow", "pandas", "penstock._native"}),
        ("penstock.savepoints", {"pyspark", "pyarrow", "pandas", "penstock._native", "penstock.datastream"}),
        ("penstock.plan", {"pyspark", "pyarrow"}),
        ("penstock.analysis.builder", {"pyspark", "pyarrow", "pandas", "rich", "penstock.datastream"}),
        ("penstock.cli", {"pyspark", "pyarrow", "rich"}),
    ],
)  # fmt: skip
def test_what_an_import_does_not_load(module: str, forbidden: set[str]) -> None:
    code = f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(run.stdout))
    assert module in loaded
    assert not loaded & forbidden
