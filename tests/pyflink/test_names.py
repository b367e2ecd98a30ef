"""The list of PyFlink's names, and the recorder that makes it out of syntax trees."""

from __future__ import annotations

import ast

from penstock.pyflink.names import read
from tests.pyflink.record_names import merged, names, uses

SOURCE = """
from pyflink.common.time import Time
from pyflink.table import Table
from typing import List

class Kept(Base):
    FIRST = 1
    _hidden = 2
    def __init__(self, name, size=0): ...
    def map(self, value, *more, unit=None, **options): ...
    def _helper(self): ...
    @staticmethod
    def of(text): ...
    @property
    def name(self): ...
    def name_it(self):
        'Not here.'
        raise Exception("no")
    def override(self):
        raise NotImplementedError
    class Inner:
        def get(self): ...

class OfJava:
    def __init__(self, j_object): ...

class _Hidden: ...

def help(f): ...

def _install():
    setattr(package, "Old", Kept)
"""


def test_the_recorder_lists_what_is_public() -> None:
    listed = {name.path: (name.kind, name.parameters) for name in names("pyflink.common.x", ast.parse(SOURCE))}
    assert listed == {
        "Time": ("import", "pyflink.common.time.Time"),
        "Kept": ("class", "Base"),
        "Kept.FIRST": ("attribute", ""),
        "Kept.__init__": ("method", "name, size="),
        "Kept.map": ("method", "value, *more, unit=, **options"),
        "Kept.of": ("staticmethod", "text"),
        "Kept.name": ("property", ""),
        "Kept.name_it": ("refused", ""),
        "Kept.override": ("method", ""),
        "Kept.Inner": ("class", ""),
        "Kept.Inner.get": ("method", ""),
        "OfJava": ("class", ""),
        "help": ("function", "f"),
        "Old": ("import", "pyflink.….Kept"),
    }


def test_versions_that_agree_share_a_line() -> None:
    old = list(names("m", ast.parse("def same(a): ...\ndef other(a): ...\ndef gone(): ...")))
    new = list(names("m", ast.parse("def same(a): ...\ndef other(a, b=1): ...")))
    lines = {(name.versions, name.path, name.parameters) for name in merged({"1": old, "2": new})}
    assert lines == {("1+2", "same", "a"), ("1", "other", "a"), ("2", "other", "a, b="), ("1", "gone", "")}


def test_priorities_come_out_of_a_table() -> None:
    page = "## DataStream  (`m`)\n| `map(self, func)` | yes | ~137 | P0 |\n| `__init__(self)` | no | 4 | P2 |\n"
    assert uses(page) == {"DataStream.map": ("P0", "137"), "DataStream.__init__": ("P2", "4")}


def test_the_list_is_whole() -> None:
    listed = list(read())
    assert listed == sorted(listed)
    assert len(listed) > 2_000
    assert {name.versions for name in listed} == {"1.20", "2.3", "1.20+2.3"}
    assert sum(name.kind == "class" for name in listed) > 350
    assert sum(name.priority in ("P0", "P1") for name in listed) > 436
    by_path = {(name.module, name.path): name.parameters for name in listed}
    assert by_path["pyflink.datastream.data_stream", "DataStream.map"] == "func, output_type="
