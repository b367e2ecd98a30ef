"""What can be planned but not run yet.

Planning is ahead of running: such operators appear in plans, IDs and explanations exactly as Flink has them, and
``execute`` refuses them by name before anything starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.errors import UnsupportedError


class PlanOnly:
    """Stands where a runtime operator would.

    Args:
        what: the API call, such as ``connect().map``.
        function: the user's function, kept for names.
    """

    __slots__ = ("function", "what")

    def __init__(self, what: str, function: Any = None) -> None:
        self.what = what
        self.function = function

    def keyed_by(self, key: Any) -> PlanOnly:
        """Keys change nothing here."""
        return self

    def __repr__(self) -> str:
        return f"PlanOnly({self.what!r})"


def refuse_to_run(operators: Mapping[int, Any], names: Mapping[int, str], loops: Iterable[int]) -> None:
    """Raise UnsupportedError if any operator cannot be run; it lists all of them. O(operators).

    Args:
        operators: by node id.
        names: operator names by node id.
        loops: ids of iterations.
    """
    missing = [f"{op.what} ({names[node]!r})" for node, op in operators.items() if isinstance(op, PlanOnly)]
    missing += [f"iterate() (id {loop})" for loop in loops]
    if missing:
        raise UnsupportedError(
            f"This program can be planned but not run: {', '.join(missing)} have no runtime in this version. "
            "Use get_execution_plan() or `penstock explain` to see the plan, or express the step with the operators "
            "listed as runnable in docs/limits.md."
        )
