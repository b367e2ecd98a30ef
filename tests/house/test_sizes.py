"""Small functions, small files, and a word at the door of each room."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import penstock

pytestmark = pytest.mark.slow

PACKAGE = Path(penstock.__file__).parent
ROOT = Path(__file__).parents[2]
FOLDERS = {"python/penstock": PACKAGE, "tests": ROOT / "tests", "benches": ROOT / "benches"}

LONGEST_FUNCTION = 60  # what is longer wants a second look; nothing is split only to be shorter
LONGEST_FILE = 600


def files(folder: str) -> dict[str, str]:
    """The Python files of a folder by path from the root of the repository, as texts."""
    paths = sorted(FOLDERS[folder].rglob("*.py"))
    return {f"{folder}/{path.relative_to(FOLDERS[folder])}": path.read_text() for path in paths}


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_function_is_longer_than_the_limit(folder: str) -> None:
    """From its ``def`` on, without decorators."""
    lengths = {
        f"{path} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path, text in files(folder).items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    assert len(lengths) > 100
    assert {name: length for name, length in lengths.items() if length > LONGEST_FUNCTION} == {}


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_file_is_longer_than_the_limit(folder: str) -> None:
    lengths = {path: len(text.splitlines()) for path, text in files(folder).items()}
    assert len(lengths) > 20
    assert {path: length for path, length in lengths.items() if length > LONGEST_FILE} == {}


def test_every_room_says_what_lives_there() -> None:
    """In the first lines of its ``__init__``, in at least one whole sentence; and none is without an ``__init__``."""
    rooms = {path: text for path, text in files("python/penstock").items() if path.endswith("__init__.py")}
    assert len(rooms) > 15
    assert {path.rpartition("/")[0] for path in files("python/penstock")} == {path.rpartition("/")[0] for path in rooms}
    docstrings = {path: ast.get_docstring(ast.parse(text)) or "" for path, text in rooms.items()}
    assert {path: text for path, text in docstrings.items() if len(text.split()) < 6 or "." not in text} == {}
