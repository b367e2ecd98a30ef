"""The states of functions, by the attributes of their objects."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.compiler.held_lists import HeldLists
from penstock.runtime.usercode.functions import mark

COMBINING = {"reducing": ("reduce",), "aggregating": ("create_accumulator", "add", "get_result")}
"""By kind of state: the methods of its function that are called."""


@dataclass(frozen=True)
class KeyedStates:
    """The states that an object's ``open`` gets, by the attributes they are kept in."""

    owner: Any = None
    kinds: Mapping[str, str] = field(default_factory=dict[str, str])
    functions: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Those of reducing and aggregating states, as far as they are known."""
    lists: HeldLists = field(default_factory=dict[ast.AST, Mapping[str, str]])
    """The variables of methods that have the lists of value states."""
    asked: bool = False
    """Whether they are asked from the context, with descriptors that the attributes are."""

    @property
    def native(self) -> dict[str, tuple[str, str]]:
        """The attributes of those that programs have, in the order of their numbers: kind, and the mark of its
        functions."""
        known = {name: kind for name, kind in self.kinds.items() if kind not in COMBINING or name in self.functions}
        return {name: (kind, self._mark(name, kind)) for name, kind in known.items()}

    def _mark(self, name: str, kind: str) -> str:
        function = self.functions.get(name)
        return "" if function is None else mark(function, COMBINING[kind])
