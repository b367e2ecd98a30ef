"""What stays in Python, with the reason and the place of the expression."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

import pytest

from penstock.compiler.functions import compile_aggregate, compile_function
from penstock.compiler.program import Compiled, Refusal

PREAMBLE = """\
import random, time, logging, uuid, math, re
from penstock.datastream.functions import MapFunction, AggregateFunction
counter = 0
table = {"a": 1}
NAMES = {"a": [1]}
WORDS = ["x"]
GROWS = []
def add_to():
    global counter
    counter += 1
    GROWS.append(1)
class Odd:
    pass
"""
COUNT = 0


def load(source: str) -> Any:
    """The variable ``f`` of a program behind the preamble, with a source that can be looked up."""
    global COUNT
    COUNT += 1
    name = f"<refusal {COUNT}>"
    text = PREAMBLE + source
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    variables: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, name, "exec"), variables)
    return variables["f"]


def refusal(source: str, kind: str = "map") -> Refusal:
    result = compile_function(load(source), kind)
    assert isinstance(result, Refusal), result
    return result


REFUSED = [
    ("f = lambda x: ¦print(x)", "print() prints"),
    ("f = lambda x: (x, ¦time.time())", "time.time() reads a clock or waits"),
    ("f = lambda x: ¦random.random() + x", "random.random() is random"),
    ("f = lambda x: ¦uuid.uuid4()", "uuid.uuid4() is random"),
    ("f = lambda x: ¦logging.info(x)", "logging.info() writes a log"),
    (
        "import datetime\nf = lambda x: ¦datetime.datetime.fromtimestamp(x)",
        "datetime.datetime.fromtimestamp() depends on the time zone of the process",
    ),
    ("f = lambda x: ¦math.gamma(x)", "calls math.gamma(): its result is not known to be the same"),
    ("f = lambda x: ¦hash(x)", "hash() depends on the process"),
    ("f = lambda x: ¦Odd()", "calls Odd(), which is not known to have no effects"),
    ("f = lambda x: ¦re.match('a', x)", "a match is used for more than its groups"),
    ("f = lambda x: ¦re.split(x, 'a')", "calls re.split(): search, match, fullmatch"),
    ("f = lambda x: ¦re.match('a', x).end()", "a match is used for more than its groups"),
    ("f = lambda x: ¦re.findall('(a)\\\\1', x)", "a pattern that refers to groups, or looks ahead or behind"),
    ("f = lambda x: ¦re.findall('a(?=b)', x)", "a pattern that refers to groups, or looks ahead or behind"),
    ("f = lambda x: ¦re.findall('(a)+', x)", "a pattern whose groups are repeated, or one of several"),
    ("f = lambda x: ¦re.findall('(?:a*)+', x)", "a pattern that repeats what can be empty"),
    ("f = lambda x: ¦re.findall('(?a)\\\\w', x)", "a pattern with such flags"),
    ("f = lambda x: ¦re.findall('(?i)é', x)", "a pattern with letters beyond ASCII, whose case does not matter"),
    ("f = lambda x: ¦re.findall(b'a', x)", "calls re.findall(): search, match, fullmatch"),
    ("f = lambda x: ¦re.sub('a', '\\\\n', x)", "what takes the place of a pattern refers to groups"),
    ("f = lambda x: re.match('(a)', x).group(¦2)", "a group of a match must be a number or name"),
    ("f = lambda x: ¦x(1)", "calls what is only known when it runs"),
    ("f = lambda x: ¦x.append(1)", ".append() changes an object"),
    ("f = lambda x: ¦x.frobnicate()", ".frobnicate() is not a method that can be translated"),
    ("f = lambda x: isinstance(x, ¦Odd)", "isinstance() of a class that programs do not have"),
    ("f = lambda x: ¦counter + x", "reads counter, which a function of its file assigns"),
    ("f = lambda x: ¦table[x]", "reads table, a dict that may be changed"),
    ("f = lambda x: ¦GROWS[0]", "reads GROWS, a list that may be changed"),
    ("f = lambda x: ¦WORDS", "WORDS is shared: the result would hold the list itself"),
    ("f = lambda x: ¦NAMES[x]", "reads NAMES, whose items can be changed"),
    ("f = lambda x: ¦nowhere + x", "nowhere is not defined"),
    ("f = lambda x: ¦2**3 if x else ¦99999999999999999999", "has a whole number of more than 64 bits"),
    ("f = lambda x: '¦\\ud800'", "has a text with half of a surrogate pair"),
    ("f = lambda x: ¦{x, 1}", "a set can only be asked whether something is in it"),
    ("f = lambda x: ¦(y for y in x)", "a generator is not a value"),
    ("f = lambda x: ¦zip(x, x)", "the result of zip() can only be gone through where it is written"),
    ("f = lambda x: ¦x.items()", "the result of .items() is not a value that a program can keep"),
    ("f = lambda x: x is ¦x", "only None, True and False can be compared with is"),
    ("f = lambda x: f'{x:{x}}'", "a format that depends on values cannot be translated"),
    ("f = lambda x: ¦lambda: x", "a function cannot be a value"),
    ("f = lambda x: ¦'%s' % x", "what fills % of a text must be written as a tuple"),
    ("f = lambda *x: 1", "takes any number of arguments"),
    ("f = lambda x, y: 1", "is called without y"),
    ("async def f(x): pass", "is async"),
    ("def f(x):\n    yield x", "is a generator, and its result is used as a value"),
    ("def f(x):\n    ¦x.a = 1", "assigns an attribute, which other code could see"),
    ("def f(x):\n    ¦x[0] = 1", "assigns an item, which other code could see"),
    ("def f(x):\n    ¦x[0] += 1", "assigns an item, which other code could see"),
    ("def f(x):\n    ¦global counter\n    counter = x", "assigns a global variable"),
    ("def f(x):\n    ¦with open(x) as file:\n        pass", "with cannot be translated: what it opens has effects"),
    ("def f(x):\n    ¦del x", "del cannot be translated"),
    ("def f(x):\n    for y in x:\n        pass\n    else:\n        ¦return 1", "else of a loop cannot be translated"),
    ("def f(x):\n    ¦def g(): pass\n    return 1", "defines a function"),
    ("def f(x):\n    try:\n        return 1\n    finally:\n        ¦x = 1", "finally cannot be translated"),
    ("def f(x):\n    out = []\n    out.append(x)\n    y = ¦out\n    return y", "out is kept elsewhere while it can"),
    ("def f(x):\n    out = []\n    for y in out:\n        out.append(y)", "out grows while the loop goes through it"),
    ("def f(x):\n    ¦out = x\n    out.append(1)\n    return out", "what is changed must be a new list or dict"),
    ("def f(x):\n    return ¦f(x - 1)", "f calls itself"),
    ("def g(x):\n    return ¦print(x)\nf = lambda x: g(x)", "print() prints"),
    ("class C(MapFunction):\n    def map(self, x):\n        ¦self.n = x\n        return x\nf = C()", "assigns an attr"),
    (
        "class C:\n    n = 0\n    def map(self, x): return ¦self.n\n    def g(self): self.n = 1\nf = C()",
        "reads self.n, which a method of C assigns",
    ),
    (
        "¦class C(MapFunction):\n    def map(self, x): return x\n    def open(self, c): self.a = c.x\nf = C()",
        "C has its own open()",
    ),
    (
        "def close(self): self.x.y()\nclass C:\n    map = lambda self, x: x\nC.close = close\nf = C()",
        "C has its own close()",
    ),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_a_refusal_has_a_reason_and_a_place(case: int) -> None:
    marked, reason = REFUSED[case]
    result = refusal(marked.replace("¦", ""))
    assert result.reason.startswith(reason)
    assert result.file is not None
    assert result.line is not None
    place = marked.rfind("¦")
    if place >= 0 and "its own" not in reason and "any number" not in reason:
        before = marked[:place].replace("¦", "")
        line = PREAMBLE.count("\n") + before.count("\n") + 1
        column = len(before.rpartition("\n")[2]) + 1
        assert (result.line, result.column) == (line, column) or "surrogate" in reason
        assert str(result).endswith(f":{result.line}:{result.column})")


ACCEPTED = [
    "f = lambda x: WORDS[0] + x",
    "f = lambda x: x in WORDS or len(WORDS)",
    "f = lambda x: [w for w in WORDS]",
    "def f(x, known={'a': 1}):\n    return known.get(x)",
    "class C:\n    n = 3\n    def map(self, x): return x > self.n\n    def open(self, c):\n        pass\nf = C()",
    "class C(MapFunction):\n    def map(self, x): return x\n    def open(self, c):\n        super().open(c)\nf = C()",
]


@pytest.mark.parametrize("source", ACCEPTED)
def test_what_is_close_to_a_refusal_is_compiled(source: str) -> None:
    result = compile_function(load(source), "map")
    assert isinstance(result, Compiled), str(result)


def test_a_shadowed_builtin_is_not_the_builtin() -> None:
    assert refusal("len = Odd()\nf = lambda x: len(x)").reason == "calls len(), which is not known to have no effects"
    compiled = compile_function(load("def len(x):\n    return x + 1\nf = lambda x: len(x)"), "map")
    assert isinstance(compiled, Compiled)
    assert compiled.functions == ("len",)


def test_constants_of_another_module_that_changes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "tables_1.py").write_text("TABLE = {'a': 1}\n")
    (tmp_path / "tables_2.py").write_text("TABLE = {'a': 1}\ndef put(key):\n    TABLE[key] = 1\n")
    for number, kind in ((1, Compiled), (2, Refusal)):
        for source in (
            "from tables_{} import TABLE\nf = lambda x: TABLE[x]",
            "import tables_{} as t\nf = lambda x: t.TABLE[x]",
        ):
            assert type(compile_function(load(source.format(number)), "map")) is kind


def test_large_constants() -> None:
    assert refusal("WORDS = tuple('word' * 100 for _ in range(10000))\nf = lambda x: x in WORDS").reason == (
        "its constants have more than 1 MB"
    )


class Trap:
    __eq__ = __hash__ = property(lambda self: 1 / 0)

    def __call__(self, value: Any) -> Any:
        return value


def test_objects_that_cannot_be_looked_at() -> None:
    assert isinstance(compile_function(Trap(), "map"), Compiled | Refusal)


def test_an_aggregate_whose_add_has_effects() -> None:
    source = """
class A(AggregateFunction):
    def create_accumulator(self): return 0
    def add(self, value, accumulator):
        print(value)
        return accumulator
    def get_result(self, accumulator): return accumulator
    def merge(self, a, b): return a + b
f = A()
"""
    result = compile_aggregate(load(source))
    assert isinstance(result, Refusal)
    assert result.reason == "print() prints"


PROCESS = """\
from penstock.datastream import *
SHARED = []
class Leaking(AggregateFunction):
    def create_accumulator(self): return []
    def add(self, value, accumulator):
        accumulator.append(value)
        return accumulator
    def get_result(self, accumulator): return accumulator
class Shared(Leaking):
    def create_accumulator(self): return SHARED
    def get_result(self, accumulator): return len(accumulator)
class Nested(Shared):
    def create_accumulator(self): return [[]]
    def add(self, value, accumulator):
        accumulator[0].append(value)
        return accumulator
class F(KeyedProcessFunction):
    def __init__(self):
        self.plain = [1]
    def open(self, context):
        self.value = context.get_state(None)
        self.second = context.get_state(None)
        self.list = context.get_list_state(None)
        self.map = context.get_map_state(None)
        self.reducing = context.get_reducing_state(None)
        function = max
        self.other = context.get_aggregating_state(AggregatingStateDescriptor("other", function, None))
        self.printing = context.get_reducing_state(ReducingStateDescriptor("p", lambda a, b: print(a) or b, None))
        self.leaking = context.get_aggregating_state(AggregatingStateDescriptor("leaking", Leaking()))
        self.shared = context.get_aggregating_state(AggregatingStateDescriptor("shared", Shared()))
        self.nested = context.get_aggregating_state(AggregatingStateDescriptor("nested", Nested()))
        self.either = context.get_state(None)
        self.either = None
        self.late = context.get_state(None)
    def close(self):
        self.late = None
    def helper(self, ctx):
        return ctx.time_domain()
    def process_element(self, value, ctx):
        {}
f = F()
"""
REFUSED_PROCESS = [
    ("¦self.reducing.get()", "the function of the reducing state reducing is not known before open() runs"),
    ("yield ¦self.other.get()", "the function of the aggregating state other is not known before open() runs"),
    ("self.printing.add(value)", "print() prints"),
    ("¦self.leaking.add(value)", "add() changes an accumulator that other code could see"),
    ("self.shared.add(value)", "SHARED is shared"),
    ("self.nested.add(value)", "changes an object"),
    ("¦self.map[0], value = value", "assigns an item, which other code could see"),
    (
        "x = self.value.value()\n        x.append(1)\n        self.second.update(x)",
        "what is changed must be a new list",
    ),
    ("x = self.value.value()\n        x.append(1)\n        yield ¦x", "x is kept elsewhere while it can still grow"),
    ("x = self.value.value() or {}\n        x[1] = 2\n        yield ¦x", "x is kept elsewhere while it can still grow"),
    (
        "x = self.value.value() or {1: 2}\n        x[1] = 2\n        self.value.update(x)",
        "what is changed must be a new list",
    ),
    ("x = self.value.value()\n        y = ¦x\n        y.append(1)", "what is changed must be a new list"),
    (
        "x = self.value.value()\n        x.append(1)\n        yield from (self.value.value() for _ in x)",
        "be a new list",
    ),
    ("x = value\n        x = self.value.value()\n        x.append(1)", "what is changed must be a new list"),
    ("yield self.map.get(¦1, 2)", "this call cannot be translated"),
    ("yield len(¦self.map)", "self.map is used for more than its own methods"),
    ("x = ¦self.map.put(1, 2)", "put() of this state is Python's, where its result is used"),
    ("yield sum(¦self.map.get(key) for key in value)", "a generator uses the object or the context of its function"),
    (
        "state = self.map\n        yield sum(¦state.get(key) for key in value)",
        "a generator uses the object or the context of its function",
    ),
    ("yield state\n        state = self.map", "self.map is used for more than its own methods"),
    ("if value:\n            state = ¦self.map", "self.map is used for more than its own methods"),
    ("¦del value[0]", "del cannot be translated"),
    ("yield ¦self.value", "self.value is used for more than its own methods"),
    ("x = ¦self.value.update(value)", "update() of this state is Python's, where its result is used"),
    ("x = ¦self.list.get()", "what a list state gives can only be gone through where it is written"),
    ("self.value.value().append(¦1)", "append"),
    ("yield sum(¦self.value.value() for _ in range(3))", "a generator uses the object or the context of its function"),
    ("yield from map(lambda x: ¦ctx.timestamp(), value)", "a generator uses the object or the context of its function"),
    ("¦ctx.time_domain()", "the context is used for more than its key"),
    ("yield self.helper(ctx)", "the context is used for more than its key"),
    ("yield ¦ctx.time_domain() == value", "time_domain() can only be compared with a TimeDomain"),
    ("yield ¦ctx", "reads ctx, "),
    ("yield self.¦either.value()", "either"),
    ("yield self.¦late.value()", "late"),
    ("yield self.¦plain", "plain"),
]


@pytest.mark.parametrize(("line", "reason"), REFUSED_PROCESS)
def test_process_functions(line: str, reason: str) -> None:
    result = refusal(PROCESS.format(line.replace("¦", "")), "process")
    assert reason in result.reason
