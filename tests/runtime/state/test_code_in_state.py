"""State with code pickled by value: another Python refuses it, before it unpickles anything."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

import penstock
from penstock.common import Types
from penstock.datastream import ValueStateDescriptor
from penstock.errors import InvalidProgramError
from penstock.runtime.checkpoint.state_series import load, save
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state import class_changes
from penstock.runtime.state.class_changes import Reading
from penstock.runtime.state.classes import PYTHON, Noted
from penstock.runtime.state.files import AboutOperator
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_state import OperatorState
from penstock.runtime.state.store import handle_of

ABOUT = AboutOperator("ab" * 16, "count", "my-uid", 0, 1, 128)
STRING = Types.STRING()
X = ValueStateDescriptor("x")
VERSIONS = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
FOLDERS = {minor: os.pathsep.join(map(str, VERSIONS.glob(f"3.{minor}.*/bin"))) for minor in range(10, 15)}
OTHERS = [path for minor, folders in FOLDERS.items() if (path := shutil.which(f"python3.{minor}", path=folders))]
"""The interpreters of pyenv, where it is installed."""


def local_class():
    class Local:
        def method(self):
            return 1

    return Local()


def fresh(key_type: Any = STRING):
    keyed = KeyedState(KeyHash(key_type), 128)
    keyed.track()
    return keyed


def written(folder, value, key_type: Any = STRING):
    keyed = fresh(key_type)
    keyed.enter("k")
    handle_of(keyed, X).update(value)
    return save(str(folder), keyed, None, ABOUT, (), 1)


def read(folder, chain):
    keyed, state = fresh(), OperatorState()
    load(str(folder), [chain], keyed, state, ABOUT)
    keyed.enter("k")
    return handle_of(keyed, X).value()


class Never:
    """Tells when it is unpickled."""

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return Path.touch, (self.place,)


@pytest.fixture
def another(monkeypatch):
    monkeypatch.setattr(class_changes, "PYTHON", "cpython 3.99")


@pytest.mark.parametrize("value", [lambda: [lambda: 0], local_class, lambda: defaultdict(lambda: [0, 0])])
def test_code_is_noted_with_the_python_that_compiled_it(value):
    noted = Noted()
    noted.dumps(value())
    assert noted.forms["types:CodeType"] == {"kind": "code", "python": PYTHON}
    Reading(noted.forms)  # this Python reads it


@pytest.mark.parametrize("value", [defaultdict(list), len, Path("a"), json.loads, [written], Never])
def test_what_goes_by_its_name_has_no_code(value):
    noted = Noted()
    noted.dumps(value)
    assert "types:CodeType" not in noted.forms


def test_the_same_python_goes_on(tmp_path):
    values = read(tmp_path, written(tmp_path, defaultdict(lambda: [0, 0], a=1)))
    assert (values["a"], values["b"]) == (1, [0, 0])


def test_another_python_is_refused_before_anything_is_unpickled(tmp_path, another):
    chain = written(tmp_path, [lambda: 0, Never(tmp_path / "unpickled")])
    with pytest.raises(InvalidProgramError) as failure:
        read(tmp_path, chain)
    assert not (tmp_path / "unpickled").exists()
    text = str(failure.value)
    assert "the state of operator 'count' (OperatorID " + "ab" * 16 + ", uid 'my-uid')" in text
    assert f"pickled with their code by {PYTHON}, and this is cpython 3.99" in text
    assert f"Run the program once more with {PYTHON}, changed so that state holds no such thing" in text
    assert "migrated_by(dict)" in text


def test_operator_state_is_refused_too(tmp_path, another):
    state = OperatorState()
    state.list("list").append(lambda: Never(tmp_path / "unpickled"))
    chain = save(str(tmp_path), None, state, ABOUT, (), 1)
    with pytest.raises(InvalidProgramError, match="pickled with their code"):
        load(str(tmp_path), [chain], None, OperatorState(), ABOUT)


def test_the_way_out_is_one(tmp_path, monkeypatch):
    chain = written(tmp_path, defaultdict(lambda: [0, 0], a=1))
    plain = ValueStateDescriptor("x").migrated_by(dict)
    keyed = fresh()
    load(str(tmp_path), [chain], keyed, None, ABOUT)
    handle_of(keyed, plain)
    chain = save(str(tmp_path), keyed, None, ABOUT, chain, 2)
    monkeypatch.setattr(class_changes, "PYTHON", "cpython 3.99")
    keyed = fresh()
    load(str(tmp_path), [chain], keyed, None, ABOUT)
    keyed.enter("k")
    assert handle_of(keyed, plain).value() == {"a": 1}


READ = """
import json, sys
from penstock.datastream import ValueStateDescriptor
from penstock.errors import InvalidProgramError
from penstock.runtime.checkpoint.state_series import load
from penstock.runtime.config.tasks import StateFile
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.files import AboutOperator
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.store import handle_of

folder, chain, about = json.load(sys.stdin)
keyed = KeyedState(KeyHash(None), 128)
try:
    load(folder, [[StateFile(**each) for each in chain]], keyed, None, AboutOperator(**about))
    keyed.enter("k")
    print(handle_of(keyed, ValueStateDescriptor("x")).value()["b"])
except InvalidProgramError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("python", OTHERS, ids=lambda path: Path(path).name)
def test_another_python_that_is_there_refuses_it(tmp_path, python):
    chain = written(tmp_path, defaultdict(lambda: [0, 0], a=1), key_type=None)
    (tmp_path / "cloudpickle").symlink_to(Path(cloudpickle.__file__).parent)
    paths = [str(Path(penstock.__file__).parent.parent), str(tmp_path)]
    request = json.dumps([str(tmp_path), [asdict(file) for file in chain], asdict(ABOUT)])
    done = subprocess.run(
        [python, "-c", READ],
        input=request,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    assert done.returncode == 0, done.stderr
    same = f"{sys.version_info.major}.{sys.version_info.minor}" == Path(python).name.removeprefix("python")
    assert ("[0, 0]" if same else f"with their code by {PYTHON}, and this is") in done.stdout
