"""A program whose classes have changed goes on with the objects in its state, on both executors.

The classes are those of the program's own file, which go by value, and those of a module that is imported.
"""

from __future__ import annotations

import importlib
import re
import sys

import pytest
from cloudpickle.cloudpickle import _DYNAMIC_CLASS_TRACKER_BY_CLASS

from penstock.common import class_names
from penstock.datastream import ValueStateDescriptor
from penstock.errors import InvalidProgramError
from tests.job.steps.evolving import get, kept, put, run

IMPORTS = """
from dataclasses import dataclass, field
from enum import Enum, Flag
from typing import NamedTuple
from penstock.common import formerly
"""
OLD = (
    IMPORTS
    + """
@dataclass
class Gained:
    a: int

@dataclass(frozen=True, slots=True)
class Frozen:
    a: int

@dataclass
class Lost:
    a: int
    gone: int

@dataclass
class Ordered:
    a: int
    b: int

@dataclass
class Annotated:
    a: int

class Point(NamedTuple):
    x: int
    y: int

class Color(Enum):
    RED = 1
    GREEN = 2

class Rights(Flag):
    READ = 1
    WRITE = 2
    RUN = 4

@dataclass
class Older:
    a: int

class Asked:
    def __init__(self, a):
        self.a = a

class Other:
    def __init__(self, a):
        self.a = a

VALUES = {
    "gained": Gained(1), "frozen": Frozen(1), "lost": Lost(1, 2), "ordered": Ordered(1, 2), "annotated": Annotated(1),
    "point": Point(1, 2), "color": Color.GREEN, "rights": Rights.READ | Rights.RUN, "renamed": Older(1),
    "asked": Asked(1), "other": Other(1), "within": [{"k": Gained(Frozen(2))}],
}
"""
)
NEW = (
    IMPORTS
    + """
@dataclass
class Gained:
    more: list = field(default_factory=list)
    flag: bool = True
    a: int = 0

@dataclass(frozen=True, slots=True)
class Frozen:
    a: int
    more: list = field(default_factory=list)

@dataclass
class Lost:
    a: int

@dataclass
class Ordered:
    b: int
    a: int

@dataclass
class Annotated:
    a: str

class Point(NamedTuple):
    y: int
    x: int
    z: int = 5

class Color(Enum):
    BLUE = 1
    GREEN = 3
    RED = 2

class Rights(Flag):
    RUN = 1
    WRITE = 2
    READ = 8

@formerly("NAME.Older")
@dataclass
class Newer:
    a: int
    more: list = field(default_factory=list)

class Asked:
    def __setstate__(self, state):
        self.b = state["a"] + 1 if "a" in state else state["b"]

class Other:
    color = "blue"

KNOWN = [Gained, Frozen, Lost, Ordered, Annotated, Point, Color, Rights, Newer, Asked, Other]

def described(value):  # it names the classes, so that they go to the workers with it
    assert type(value) in (*KNOWN, list)
    return repr(value) if type(value) not in (Asked, Other) else f"{type(value).__name__}: {vars(value)}"
"""
)
EXPECTED = {
    "gained": "Gained(more=[], flag=True, a=1)",
    "frozen": "Frozen(a=1, more=[])",
    "lost": "Lost(a=1)",
    "ordered": "Ordered(b=2, a=1)",
    "annotated": "Annotated(a=1)",
    "point": "Point(y=2, x=1, z=5)",
    "color": "<Color.GREEN: 3>",
    "rights": None,  # whose text differs between versions of Python
    "renamed": "Newer(a=1, more=[])",
    "asked": "Asked: {'b': 2}",
    "other": "Other: {'a': 1}",
    "within": "[{'k': Gained(more=[], flag=True, a=Frozen(a=2, more=[]))}]",
}
REFUSED = {
    "Gained": ("@dataclass\nclass Gained:\n    a: int\n    b: list", "has gained the field 'b', which has no default"),
    "Color": ("class Color(Enum):\n    RED = 1", "no longer has the member 'GREEN', which is in use"),
    "Rights": ("class Rights(Flag):\n    READ = 1", "no longer has the member 'RUN', which is in use"),
    "Older": ("", "put @formerly("),
    "Annotated": ("class Annotated(NamedTuple):\n    a: int", "was a dataclass and is a namedtuple"),
}

KNOW = """
KNOWN = [cls for cls in globals().values() if isinstance(cls, type) and cls.__module__ == __name__]

def described(value):
    return type(value) in KNOWN
"""


@pytest.fixture(params=["the program's own file", "an imported module"])
def classes(request, tmp_path, monkeypatch):
    """What runs a text that defines classes; returns the names in it."""
    monkeypatch.setattr(class_names, "_FORMER", {})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setitem(sys.modules, "baskets", sys)

    def define(text):
        if request.param == "the program's own file":
            for cls in [cls for cls in _DYNAMIC_CLASS_TRACKER_BY_CLASS if cls.__module__ == "__main__"]:
                _DYNAMIC_CLASS_TRACKER_BY_CLASS.pop(cls)  # another run is another process
            names = {"__name__": "__main__"}
            exec(text.replace("NAME", "__main__"), names)
            return names
        (tmp_path / "baskets.py").write_text(text.replace("NAME", "baskets"))
        sys.modules.pop("baskets")
        importlib.invalidate_caches()
        return vars(importlib.import_module("baskets"))

    return define


def first(folder, names, **where):
    values = names["VALUES"]
    records = [(name, number) for number, name in enumerate(values)]
    run(folder, records, ValueStateDescriptor("x"), lambda state, at: put(state, list(values.values())[at]), **where)
    return len(values)


def again(folder, names, count, **where):
    records = [("none", 0)] * count + [(name, 0) for name in EXPECTED]
    describe = names["described"]
    return dict(run(folder, records, ValueStateDescriptor("x"), lambda state, _: describe(get(state, 0)), **where))


def assert_as_today(results, names):
    rights = names["Rights"]
    assert results == EXPECTED | {"rights": repr(rights.READ | rights.RUN)}


def test_objects_come_back_as_their_classes_are_now(classes, tmp_path):
    count = first(tmp_path / "job", classes(OLD))
    names = classes(NEW)
    assert_as_today(again(tmp_path / "job", names, count), names)
    (tmp_path / "seen").unlink()
    assert_as_today(again(tmp_path / "job", names, count + len(EXPECTED)), names)


@pytest.mark.parametrize("name", REFUSED)
def test_a_class_whose_objects_cannot_come_back_is_refused(classes, tmp_path, name):
    folder = tmp_path / "job"
    count = first(folder, classes(OLD))
    before = kept(folder)
    text, reason = REFUSED[name]
    (definition,) = (part for part in OLD.split("\n\n") if f"class {name}" in part)
    without_values = OLD.partition("VALUES =")[0]
    names = classes(without_values.replace(definition.strip(), text) + KNOW)
    with pytest.raises(InvalidProgramError, match=re.escape(reason)):
        again(folder, names, count)
    assert kept(folder) == before


@pytest.mark.spark
@pytest.mark.parametrize("classes", ["the program's own file"], indirect=True)
def test_objects_come_back_on_spark(classes, tmp_path, spark):
    count = first(tmp_path / "job", classes(OLD), spark=spark)
    names = classes(NEW)
    assert_as_today(again(tmp_path / "job", names, count, spark=spark), names)
