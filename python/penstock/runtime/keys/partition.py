"""The partitions of HASH and CUSTOM edges: how the key of a record is found, and what chooses the channel."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from penstock.common.settings.settings import Settings
from penstock.common.typeinfo import TypeInformation
from penstock.runtime import native
from penstock.runtime.buffers.borders import crossing
from penstock.runtime.constants import rewritten
from penstock.runtime.keys.key_types import is_of_days
from penstock.runtime.keys.pyflink_keys import InRow
from penstock.runtime.usercode.failure import failure_of
from penstock.runtime.usercode.functions import bind

_IN_PYFLINK = Settings(pyflink=True)


@dataclass(frozen=True)
class KeyPartition:
    """HASH: by the key group of the selected key."""

    key_selector: Any
    key_type: TypeInformation[Any] | None = None
    call: str = field(default="key_by()", compare=False)
    program: str | None = field(default=None, compare=False, kw_only=True)  # the key selector, compiled

    def selector(self) -> Callable[[Any], Any]:
        select = bind(self.key_selector, "get_key")
        if not isinstance(self.key_type, InRow):
            return select
        cross = crossing(self.key_type.key_type, _IN_PYFLINK)
        if cross is None:
            return select
        return lambda record: None if (key := select(record)) is None else cross(key)

    def functions(self) -> list[tuple[Any, str]]:
        return [(self.key_selector, f"key selector of {self.call}")]

    def key_program(self, functions: ModuleType) -> Any:
        """The native program that gives the keys of columns; None where only the selector can."""
        if isinstance(self.key_type, InRow):
            return None
        text = self.program
        if text is not None and is_of_days(self.key_type):
            text = only_day(text)
        return native.program(functions, text)

    def failure(self, error: Exception, place: str = "before") -> Exception:
        return failure_of(f"key selector of {self.call}", place, error)


def only_day(text: str) -> str:
    """A program that is in doubt where this one gives anything but a day: a time, which is a key as its day."""
    program = json.loads(text)
    users, *others = program["functions"]
    body = [["return", ["lib", "datetime.only_day", ["call", len(others) + 1, ["local", 0]]]]]
    first = {"params": 1, "locals": 1, "body": body}
    return rewritten(text, {**program, "functions": [first, *others, users]})


@dataclass(frozen=True)
class CustomPartition:
    """CUSTOM: by the user's partitioner."""

    partitioner: Any
    key_selector: Any
    call: str = field(default="partition_custom()", compare=False)

    def functions(self) -> list[tuple[Any, str]]:
        return [(self.key_selector, f"key selector of {self.call}"), (self.partitioner, f"partitioner of {self.call}")]
