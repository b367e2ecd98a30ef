"""Plans under test: which operators are chained, whose state is found again, and whether anything has changed."""

from __future__ import annotations

import difflib
import inspect
import json
import os
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from penstock.analysis.builder import model_of
from penstock.analysis.model import EdgeModel, OperatorModel, ProgramModel
from penstock.analysis.texts import origin, verdict
from penstock.analysis.why import find
from penstock.common import checks
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.environment import executors
from penstock.errors import InvalidProgramError
from penstock.plan import Pipeline

Program = Callable[..., object]


class PlanChangedError(AssertionError):
    """A plan is not what its snapshot says; the message has the differences."""


class TestedPlan:
    """The plan of a program, and what can be asserted of it. Operators go by uid, name, number or ID."""

    __test__ = False

    def __init__(self, pipeline: Pipeline, snapshot: Path | None = None, *, update: bool = False) -> None:
        self.pipeline: Pipeline = pipeline  # as given
        self.model: ProgramModel = model_of(pipeline)  # what the plan consists of (:mod:`penstock.analysis.model`)
        self._snapshot = snapshot
        self._update = update

    def __repr__(self) -> str:
        return f"<TestedPlan of {self.model.name!r}: {len(self.model.operators)} operators>"

    def operator(self, operator: str) -> OperatorModel:
        """An operator of the plan; UnknownNameError if there is none, or several are called so."""
        return find(self.model, operator)

    def assert_planned(self) -> None:
        """The planner takes the program; the AssertionError has its reason."""
        if self.model.refused is not None:
            raise AssertionError(f"The program is refused: {self.model.refused}")

    def assert_chained(self, upstream: str, downstream: str) -> None:
        """Records go from one operator to the other by calls, in one task; the error has the rule that forbids it."""
        edges = self._between(upstream, downstream)
        if not any(edge.chained for edge in edges):
            reasons = "; ".join(edge.reason for edge in edges)
            raise AssertionError(f"{upstream!r} and {downstream!r} are not chained: {reasons}.")

    def assert_not_chained(self, upstream: str, downstream: str) -> None:
        """Records go from one operator to the other through an exchange."""
        if any(edge.chained for edge in self._between(upstream, downstream)):
            raise AssertionError(
                f"{upstream!r} and {downstream!r} are chained. Call disable_chaining() or start_new_chain() on the "
                "second, if they must not be."
            )

    def assert_uid_stable(self, *operators: str) -> None:
        """The state of operators is found again after any edit, as their IDs are those of uids, not of positions; the
        AssertionError has the lines that make those without uid. Without operators: all that keep state, or may."""
        asked = [self.operator(name) for name in operators] or [
            operator for operator in self.model.operators if operator.stateful is not False
        ]
        loose = [operator for operator in asked if operator.origin != "uid" and operator.pinned is None]
        if loose:
            lines = (f"  {operator.name!r}" + (f", {operator.site}" if operator.site else "") for operator in loose)
            listed = "\n".join(lines)
            raise AssertionError(
                "These operators have IDs of their positions, so that an edit elsewhere can move them away from their "
                f"state. Give each a uid('…'):\n{listed}"
            )

    def assert_unchanged(self) -> None:
        """The plan is that of its snapshot: operators, IDs, states, edges, verdicts, vertices. The PlanChangedError has
        the differences; ``pytest --penstock-update-plans`` writes the snapshot."""
        if self._snapshot is None:
            raise InvalidProgramError("This plan has no place for a snapshot. Take it from the fixture: plan(program).")
        now = json.dumps(snapshot_of(self.model), indent=1, ensure_ascii=False) + "\n"
        if self._update:
            self._snapshot.parent.mkdir(parents=True, exist_ok=True)
            self._snapshot.write_text(now, encoding="utf-8")
            return
        hint = f"If that is meant, run `pytest --penstock-update-plans` and look at what changes in {self._snapshot}."
        if not self._snapshot.exists():
            raise PlanChangedError(f"There is no snapshot of this plan yet. {hint}")
        before = self._snapshot.read_text(encoding="utf-8")
        if before != now:
            lines = difflib.unified_diff(before.splitlines(), now.splitlines(), "snapshot", "now", lineterm="", n=2)
            raise PlanChangedError("\n".join(["The plan has changed.", *lines, hint]))

    def _between(self, upstream: str, downstream: str) -> list[EdgeModel]:
        source, target = self.operator(upstream).node, self.operator(downstream).node
        edges = [edge for edge in self.model.edges if (edge.source, edge.target) == (source, target)]
        if not edges:
            raise AssertionError(
                f"There is no edge from {upstream!r} to {downstream!r}. What {downstream!r} reads: "
                f"{[self.model.by_node[edge.source].name for edge in self.model.edges if edge.target == target]}."
            )
        return edges


def snapshot_of(model: ProgramModel) -> dict[str, Any]:
    """The contents of a snapshot, for a review: all that decides about state and tasks, no places in files."""
    names = {operator.node: operator.uid or operator.name for operator in model.operators}
    return {
        "flink": model.flink,
        "refused": model.refused,
        "operators": [
            {
                "name": operator.name,
                "uid": operator.uid,
                "id": operator.effective_id,
                "from": origin(operator),
                "parallelism": operator.parallelism,
                "max_parallelism": operator.effective_max_parallelism,
                "states": operator.states if operator.states is None else [_state(state) for state in operator.states],
            }
            for operator in model.operators
        ],
        "edges": [f"{names[e.source]} -> {names[e.target]}: {e.partitioner}, {verdict(e)}" for e in model.edges],
        "vertices": [f"{vertex.name}: {vertex.parallelism}" for vertex in model.vertices],
    }


def _state(state: Any) -> str:
    types = ", ".join(f"{role} {text}" for role, text in state.types.items())
    return " ".join(part for part in (state.kind, state.name, f"({types})" if types else "", state.ttl or "") if part)


class _Planned(BaseException):
    """Ends a program at its first ``execute()``."""


class _Planner:
    """An executor that keeps the first plan and ends the program."""

    plans_only = True
    pipeline: Pipeline | None = None

    def execute(self, pipeline: Pipeline) -> NoReturn:
        self.pipeline = self.pipeline or pipeline
        raise _Planned

    def prepare(self, pipeline: Pipeline, control: object) -> NoReturn:
        self.execute(pipeline)


def plan_of(program: Program | str | os.PathLike[str] | StreamExecutionEnvironment | Pipeline) -> Pipeline:
    """The plan of a program. Nothing runs but what the program does before its first ``execute()``.

    Args:
        program: a function of an environment, or of nothing, a file, an environment, or a plan.

    Raises:
        InvalidProgramError: it ended without calling ``execute()``.
        PenstockError: what translation refuses.
    """
    if isinstance(program, Pipeline):
        return program
    planner = _Planner()
    try:
        with executors.override(planner):
            _run(program)
    except (_Planned, Exception, SystemExit):
        if planner.pipeline is None:
            raise
    if planner.pipeline is not None:
        return planner.pipeline
    raise InvalidProgramError(
        "The program ended without calling execute(), so there is no plan to test. Call env.execute(), or give a "
        "function that takes the environment: def program(env): …"
    )


def _run(program: Any) -> None:
    """Run a program up to an ``execute()``: its own, or one after it."""
    if isinstance(program, StreamExecutionEnvironment):
        program.execute()
    elif isinstance(program, str | os.PathLike):
        runpy.run_path(os.fspath(program), run_name="__main__")
    elif not callable(program):
        checks.refuse(
            f"plan() was given {checks.shown(program)}. Give a function of an environment, an environment, or a file."
        )
    elif inspect.signature(program).parameters:
        env = StreamExecutionEnvironment.get_execution_environment()
        program(env)
        env.execute()
    else:
        program()
