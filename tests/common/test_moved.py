"""Modules that are gone: their names can be imported from there, and a warning says where they are now."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest

from penstock._moved import MOVED, PICKLED
from tests.typed.test_pyflink_names import NAMES

PROGRAM = """
from penstock.datastream.output_tag import OutputTag
import penstock.datastream
print(OutputTag is penstock.datastream.OutputTag)
import penstock.common.types as types
try:
    types.Column
except AttributeError as error:
    print(error)
"""


@pytest.mark.parametrize("module", MOVED)
def test_the_names_are_those_of_the_new_module(module: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"^{module} is deprecated: import its names from {MOVED[module]}\.$"):
        find_spec(module).loader.exec_module(moved := type(sys)(module))  # type: ignore[union-attr]
    names = NAMES[module.removeprefix("penstock.")].split()
    assert names
    assert [name for name in names if getattr(moved, name) is not getattr(import_module(MOVED[module]), name)] == []


def test_a_program_is_warned_at_its_own_line() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert run.stdout == "True\nmodule 'penstock.common' has no attribute 'Column'\n"
    assert run.stderr == (
        "<string>:2: DeprecationWarning: penstock.datastream.output_tag is deprecated: import its names from "
        "penstock.datastream.\n"
        "<string>:5: DeprecationWarning: penstock.common.types is deprecated: import its names from penstock.common.\n"
    )


@pytest.mark.parametrize("module", PICKLED)
def test_pickles_find_the_classes_of_the_new_module(module: str) -> None:
    now = import_module(PICKLED[module])
    classes = [name for name, value in vars(now).items() if getattr(value, "__module__", "") == now.__name__]
    assert classes or module == "penstock.runtime.kafka"
    for name in classes:
        assert pickle.loads(f"c{module}\n{name}\n.".encode()) is getattr(now, name)
