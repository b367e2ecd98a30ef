"""Calls put into the source of a program, without any other change. Needs libcst; load it by
:mod:`penstock.lock.fixer`.

A call is found by its end, which Python records; before Python 3.11 by its line and name, if it is the only one there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, ParentNodeProvider, PositionProvider

from penstock.analysis.model import Site
from penstock.lock.pins import HASH, Pin

Left = tuple[Pin, str]  # A pin that could not be written, and why


def edited(data: bytes, pins: Sequence[Pin]) -> tuple[bytes, list[Pin], list[Left]]:
    """A source with pins in it: the new source, the pins as they are written, and the others. O(source)."""
    try:
        source = _Source(data)
    except cst.ParserSyntaxError as error:
        return data, [], [(pin, f"the file cannot be parsed: {error.message}") for pin in pins]
    done: list[Pin] = []
    left: list[Left] = []
    for pin in pins:
        planned, why = source.plan(pin)
        if planned is None:
            left.append((pin, why))
        else:
            done.append(planned)
    return source.text(), done, left


class _Source(cst.CSTTransformer):
    """A parsed source, and the edits of its calls."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        wrapper = MetadataWrapper(cst.parse_module(data))
        self._module, self._lines = wrapper.module, data.decode(wrapper.module.encoding).splitlines()
        self._parents = wrapper.resolve(ParentNodeProvider)
        positions = cast("Mapping[cst.CSTNode, CodeRange]", wrapper.resolve(PositionProvider))
        self._calls: dict[tuple[int, int], cst.Call] = {}
        self._named: dict[tuple[int, str], list[cst.Call]] = {}
        for node, at in positions.items():
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
                name = node.func.attr
                self._calls[at.end.line, at.end.column] = node
                self._named.setdefault((positions[name].start.line, name.value), []).append(node)
        self._added: dict[cst.Call, list[Pin]] = {}
        self._replaced: dict[cst.Call, Pin] = {}

    def plan(self, pin: Pin) -> tuple[Pin | None, str]:
        """Plan an edit: the pin as it will be written; or None, and why."""
        call = None if pin.site is None else self._call(pin.site)
        if call is None:
            return None, "its call is not found in the file"
        existing = next((other for other in self._chain(call) if _method(other) == pin.method), None)
        unfit = pin.instead_of is not None if existing is None else _literal(existing) is None
        if unfit and pin.otherwise is not None:
            return self.plan(replace(pin, method=HASH, value=pin.otherwise, instead_of=None, otherwise=None))
        if existing is None:
            self._added.setdefault(call, []).append(pin)
        elif _literal(existing) is None:
            return None, f"what its {pin.method}() is given is not a literal"
        else:
            self._replaced[existing] = pin
        return pin, ""

    def _call(self, site: Site) -> cst.Call | None:
        if site.end_line is not None and site.end_column is not None:
            if not 0 < site.end_line <= len(self._lines):
                return None
            column = len(self._lines[site.end_line - 1].encode()[: site.end_column].decode(errors="replace"))
            call = self._calls.get((site.end_line, column))
            return call if call is not None and _method(call) == site.call else None
        named = self._named.get((site.line, site.call), [])
        return named[0] if len(named) == 1 else None

    def _chain(self, call: cst.Call) -> Iterator[cst.Call]:
        """The calls that follow one in its expression."""
        node: cst.CSTNode = call
        while True:
            attribute = self._parents.get(node)
            after = self._parents.get(attribute) if isinstance(attribute, cst.Attribute) else None
            if not isinstance(after, cst.Call) or after.func is not attribute:
                return
            yield after
            node = after

    def text(self) -> bytes:
        return self._module.visit(self).bytes

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        pin = self._replaced.get(original_node)
        if pin is not None:
            argument = updated_node.args[0].with_changes(value=_string(pin))
            updated_node = updated_node.with_changes(args=[argument, *updated_node.args[1:]])
        return self._with_pins(updated_node, self._added.get(original_node, ()), self._line_break(original_node))

    def _with_pins(self, call: cst.Call, pins: Iterable[Pin], before: cst.BaseParenthesizableWhitespace) -> cst.Call:
        for pin in pins:
            inner = call.with_changes(lpar=[], rpar=[])
            attribute = cst.Attribute(inner, cst.Name(pin.method), dot=cst.Dot(whitespace_before=before))
            call = cst.Call(attribute, [cst.Arg(_string(pin))], lpar=call.lpar, rpar=call.rpar)
        return call

    def _line_break(self, call: cst.Call) -> cst.BaseParenthesizableWhitespace:
        """The whitespace before the dots of the calls around one: a new line, if each call has its own."""
        for node in (self._parents.get(call), call.func):
            if isinstance(node, cst.Attribute):
                space = node.dot.whitespace_before
                if isinstance(space, cst.ParenthesizedWhitespace):
                    plain = space.first_line.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))
                    return space.with_changes(first_line=plain, empty_lines=[])
                if isinstance(space, cst.SimpleWhitespace) and "\n" in space.value:
                    return space
        return cst.SimpleWhitespace("")


def _method(call: cst.Call) -> str:
    return call.func.attr.value if isinstance(call.func, cst.Attribute) else ""


def _literal(call: cst.Call) -> str | None:
    """The text argument of a call; None if it is not a literal."""
    value = call.args[0].value if call.args else None
    text = value.evaluated_value if isinstance(value, cst.SimpleString) else None
    return text if isinstance(text, str) else None


def _string(pin: Pin) -> cst.SimpleString:
    return cst.SimpleString(pin.text[pin.text.index("(") + 1 : -1])
