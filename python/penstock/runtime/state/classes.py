"""The classes of the objects in state: their fields when they were written, and their fields now. A pickle has only the
name of a class, so a state file also records its fields. Classes are recorded while pickling, through pickle's dispatch
table: one call per class, nothing per object."""

from __future__ import annotations

import contextlib
import copyreg
import io
import pickle
import sys
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from importlib import import_module
from operator import methodcaller
from pkgutil import resolve_name
from types import CodeType, FunctionType
from typing import Any

from penstock.common.class_names import former

ClassForm = dict[str, Any]
"""``kind``: dataclass, namedtuple, enum, object, ``other`` for a class that restores itself, or code; ``fields``: their
names, in order; ``members``: [name, value]; ``texts``: [name, text of the value] of members whose values are tuples or
bytes; ``python``: which Python has compiled the code."""

CODE = "code"
PYTHON = f"{sys.implementation.name} {sys.version_info.major}.{sys.version_info.minor}"
"""The running Python. It would crash on code that another Python compiled."""

_PROTOCOL = 5
_REDUCE = methodcaller("__reduce_ex__", _PROTOCOL)
PLAIN = (str, int, float, bool, type(None))  # types of enum values that JSON can hold
_FAILURES = (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError)
_POSITIONAL = "_dataclass_setstate"
"""The ``__setstate__`` that Python adds to a frozen dataclass with slots; it does not count as the class's own."""

copyreg.pickle(type(MISSING), lambda _: (resolve_name, ("dataclasses:MISSING",)))
# A dataclass that goes by value has this sentinel in its fields. It must stay the one object that code compares with.


def name_of(cls: type) -> str:
    """The name of a class in a header: its module, a colon, and its qualified name."""
    return f"{cls.__module__}:{cls.__qualname__}"


def form_of(cls: type[Any]) -> ClassForm:
    """The description of a class. A class with its own ``__setstate__`` or ``__reduce__`` is ``other``."""
    if copyreg.dispatch_table.get(cls) is not None:
        return {"kind": "other"}
    if issubclass(cls, Enum):
        members = cls.__members__.items()
        form: ClassForm = {"kind": "enum", "members": [[n, m.value] for n, m in members if isinstance(m.value, PLAIN)]}
        texts = [[name, text] for name, member in members if (text := text_of(member.value)) is not None]
        return {**form, "texts": texts} if texts else form
    named = issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)
    set_state = getattr(cls, "__setstate__", None)
    restores = not named and set_state is not None and getattr(set_state, "__name__", "") != _POSITIONAL
    if restores or cls.__reduce_ex__ is not object.__reduce_ex__ or cls.__reduce__ is not object.__reduce__:
        return {"kind": "other"}
    if named:
        return {"kind": "namedtuple", "fields": list(cls._fields)}  # type: ignore[attr-defined]
    is_data = is_dataclass(cls)
    return {"kind": "dataclass", "fields": [field.name for field in fields(cls)]} if is_data else {"kind": "object"}


def text_of(value: Any) -> str | None:
    """The text in a header for the value of an enum's member that JSON cannot hold; None for other values."""
    return repr(value) if isinstance(value, tuple | bytes) and _is_spelled(value) else None


def _is_spelled(value: Any) -> bool:
    """Whether ``repr`` is the same for equal values, and only for those."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if type(part) is tuple:
            waiting.extend(part)
        elif type(part) not in (*PLAIN, bytes):
            return False
    return True


class Noted(dict[type, Any]):
    """A dispatch table for picklers that records the classes it is asked for."""

    def __init__(self) -> None:
        self.forms: dict[str, ClassForm] = {}
        self._seen: set[type] = set()

    def __missing__(self, cls: type) -> Any:
        if issubclass(cls, type):  # the value is a class, which is written by name
            raise KeyError(cls)
        self[cls] = reduce = copyreg.dispatch_table.get(cls, _REDUCE)
        self.note(cls)
        return reduce

    def note(self, cls: type) -> None:
        if cls in self._seen:
            return
        self._seen.add(cls)
        top = cls.__module__.partition(".")[0]
        described = top == "__main__" or (top != "penstock" and top not in sys.stdlib_module_names)
        if described and find_class(cls.__module__, cls.__qualname__) is cls:
            self.forms[name_of(cls)] = form_of(cls)

    def dumps(self, value: Any, *, fast: bool = True) -> bytes:
        target = io.BytesIO()
        pickler = pickle.Pickler(target, _PROTOCOL)
        pickler.fast, pickler.dispatch_table = fast, self
        try:
            pickler.dump(value)
            return target.getvalue()
        except _FAILURES:
            return _by_name(value, self)


def _by_name(value: Any, noted: Noted) -> bytes:
    """Pickle with cloudpickle. A worker's copies of the program's own classes are written by name too."""
    import cloudpickle  # not needed by most jobs, and slow to import

    class ByName(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, type):
                module, name = obj.__module__, obj.__qualname__
                if importable(module, name) is None and find_class(module, name) is obj:
                    return program_class, (module, name)
            elif isinstance(obj, CodeType):
                noted.forms["types:CodeType"] = {"kind": CODE, "python": PYTHON}
                return code_with_file(self, obj)
            else:
                noted.note(type(obj))
            return super().reducer_override(obj)

    target = io.BytesIO()
    ByName(target, _PROTOCOL).dump(value)
    return target.getvalue()


def code_with_file(pickler: Any, code: CodeType) -> Any:
    """Code as a pickler of cloudpickle reduces it, with its file, which tracebacks name and cloudpickle 3.1.3 drops."""
    make, arguments = pickler.dispatch_table[CodeType](code)
    file = "".join(list(code.co_filename))  # a copy, so that it depends on nothing else in the pickle
    return make, tuple(file if argument == "<dynamic-code>" else argument for argument in arguments)


def program_class(module: str, name: str) -> type:
    """Find a class by the name in a pickle. Pickles that were written by workers call this."""
    cls = find_class(module, name)
    if cls is None:
        raise AttributeError(f"the program has no class {module}.{name}")
    return cls


def find_class(module: str, name: str) -> type | None:
    """Find a class by name: in a module, among the program's own classes, or by a former name."""
    result, full = importable(module, name), f"{module}.{name}"
    if result is None:
        same = [cls for cls in _all_travelled() if cls.__module__ == module and cls.__qualname__ == name]
        result = next((cls for cls in same if not any(_made_with_slots(cls, other) for other in same)), None)
    if result is None:
        result = former(full)
    if result is None:
        renamed = (cls for cls in _all_travelled() if full in vars(cls).get("__formerly__", ()))
        result = next(renamed, None)
    return result


def importable(module: str, name: str) -> type | None:
    """The class that pickle's own lookup finds under a name."""
    try:
        target: Any = sys.modules.get(module) or import_module(module)
        for part in name.split("."):
            target = getattr(target, part)
    except Exception:  # importing runs the module, which may do anything
        return None
    return target if isinstance(target, type) else None


def _made_with_slots(first: type, second: type) -> bool:
    """Whether ``dataclass(slots=True)`` created ``second`` from ``first``, which no object has."""
    if first is not second and "__slots__" in vars(second):
        methods = [value for value in vars(second).values() if isinstance(value, FunctionType)]
        for cell in [cell for method in methods for cell in method.__closure__ or ()]:
            with contextlib.suppress(ValueError):  # it is empty
                if cell.cell_contents is first:
                    return True
    return False


def _all_travelled() -> Iterator[type]:
    """The classes that have come to this worker by value, newest first."""
    cloud = sys.modules.get("cloudpickle.cloudpickle")
    known = getattr(cloud, "_DYNAMIC_CLASS_TRACKER_BY_CLASS", None)
    return reversed(list(known)) if known is not None else iter(())
