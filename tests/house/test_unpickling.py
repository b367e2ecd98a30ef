"""Unpickling runs code, so each module that does it is listed here with the reason why its bytes can be trusted."""

from __future__ import annotations

import ast
from pathlib import Path

import penstock

PACKAGE = Path(penstock.__file__).parent
TRUSTED = {
    "connectors/kafka/records.py": "marshal reads plain values only: pending files, in the user's own folder",
    "job/folder/manifest.py": "manifests of the checkpoint directory; SECURITY.md names it, commands read without",
    "runtime/buffers/codec.py": "rows between the tasks of one job, and copies within a task",
    "runtime/state/class_changes.py": "state files; SECURITY.md names them",
    "runtime/state/disk/cells.py": "a file of this task's own",
    "runtime/state/disk/timers.py": "a file of this task's own",
    "testing/sources.py": "copies within a test",
}
LOADERS = {"loads", "load", "Unpickler"}
MODULES = {"pickle", "marshal", "cloudpickle", "dill", "shelve"}


def unpickles(source: str) -> bool:
    """Whether a module calls or derives from something that unpickles."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in MODULES and name in LOADERS:
                return True
            case ast.ImportFrom(module=module, names=names) if module in MODULES:
                if LOADERS & {name.name for name in names}:
                    return True
    return False


def test_every_module_that_unpickles_is_listed_with_its_reason() -> None:
    files = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    assert {name for name, source in files.items() if unpickles(source)} == TRUSTED.keys()


def test_what_unpickles_is_seen() -> None:
    assert unpickles("import pickle\npickle.loads(data)")
    assert unpickles("from pickle import Unpickler")
    assert not unpickles("import json\njson.loads(text)")
