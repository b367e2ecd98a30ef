"""What can be planned but not run yet.

Planning is ahead of running: such operators appear in plans, IDs and explanations exactly as Flink has them, and
``execute`` refuses them by name before anything starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.errors import UnsupportedError

PLAN_ONLY: dict[str, str] = {
    "create_input": "input formats",
    "from_source": "sources of connectors",
    "read_file": "files that are watched",
    "socket_text_stream": "sockets",
    "write_as_csv": "CSV files",
    "write_to_socket": "sockets",
    "write_using_output_format": "output formats",
}
"""Every call whose operators have no runtime yet, and what it is for."""


class PlanOnly:
    """Stands where a runtime operator would.

    Args:
        call: a key of :data:`PLAN_ONLY`.
        function: the user's function or description, kept for tools.
        detail: what of the call it is, such as ``.map``.
    """

    __slots__ = ("call", "function", "what")

    def __init__(self, call: str, function: Any = None, detail: str = "") -> None:
        assert call in PLAN_ONLY, call
        self.call = call
        self.what = call + detail
        self.function = function

    def keyed_by(self, key: Any) -> PlanOnly:
        """Keys change nothing here."""
        return self

    def __repr__(self) -> str:
        return f"PlanOnly({self.what!r})"


def refuse_to_run(operators: Mapping[int, Any], names: Mapping[int, str]) -> None:
    """Raise UnsupportedError if any operator cannot be run; it lists all of them. O(operators).

    Args:
        operators: by node id.
        names: operator names by node id.
    """
    missing = [f"{op.what} ({names[node]!r})" for node, op in operators.items() if isinstance(op, PlanOnly)]
    if missing:
        raise UnsupportedError(
            f"This program can be planned but not run: {', '.join(missing)} have no runtime in this version. "
            "Use get_execution_plan() or `penstock explain` to see the plan, or express the step with the operators "
            "listed as runnable in docs/limits.md."
        )
