"""Operators that can be planned but not run. They appear in plans, IDs and explanations exactly as in Flink, and
``execute`` refuses them by name before anything starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.datastream.program.call_site import called
from penstock.errors import UnsupportedError

PLAN_ONLY: dict[str, str] = {
    "add_sink": "add_sink() with a function that writes",
    "add_source": "a source that ends: from_source(), or a SourceFunction whose run() returns",
    "as_queryable_state": "a KeyedProcessFunction that emits the values, and a sink that clients can read: a bounded "
    "job cannot be queried, as its state is gone when it ends",
    "create_input": "an AvroInputFormat, read_text_file(), or add_source() with a SourceFunction",
    "from_source": "a bounded source with splits() and read(), such as NumberSequenceSource or FileSource",
    "sink_to": "FileSink, or add_sink() with a function that writes",
    "write_as_csv": "map() to lines and write_as_text()",
    "write_to_socket": "add_sink() with a function that sends",
    "write_using_output_format": "add_sink() with a function that writes",
}
"""Every call whose operators cannot run, and what to use instead."""


class PlanOnly:
    """Takes the place of a runtime operator."""

    __slots__ = ("call", "function", "instead", "what")

    def __init__(self, call: str, function: Any = None, detail: str = "") -> None:
        assert call in PLAN_ONLY, call
        self.call: str = call
        self.what: str = called(call, detail)
        self.function: Any = function
        self.instead: str = getattr(function, "advice", "") or PLAN_ONLY[call]

    @property
    def unbounded(self) -> bool:
        """Whether it is a source known to be unbounded."""
        return not getattr(self.function, "bounded", True)

    def keyed_by(self, key: Any) -> PlanOnly:
        """The operator itself: keys change nothing here."""
        return self

    def __repr__(self) -> str:
        return f"PlanOnly({self.what!r})"


def refuse_to_run(operators: Mapping[int, Any], names: Mapping[int, str]) -> None:
    """Raise an UnsupportedError that lists all operators that cannot run. O(operators)."""
    planned = {node: operator for node, operator in operators.items() if isinstance(operator, PlanOnly)}
    if planned:
        steps = "; ".join(f"{op.what}, operator {names[node]!r}: use {op.instead}" for node, op in planned.items())
        raise UnsupportedError(
            f"This program can be planned but not run yet. These calls have no runtime in this version: {steps}. "
            "To see the plan without running use get_execution_plan() or `penstock explain`."
        )
