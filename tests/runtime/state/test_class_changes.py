"""Objects in state whose class has changed since: they come back as the class is now, or not at all."""

from __future__ import annotations

import enum
import sys
import types
from collections import namedtuple
from dataclasses import MISSING, dataclass, field, make_dataclass
from dataclasses import fields as dataclass_fields

import cloudpickle
import pytest
from cloudpickle.cloudpickle import _DYNAMIC_CLASS_TRACKER_BY_CLASS, _DYNAMIC_CLASS_TRACKER_BY_ID

from penstock.common import Row, Types, class_names, formerly
from penstock.datastream import ListStateDescriptor, ValueStateDescriptor
from penstock.errors import InvalidProgramError, StateError
from penstock.job.pickled_code import pickle_operator
from penstock.runtime.buffers.codec import decode_value, dumps
from penstock.runtime.checkpoint.state_series import load, save
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.class_changes import Reading
from penstock.runtime.state.classes import Noted, find_class
from penstock.runtime.state.evolution import MIGRATION
from penstock.runtime.state.files import AboutOperator
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_state import OperatorState
from penstock.runtime.state.store import handle_of
from penstock.runtime.state.type_changes import Refusal

ABOUT = AboutOperator("ab" * 16, "count", "my-uid", 0, 1, 128)
X = ValueStateDescriptor("x")
KINDS = [{}, {"frozen": True}, {"slots": True}, {"frozen": True, "slots": True}, {"order": True}]


@pytest.fixture(params=["an imported module", "the program's own file", "a worker"])
def program(monkeypatch, request):
    """What defines a class of the program, called Basket if a test gives no other name; ``forget`` takes it away.

    A class of the program's own file is pickled by value. It is then the same class in the driver, with other fields
    set to it, and a copy in a worker.
    """
    module = types.ModuleType("shopprogram")
    by_value = request.param != "an imported module"
    if not by_value:
        monkeypatch.setitem(sys.modules, "shopprogram", module)
    monkeypatch.setattr(class_names, "_FORMER", {})

    defined = {}

    def forget(name="Basket"):
        cls = defined.pop(name, None)
        vars(module).pop(name, None)
        if by_value and cls is not None:
            _DYNAMIC_CLASS_TRACKER_BY_ID.pop(_DYNAMIC_CLASS_TRACKER_BY_CLASS.pop(cls, None), None)

    def define(cls, name="Basket"):
        forget(name)
        cls.__module__, cls.__qualname__, cls.__name__ = "shopprogram", name, name
        if by_value:
            data = pickle_operator(cls, name)
            if request.param == "a worker":
                _DYNAMIC_CLASS_TRACKER_BY_ID.pop(_DYNAMIC_CLASS_TRACKER_BY_CLASS.pop(cls))
            cls = cloudpickle.loads(data)
        setattr(module, name, cls)
        defined[name] = cls
        return cls

    define.forget = forget
    yield define
    for name in list(defined):
        forget(name)


def fields(*names, **kind):
    return make_dataclass("Basket", [(name, int) for name in names], **kind)


def through(program, old, new, *values):
    """An object, written by one class and read by another, and the class that it then has."""
    old = program(old)
    noted = Noted()
    data = noted.dumps([old(*values)])
    new = program(new)
    reading = Reading(noted.forms)
    (obj,) = reading.loads(data)
    assert type(obj) is new
    return obj, new


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_dataclass_that_gained_a_field(program, kind):
    more = [("more", list, field(default_factory=list)), ("flag", bool, True)]
    new = make_dataclass("Basket", [("a", int), ("b", int), *more], **kind)
    obj, new = through(program, fields("a", "b", **kind), new, 1, 2)
    assert obj == new(1, 2, [], True)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_dataclass_that_lost_a_field(program, kind):
    new = fields("b", **kind)
    obj, new = through(program, fields("a", "b", **kind), new, 1, 2)
    assert obj == new(2)
    assert not hasattr(obj, "a")


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_dataclass_in_another_order(program, kind):
    obj, new = through(program, fields("a", "b", **kind), fields("b", "a", **kind), 1, 2)
    assert obj == new(b=2, a=1)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_dataclass_that_had_no_field(program, kind):
    new = make_dataclass("Basket", [("a", int, 5)], **kind)
    obj, new = through(program, fields(**kind), new)
    assert obj == new(5)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_gained_field_without_a_default_is_named(program, kind):
    with pytest.raises(Refusal, match=r"shopprogram.Basket has gained the field 'b', which has no default"):
        through(program, fields("a", **kind), fields("a", "b", **kind), 1)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_class_with_copies_of_the_sentinel_for_no_default(program, kind):
    """As one that another pickler than ours has sent."""

    def copied(cls):
        for described in cls.__dataclass_fields__.values():
            for name in ("default", "default_factory"):
                if getattr(described, name) is MISSING:
                    setattr(described, name, type(MISSING)())
        return cls

    old = fields("a", **kind)
    new = copied(make_dataclass("Basket", [("a", int), ("b", list, field(default_factory=list))], **kind))
    obj, _ = through(program, old, new, 1)
    assert (obj.a, obj.b) == (1, [])
    with pytest.raises(Refusal, match="has gained the field 'b', which has no default"):
        through(program, old, copied(fields("a", "b", **kind)), 1)


def test_a_class_that_goes_by_value_keeps_the_sentinel_for_no_default(program):
    new = program(make_dataclass("Basket", [("a", int), ("b", list, field(default_factory=list))]))
    assert [field.default for field in dataclass_fields(new)] == [MISSING, MISSING]


def test_an_enum_that_goes_by_value_keeps_its_aliases(program):
    new = program(flags(R=1, W=2, ALL=3, CHANGE=2, NONE=0))
    names = [(name, member.value) for name, member in new.__members__.items()]
    assert names == [("R", 1), ("W", 2), ("ALL", 3), ("CHANGE", 2), ("NONE", 0)]
    assert new.ALL is new.R | new.W


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_class_that_has_objects_is_found_by_its_name(program, kind):
    """Methods of a frozen dataclass with slots hold on to a class of the same name, without slots."""
    cls = program(make_dataclass("Basket", [("a", int)], **kind))
    assert find_class("shopprogram", "Basket") is cls


def test_a_field_that_has_another_annotation(program):
    old = make_dataclass("Basket", [("a", int)])
    obj, new = through(program, old, make_dataclass("Basket", [("a", str)]), 1)
    assert obj == new(1)


def test_any_other_class_comes_back_with_its_attributes(program):
    def basket(color):
        return type("Basket", (), {"__init__": lambda self, a: setattr(self, "a", a), "color": color})

    obj, _ = through(program, basket("red"), basket("blue"), 1)
    assert (obj.a, obj.color) == (1, "blue")


def test_a_dataclass_that_is_as_it_was_is_read_as_always(program):
    basket = program(fields("a"))
    noted = Noted()
    noted.dumps([basket(1)])
    by_name = sys.modules.get("shopprogram") is not None
    assert (Reading(noted.forms).loads is decode_value) is by_name
    assert not Reading(noted.forms).changed


def test_attributes_that_are_no_fields_stay(program):
    old = program(fields("a"))
    basket = old(1)
    basket.note = "x"
    noted = Noted()
    data = noted.dumps(basket)
    new = program(make_dataclass("Basket", [("a", int), ("b", int, 2)]))
    obj = Reading(noted.forms).loads(data)
    assert (obj, obj.note) == (new(1, 2), "x")


def test_a_class_that_says_how_it_comes_back_is_asked(program):
    class Basket:
        def __setstate__(self, state):
            self.b = state["a"] + 1

    old = program(fields("a"))
    noted = Noted()
    data = noted.dumps(old(1))
    program(Basket)
    assert Reading(noted.forms).loads(data).b == 2


def test_a_dataclass_within_dataclasses(program):
    inner, outer = program(fields("a"), "Inner"), program(fields("b"), "Outer")
    noted = Noted()
    data = noted.dumps({"k": [outer(inner(1))]})
    inner = program(make_dataclass("Inner", [("a", int), ("more", int, 9)]), "Inner")
    outer = program(make_dataclass("Outer", [("b", int), ("more", int, 9)]), "Outer")
    assert Reading(noted.forms).loads(data) == {"k": [outer(inner(1))]}


@pytest.mark.parametrize(
    ("names", "defaults", "expected"),
    [("b a", [], (2, 1)), ("a b c", [9], (1, 2, 9)), ("b", [], (2,)), ("c b", [8, 9], (8, 2))],
)
def test_a_named_tuple(program, names, defaults, expected):
    new = namedtuple("Basket", names, defaults=defaults)
    assert tuple(through(program, namedtuple("Basket", "a b"), new, 1, 2)[0]) == expected


def test_a_named_tuple_that_gained_a_field_without_a_default(program):
    with pytest.raises(Refusal, match="gained the field 'c'"):
        through(program, namedtuple("Basket", "a b"), namedtuple("Basket", "a b c"), 1, 2)


def test_another_kind_of_class_is_refused(program):
    with pytest.raises(Refusal, match="was a dataclass and is a namedtuple; give it a __setstate__"):
        through(program, fields("a"), namedtuple("Basket", "a"), 1)


def color(**members):
    return enum.Enum("Basket", members)


def members_through(program, old, new, *names):
    old = program(old)
    noted = Noted()
    data = noted.dumps([old[name] for name in names])
    program(new)
    return [member.name for member in Reading(noted.forms).loads(data)]


def test_an_enum_that_gained_members(program):
    assert members_through(program, color(RED=1), color(RED=1, BLUE=2), "RED") == ["RED"]


def test_members_of_an_enum_that_got_other_values_go_by_their_names(program):
    assert members_through(program, color(RED=1, GREEN=2), color(RED=1, BLUE=2, GREEN=3), "GREEN", "RED") == [
        "GREEN",
        "RED",
    ]


def test_an_enum_that_lost_a_member(program):
    assert members_through(program, color(RED=1, GREEN=2), color(RED=1), "RED") == ["RED"]
    with pytest.raises(Refusal, match=r"the enum shopprogram.Basket no longer has the member 'GREEN', which is in use"):
        members_through(program, color(RED=1, GREEN=2), color(RED=1), "GREEN")


def flags(kind=enum.Flag, **members):
    return kind("Basket", members)


def flag_through(program, old, new, value):
    old = program(old)
    noted = Noted()
    data = noted.dumps(old(value))
    new = program(new)
    obj = Reading(noted.forms).loads(data)
    assert type(obj) is new
    return obj.value


@pytest.mark.parametrize("kind", [enum.Flag, enum.IntFlag])
@pytest.mark.parametrize(
    ("old", "new", "value", "expected"),
    [
        ({"A": 1, "B": 2, "C": 4}, {"A": 4, "B": 2, "C": 1}, 3, 6),  # other values
        ({"A": 1, "B": 2, "C": 4}, {"A": 4, "B": 2, "C": 1}, 7, 7),
        ({"A": 1, "B": 2, "C": 4}, {"A": 4, "B": 2, "C": 1}, 1, 4),
        ({"A": 1, "B": 2, "C": 4}, {"A": 4, "B": 2, "C": 1}, 0, 0),
        ({"A": 1, "B": 2}, {"Z": 1, "A": 2, "B": 4}, 3, 6),  # a member in front of them, as auto() counts
        ({"A": 1, "B": 2}, {"A": 1, "B": 2, "C": 4}, 3, 3),  # a member more
        ({"A": 1, "B": 2, "C": 4}, {"A": 1, "C": 2}, 5, 3),  # a member less, which is in no value
        ({"A": 1, "B": 2, "AB": 3}, {"A": 2, "B": 1}, 3, 3),  # a name of a combination less
        ({"A": 1, "B": 2, "ALL": 3}, {"A": 1, "B": 2, "D": 4, "ALL": 7}, 3, 3),  # which stands for more
        ({"A": 1, "BITS": 6}, {"A": 8, "BITS": 6}, 7, 14),  # bits with a common name only
        ({"A": 1, "NONE": 0}, {"A": 2}, 0, 0),
    ],
)
def test_the_flags_of_a_combination_go_by_their_names(program, kind, old, new, value, expected):
    assert flag_through(program, flags(kind, **old), flags(kind, **new), value) == expected


def test_a_combination_with_a_flag_that_is_gone_is_refused(program):
    with pytest.raises(Refusal, match=r"the enum shopprogram.Basket no longer has the member 'B', which is in use"):
        flag_through(program, flags(A=1, B=2, C=4), flags(A=1, C=2), 3)


def test_bits_without_a_name(program):
    kind = enum.IntFlag
    assert flag_through(program, flags(kind, A=1), flags(kind, A=2), 9) == 10
    with pytest.raises(Refusal, match="has the bits 0x8, which had no name when it was written and belong to a member"):
        flag_through(program, flags(kind, A=1), flags(kind, A=8), 9)


def test_a_member_with_an_alias_goes_by_its_own_name(program):
    assert members_through(program, color(RED=1, ROUGE=1), color(BLUE=1, RED=2), "RED") == ["RED"]


@pytest.mark.parametrize("values", [[(1, "a"), (2, "b")], [b"1", b"2"], [(1, (2, None)), ()]])
def test_members_whose_values_are_tuples_or_bytes(program, values):
    red, green = values
    old = color(RED=red, GREEN=green)
    assert members_through(program, old, color(RED=green, GREEN=red), "RED", "GREEN") == ["RED", "GREEN"]
    assert members_through(program, color(RED=red), color(BLUE=green, RED=red), "RED") == ["RED"]
    with pytest.raises(Refusal, match="no longer has the member 'GREEN'"):
        members_through(program, color(RED=red, GREEN=green), color(RED=red), "GREEN")


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda: fields("a"), lambda: type("Basket", (), {"__init__": lambda s, a: None})])
def test_a_renamed_class(program, make):
    old = program(make())
    noted = Noted()
    data = noted.dumps([old(1)])
    program.forget()
    with pytest.raises(Refusal, match=r"put @formerly\('shopprogram.Basket'\) above it"):
        Reading(noted.forms)
    new = formerly("shopprogram.Older", "shopprogram.Basket")(program(make(), "Cart"))
    (obj,) = Reading(noted.forms).loads(data)
    assert type(obj) is new
    assert vars(obj) == vars(old(1))
    assert find_class("shopprogram", "Older") is new


def test_a_renamed_dataclass_that_gained_a_field(program):
    old = program(fields("a"))
    noted = Noted()
    data = noted.dumps([old(1)])
    program.forget()
    new = program(make_dataclass("Cart", [("a", int), ("b", int, 2)]), "Cart")
    formerly("shopprogram.Basket")(new)
    assert Reading(noted.forms).loads(data) == [new(1, 2)]


def test_wrong_calls_of_formerly():
    with pytest.raises(InvalidProgramError, match="has no module"):
        formerly("Basket")
    with pytest.raises(InvalidProgramError, match="was given no name"):
        formerly()
    with pytest.raises(InvalidProgramError, match="which is not a class"):
        formerly("a.b")(5)


# --- in files --------------------------------------------------------------------------------------------------------


def fresh(key_type=None):
    keyed = KeyedState(KeyHash(key_type), 128)
    keyed.track()
    return keyed


def reopened(folder, chain, state=None):
    keyed = fresh()
    load(str(folder), [chain], keyed, state, ABOUT)
    return keyed


def values(keyed, *keys):
    handle = handle_of(keyed, X)
    return [(keyed.enter(key), handle.value())[1] for key in keys]


def test_state_of_a_changed_class_is_written_anew_once(program, tmp_path):
    old, keyed = program(fields("a")), fresh()
    handle = handle_of(keyed, X)
    for key in range(3):
        keyed.enter(key)
        handle.update(old(key))
    chain = save(str(tmp_path), keyed, None, ABOUT, (), 1)
    keyed.enter(1)
    handle.update(old(7))
    chain = save(str(tmp_path), keyed, None, ABOUT, chain, 2)
    assert not reopened(tmp_path, chain).rewrite
    new = program(make_dataclass("Basket", [("b", int, 5), ("a", int, 0)]))
    keyed = reopened(tmp_path, chain)
    assert values(keyed, 0, 1, 2) == [new(5, 0), new(5, 7), new(5, 2)]
    then = save(str(tmp_path), keyed, None, ABOUT, chain, 3)
    assert len(then) == 1
    keyed = reopened(tmp_path, then)
    assert not keyed.rewrite
    assert values(keyed, 0, 1, 2) == [new(5, 0), new(5, 7), new(5, 2)]


def test_a_class_that_cannot_come_back_is_refused_by_name(program, tmp_path):
    keyed = fresh()
    keyed.enter("k")
    handle_of(keyed, X).update(program(fields("a"))(1))
    chain = save(str(tmp_path), keyed, None, ABOUT, (), 1)
    program(fields("a", "b"))
    with pytest.raises(InvalidProgramError) as failure:
        reopened(tmp_path, chain)
    assert failure.value.flink_class == MIGRATION
    text = str(failure.value)
    assert "operator 'count' (OperatorID " + "ab" * 16 + ", uid 'my-uid')" in text
    assert "the class shopprogram.Basket has gained the field 'b'" in text
    program.forget()
    with pytest.raises(InvalidProgramError, match="@formerly"):
        reopened(tmp_path, chain)


def test_objects_beside_values_change_too(program, tmp_path):
    """Windows of the program's own, as namespaces of state and of timers; operator state."""
    old, keyed, state = program(fields("a", frozen=True)), fresh(), OperatorState()
    keyed.enter("k")
    handle_of(keyed, X, old(1)).update("in a window")
    keyed.event_timers.add(5, "k", "k", old(1))
    state.list("list").append(old(2))
    state.broadcast("map")["x"] = [old(3)]
    chain = save(str(tmp_path), keyed, state, ABOUT, (), 1)
    new = program(make_dataclass("Basket", [("a", int), ("b", int, 0)], frozen=True))
    state = OperatorState()
    keyed = reopened(tmp_path, chain, state)
    keyed.enter("k")
    assert handle_of(keyed, X, new(1)).value() == "in a window"
    assert [timer.namespace for timer in keyed.event_timers] == [new(1)]
    assert state.list("list") == [new(2)]
    assert state.broadcast("map") == {"x": [new(3)]}
    then = save(str(tmp_path), keyed, state, ABOUT, chain, 2)
    assert len(then) == 1
    again = OperatorState()
    assert not reopened(tmp_path, then, again).rewrite
    assert (again.rewrite, again.list("list")) == (False, [new(2)])


@pytest.mark.parametrize("key", [lambda cls: cls(1), lambda cls: ("x", cls(1))])
@pytest.mark.parametrize("make", [lambda *n: fields(*n, frozen=True), lambda *n: namedtuple("Basket", n)])
def test_keys_of_a_changed_class_are_refused(program, tmp_path, key, make):
    keyed = fresh()
    keyed.enter(key(program(make("a"))))
    handle_of(keyed, X).update(1)
    chain = save(str(tmp_path), keyed, None, ABOUT, (), 1)
    program(make("a"))
    reopened(tmp_path, chain)
    program(make())
    with pytest.raises(
        InvalidProgramError, match=r"the class of the key .* has changed, and its fields decide its key"
    ):
        reopened(tmp_path, chain)


def test_an_enum_as_key_may_gain_members(program, tmp_path):
    old, keyed = program(color(RED=1)), fresh()
    keyed.enter(old.RED)
    handle_of(keyed, X).update(7)
    chain = save(str(tmp_path), keyed, None, ABOUT, (), 1)
    new = program(color(BLUE=2, RED=1))
    assert values(reopened(tmp_path, chain), new.RED) == [7]


def test_values_that_are_plain_data_have_no_classes(tmp_path):
    keyed = fresh()
    keyed.enter("k")
    handle_of(keyed, ListStateDescriptor("x", Types.ROW([Types.INT()]))).update([Row(1), (1, "a", 0.5, None)])
    save(str(tmp_path), keyed, None, ABOUT, (), 1)
    assert keyed.noted.forms == {}


def test_what_cannot_be_read_at_all_says_so(program, tmp_path):
    class Basket:
        def __reduce__(self):
            return int, ("x",)

    keyed = fresh()
    keyed.enter("k")
    handle_of(keyed, X).update(program(Basket)())
    chain = save(str(tmp_path), keyed, None, ABOUT, (), 1)
    with pytest.raises(StateError, match="has a value that cannot be read: ValueError"):
        reopened(tmp_path, chain)


@pytest.mark.parametrize("program", ["an imported module"], indirect=True)
def test_noting_classes_changes_no_byte(program):
    basket = program(fields("a"))
    for example in ([basket(1)] * 3, {"a": (1, 2.0, None)}, [Row(a=1)], color(RED=1) and 5, [complex(1, 2)], {1, 2}):
        assert Noted().dumps(example) == dumps(example)


@dataclass
class Own:
    """A dataclass of this module."""

    a: int = 0


def test_classes_of_modules_go_by_their_names():
    noted = Noted()
    assert decode_value(noted.dumps([Own(3)])) == [Own(3)]
    assert noted.forms == {f"{Own.__module__}:Own": {"kind": "dataclass", "fields": ["a"]}}
