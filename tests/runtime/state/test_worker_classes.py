"""Classes of the program's own main module, in state that workers write: they have no such module."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import make_dataclass

import cloudpickle

from penstock.runtime.state.classes import Noted, find_class

WORKER = """
import sys, pickle
sys.modules["__main__"].__dict__.pop("Basket", None)
from penstock.runtime.state.class_changes import Reading
from penstock.runtime.state.classes import Noted
program, forms, data = pickle.load(sys.stdin.buffer)
cls = pickle.loads(program)
if data is None:
    noted = Noted()
    data = noted.dumps([cls(1)])
    sys.stdout.buffer.write(pickle.dumps((noted.forms, data)))
else:
    (found,) = Reading(forms).loads(data)
    sys.stdout.buffer.write(pickle.dumps((type(found) is cls, vars(found))))
"""


def in_worker(cls, forms=None, data=None):
    """In another process, in which the class is no module's."""
    request = pickle.dumps((cloudpickle.dumps(cls), forms, data))
    done = subprocess.run([sys.executable, "-c", WORKER], input=request, stdout=subprocess.PIPE, check=True)
    return pickle.loads(done.stdout)


def test_classes_of_the_program_itself_are_what_they_are_now_in_workers_too():
    def define(*names):
        cls = make_dataclass("Basket", [(name, int, 7) for name in names])
        cls.__module__, cls.__qualname__ = "__main__", "Basket"
        return cls

    forms, data = in_worker(define("a"))
    assert forms == {"__main__:Basket": {"kind": "dataclass", "fields": ["a"]}}
    assert in_worker(define("a"), forms, data) == (True, {"a": 1})
    assert in_worker(define("a", "b"), forms, data) == (True, {"a": 1, "b": 7})
    assert in_worker(define("b"), forms, data) == (True, {"b": 7})


def test_a_class_of_which_there_are_two_goes_by_value():
    """Its name would lead to the other one, as where a class of a function is made by each of its calls."""

    def define(field):
        cls = make_dataclass("Local", [(field, int)])
        cls.__module__, cls.__qualname__ = "nobodys", "define.<locals>.Local"
        cloudpickle.loads(cloudpickle.dumps(cls))
        return cls

    one, other = define("a"), define("b")
    assert find_class("nobodys", "define.<locals>.Local") is other
    for cls in (one, other):
        (obj,) = pickle.loads(Noted().dumps([cls(1)]))
        assert type(obj) is cls
