"""The golden savepoints of PyFlink, and the programs that they are of."""

from __future__ import annotations

import atexit
import gzip
import importlib.util
import json
import shutil
import sys
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from penstock._native import operator_id
from penstock.flink import FlinkSavepoint, OperatorState
from penstock.pyflink.finder import PYFLINK, Py4JFinder, PyFlinkFinder, install

FOLDER = Path(__file__).parents[1] / "golden" / "pyflink_savepoints"
PROGRAMS = Path(__file__).with_name("programs.py")


@cache
def loaded() -> Any:
    """The module of the programs, whose ``pyflink`` is Penstock's."""
    install()
    try:
        spec = importlib.util.spec_from_file_location(PROGRAMS.stem, PROGRAMS)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.meta_path[:] = [entry for entry in sys.meta_path if not isinstance(entry, PyFlinkFinder | Py4JFinder)]
        for name in [name for name in sys.modules if name.partition(".")[0] == PYFLINK]:
            del sys.modules[name]
    return module


def _lines(name: str) -> tuple[dict[str, Any], ...]:
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return tuple(map(json.loads, file))


@cache
def lines() -> tuple[dict[str, Any], ...]:
    """What PyFlink did: a line for each program and version."""
    recorded = _lines("programs")
    assert len(recorded) == 60
    return recorded


@cache
def samples() -> tuple[dict[str, Any], ...]:
    """Values with the bytes of PyFlink's coders, and what these read of them."""
    return _lines("samples")


@cache
def unpacked() -> Path:
    """A folder with a folder for each version; in these one for each savepoint."""
    place = Path(tempfile.mkdtemp(prefix="pyflink-savepoints-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    for path in FOLDER.glob("*.tar.xz"):
        with tarfile.open(path) as archive:
            archive.extractall(place / path.name.removesuffix(".tar.xz"), filter="data")
    return place


def operator_of(savepoint: FlinkSavepoint, uid: str) -> OperatorState:
    """The operator with a uid, which Flink writes into savepoints from 2.0 on only."""
    return savepoint.by_id[operator_id(uid)]


def place(line: dict[str, Any]) -> str:
    """The path of the savepoint of a line."""
    return str(unpacked() / line["flink"] / line["name"])
