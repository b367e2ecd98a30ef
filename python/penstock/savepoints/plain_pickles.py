"""Reads a pickle as data, by an interpreter of pickle's opcodes instead of Python's unpickler.

Only the opcodes of protocol 5 are known. A name leads only to :func:`~.plain_values.object_for_name`, a length is
checked before anything is allocated for it, an index of the memo must exist, and no attribute is ever set. So the
result takes at most some hundred bytes per byte of the pickle. Hashable values that contain each other many times are
limited too, because hashing a key visits all of it. Source: ``pickletools`` of Python. Ten times slower than Python.
"""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable
from functools import partial
from pickle import UnpicklingError
from typing import Any

from penstock.common.row import Row
from penstock.runtime.windows.evictors import TimestampedValue
from penstock.savepoints.plain_values import Known, Unmade, make_object, object_for_name, set_state

_DEEPEST = 100  # depth of nested tuples. Hashing them is recursive in C, without any other limit.
_LEAST = 1 << 16
_SPREAD = 64  # most parts of hashable values per byte of the pickle, counting repeated parts each time
_SIZED = (list, tuple, set, frozenset, dict, str, bytes, bytearray, Row)
_HASHED = (tuple, frozenset, Row, TimestampedValue)
_DOUBLE = struct.Struct(">d")


def loads(data: bytes, unmade: dict[tuple[str, str], Unmade]) -> Any:
    """Unpickle a value, with :class:`~.plain_values.Unmade` objects in it where it is not plain."""
    return _Machine(data, unmade).run()


class _Machine:
    def __init__(self, data: bytes, unmade: dict[tuple[str, str], Unmade]) -> None:
        self.data, self.at, self.unmade = data, 0, unmade
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: list[Any] = []
        self.spread = _LEAST + _SPREAD * len(data)
        self.nested: dict[int, tuple[int, int, Any]] = {}
        self.names: dict[tuple[str, str], Any] = {}
        self.bare: dict[int, Any] = {}  # objects that still need their state
        self.copies = _LEAST + len(data)
        self.classes = 0  # number of classes that no opcode has called yet

    def run(self) -> Any:
        data, steps = self.data, _STEPS
        try:
            while True:
                opcode = data[self.at]
                self.at += 1
                if opcode == _STOP:
                    return self._ended()
                step = steps.get(opcode)
                if step is None:
                    raise UnpicklingError(f"it has the opcode {opcode:#x}, which Penstock never writes")
                step(self)
        except IndexError as error:
            raise UnpicklingError("it is cut off, or refers to what is not in it") from error
        except (AttributeError, RecursionError, TypeError, ValueError) as error:
            raise UnpicklingError(f"it is damaged: {error}") from error

    def _ended(self) -> Any:
        (result,) = self.stack
        if self.marks or self.bare:
            raise UnpicklingError("it ends within a value")
        if self.classes:  # a class is part of the value, so the value is not plain
            self.unmade.update((key, known) for key, known in self.names.items() if isinstance(known, Known))
        return result

    # --- operations for the opcodes ---

    def take(self, count: int) -> bytes:
        at, self.at = self.at, self.at + count
        if count < 0 or self.at > len(self.data):
            raise UnpicklingError(f"it says that it has {count} more bytes, and is {len(self.data)} bytes long")
        return self.data[at : self.at]

    def count(self, width: int) -> int:
        return int.from_bytes(self.take(width), "little")

    def items(self) -> list[Any]:
        """The items on the stack since the last mark."""
        items, self.stack = self.stack, self.marks.pop()
        return items

    def push(self, value: Any) -> None:
        """Push a new value. The parts of a hashable value are counted."""
        if type(value) in _HASHED:
            self._note(value)
        self.stack.append(value)

    def _note(self, value: Any) -> None:
        depth, size = 1, 0
        for part in _parts(value):
            size += 1
            if type(part) in _HASHED:
                deeper, more, _ = self.nested.get(id(part)) or (1, len(_parts(part)), None)
                depth, size = max(depth, deeper + 1), size + more
        if depth > _DEEPEST or size > self.spread:
            raise UnpicklingError("it has tuples within tuples, deeper or more often than a program's")
        if depth > 1:
            self.nested[id(value)] = depth, size, value  # keep the value alive, so that its id stays unique

    def make(self) -> None:
        arguments, cls = self.stack.pop(), self.stack.pop()
        self.classes -= isinstance(cls, Known)
        for argument in arguments if type(arguments) is tuple else ():
            self.copies -= len(argument) if isinstance(argument, _SIZED) else 0
        if self.copies < 0:
            raise UnpicklingError("it has objects that are made of the same values again and again")
        result = make_object(cls, arguments)
        if isinstance(cls, Known) and cls.bare:
            self.bare[id(result)] = result
            self.stack.append(result)
        else:
            self.push(result)

    def build(self) -> None:
        state, value = self.stack.pop(), self.stack.pop()
        set_state(value, state)
        self.bare.pop(id(value), None)
        self.push(value)

    # --- opcodes ---

    def constant(self, value: Any) -> None:
        self.stack.append(value)

    def new(self, kind: Callable[[], Any]) -> None:
        self.stack.append(kind())

    def unsigned(self, width: int) -> None:
        self.stack.append(self.count(width))

    def signed(self) -> None:
        self.stack.append(int.from_bytes(self.take(4), "little", signed=True))

    def long(self, width: int) -> None:
        self.stack.append(int.from_bytes(self.take(self.count(width)), "little", signed=True))

    def double(self) -> None:
        self.stack.append(_DOUBLE.unpack(self.take(8))[0])

    def text(self, width: int) -> None:
        self.stack.append(str(self.take(self.count(width)), "utf-8", "surrogatepass"))

    def octets(self, width: int, kind: type[bytes] | type[bytearray] = bytes) -> None:
        self.stack.append(kind(self.take(self.count(width))))

    def frame(self) -> None:
        if self.count(8) > len(self.data) - self.at:
            raise UnpicklingError("it is cut off within a frame")

    def mark(self) -> None:
        self.marks.append(self.stack)
        self.stack = []

    def pop(self) -> None:
        if self.stack:
            self.stack.pop()
        else:
            self.items()

    def collect(self, kind: Callable[[list[Any]], Any]) -> None:
        items = self.items()
        self.push(kind(items))

    def short_tuple(self, length: int) -> None:
        items = [self.stack.pop() for _ in range(length)]
        self.push(tuple(reversed(items)))

    def append(self) -> None:
        self.extend([self.stack.pop()])

    def extend(self, items: list[Any] | None = None) -> None:
        self.fill(self.items() if items is None else items, "appends to", list, deque)

    def set_item(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.update([key, value])

    def update(self, items: list[Any] | None = None) -> None:
        items = self.items() if items is None else items
        self.fill(zip(items[::2], items[1::2], strict=True), "sets items of", dict, OrderedDict, Counter)

    def add_items(self) -> None:
        self.fill(self.items(), "adds items to", set)

    def fill(self, items: Iterable[Any], what: str, *kinds: type) -> None:
        """Put items into the object on top of the stack, which must be of one of these classes."""
        target = self.stack[-1]
        if type(target) in kinds:
            if isinstance(target, dict):
                for key, value in items:
                    target[key] = value
            else:
                (target.update if isinstance(target, set) else target.extend)(items)
        elif not isinstance(target, Unmade):
            raise UnpicklingError(f"it {what} a {type(target).__name__}")

    def memoize(self) -> None:
        self.memo.append(self.stack[-1])

    def get(self, width: int) -> None:
        value = self.memo[self.count(width)]
        self.classes += isinstance(value, Known)
        self.stack.append(value)

    def find(self) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        if type(name) is not str or type(module) is not str:
            raise UnpicklingError("it has a name that is not a string")
        target = self.names.get((module, name))
        if target is None:
            target = self.names[module, name] = object_for_name(module, name)
        if isinstance(target, Known):
            self.classes += 1
        elif isinstance(target, Unmade):
            self.unmade[module, name] = target
        self.stack.append(target)

    def make_with_names(self) -> None:
        names, arguments, cls = self.stack.pop(), self.stack.pop(), self.stack[-1]
        if isinstance(cls, Known) and names:
            raise UnpicklingError(f"it makes a {cls.name} of named arguments")
        self.stack.append(arguments)
        self.make()


def _parts(value: Any) -> Any:
    return (value.value,) if type(value) is TimestampedValue else value


_STOP = b"."[0]
_STEPS: dict[int, Any] = {  # all opcodes of protocol 5, except those that refer outside the pickle
    opcode[0]: partial(step, **arguments) if arguments else step
    for opcode, step, arguments in (
        (b"\x80", _Machine.take, {"count": 1}),  # PROTO
        (b"\x95", _Machine.frame, {}),  # FRAME
        (b"(", _Machine.mark, {}),  # MARK
        (b"0", _Machine.pop, {}),  # POP
        (b"1", _Machine.items, {}),  # POP_MARK
        (b"N", _Machine.constant, {"value": None}),  # NONE
        (b"\x88", _Machine.constant, {"value": True}),  # NEWTRUE
        (b"\x89", _Machine.constant, {"value": False}),  # NEWFALSE
        (b"K", _Machine.unsigned, {"width": 1}),  # BININT1
        (b"M", _Machine.unsigned, {"width": 2}),  # BININT2
        (b"J", _Machine.signed, {}),  # BININT
        (b"\x8a", _Machine.long, {"width": 1}),  # LONG1
        (b"\x8b", _Machine.long, {"width": 4}),  # LONG4
        (b"G", _Machine.double, {}),  # BINFLOAT
        (b"\x8c", _Machine.text, {"width": 1}),  # SHORT_BINUNICODE
        (b"X", _Machine.text, {"width": 4}),  # BINUNICODE
        (b"\x8d", _Machine.text, {"width": 8}),  # BINUNICODE8
        (b"C", _Machine.octets, {"width": 1}),  # SHORT_BINBYTES
        (b"B", _Machine.octets, {"width": 4}),  # BINBYTES
        (b"\x8e", _Machine.octets, {"width": 8}),  # BINBYTES8
        (b"\x96", _Machine.octets, {"width": 8, "kind": bytearray}),  # BYTEARRAY8
        (b")", _Machine.constant, {"value": ()}),  # EMPTY_TUPLE
        (b"t", _Machine.collect, {"kind": tuple}),  # TUPLE
        (b"\x85", _Machine.short_tuple, {"length": 1}),  # TUPLE1
        (b"\x86", _Machine.short_tuple, {"length": 2}),  # TUPLE2
        (b"\x87", _Machine.short_tuple, {"length": 3}),  # TUPLE3
        (b"]", _Machine.new, {"kind": list}),  # EMPTY_LIST
        (b"a", _Machine.append, {}),  # APPEND
        (b"e", _Machine.extend, {}),  # APPENDS
        (b"}", _Machine.new, {"kind": dict}),  # EMPTY_DICT
        (b"s", _Machine.set_item, {}),  # SETITEM
        (b"u", _Machine.update, {}),  # SETITEMS
        (b"\x8f", _Machine.new, {"kind": set}),  # EMPTY_SET
        (b"\x90", _Machine.add_items, {}),  # ADDITEMS
        (b"\x91", _Machine.collect, {"kind": frozenset}),  # FROZENSET
        (b"\x94", _Machine.memoize, {}),  # MEMOIZE
        (b"h", _Machine.get, {"width": 1}),  # BINGET
        (b"j", _Machine.get, {"width": 4}),  # LONG_BINGET
        (b"\x93", _Machine.find, {}),  # STACK_GLOBAL
        (b"R", _Machine.make, {}),  # REDUCE
        (b"\x81", _Machine.make, {}),  # NEWOBJ
        (b"\x92", _Machine.make_with_names, {}),  # NEWOBJ_EX
        (b"b", _Machine.build, {}),  # BUILD
    )
}
