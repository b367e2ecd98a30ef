"""Messages are sentences, whatever they quote."""

from __future__ import annotations

import ast
import inspect
import pickle
from itertools import pairwise
from pathlib import Path

import pytest

import penstock
from penstock import errors
from penstock.errors import PenstockError, sentences

CLASSES = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, PenstockError)]
PLAIN = [cls for cls in CLASSES if cls.__init__ is PenstockError.__init__]
TELLERS = {"debug", "info", "warning", "error", "exception", "critical", "warn", "echo", "print", "write"}
QUOTED = {"error", "reason", "cause", "problem", "failure", "why", "said", "message"}


@pytest.mark.parametrize("cls", PLAIN)
def test_a_quoted_full_stop_ends_one_sentence_only(cls):
    reason = ValueError("it is damaged.")
    error = cls(f"The file cannot be read: {reason}. Put it back; or begin anew: {reason}.")
    text = "The file cannot be read: it is damaged. Put it back; or begin anew: it is damaged."
    assert str(error) == text
    assert str(pickle.loads(pickle.dumps(error))) == text


def test_former_names_lead_to_the_new_ones():
    with pytest.warns(DeprecationWarning, match="JobFolderError is now called CheckpointDirectoryError"):
        assert errors.JobFolderError is errors.CheckpointDirectoryError
    with pytest.warns(DeprecationWarning, match="FolderHeldError is now called DirectoryHeldError"):
        from penstock.errors import FolderHeldError
    assert FolderHeldError is errors.DirectoryHeldError


def test_there_are_classes_to_look_at():
    assert len(PLAIN) > 10


@pytest.mark.parametrize(
    "text", ["and so on...", "of .. and ../x", "the folder '..'.", "a.b..c", "1..5", "from ...", "a\n.. note", "x. Y."]
)
def test_other_dots_stay(text):
    assert sentences(text) == text


def test_what_is_told_without_an_error_quotes_nothing_before_a_full_stop():
    """Errors see to that themselves; what is logged or printed has to use ``sentences``."""
    places = []
    for path in sorted(Path(penstock.__file__).parent.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "attr", getattr(call.func, "id", "")) in TELLERS:
                places += [f"{path.name}:{call.lineno}" for text in call.args if _quotes(text)]
    assert places == []


def _quotes(argument: ast.expr) -> bool:
    parts = argument.values if isinstance(argument, ast.JoinedStr) else []
    for part, after in pairwise(parts):
        names = {name.id for name in ast.walk(part) if isinstance(name, ast.Name)}
        if isinstance(part, ast.FormattedValue) and part.conversion == -1 and names & QUOTED:
            text = after.value if isinstance(after, ast.Constant) else ""
            if isinstance(text, str) and (text == "." or text.startswith((". ", ".\n"))):
                return True
    return False
