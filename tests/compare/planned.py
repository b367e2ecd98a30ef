"""Models of programs that are edited, and who is who in them by label."""

from __future__ import annotations

from contextlib import suppress

from penstock.analysis.builder import model_of
from penstock.analysis.model import ProgramModel
from penstock.cli.program import PlanCaptured, PlanOnlyExecutor
from tests.generator.programs import Program, build, environment


def planned(program: Program) -> tuple[ProgramModel, dict[str, int]]:
    """The model of a program, and its nodes by label; a union has none."""
    planner = PlanOnlyExecutor()
    env = environment(program, planner)
    streams = build(program, env, 0, True)
    with suppress(PlanCaptured):
        env.execute("shop")
    assert planner.pipeline is not None
    model = model_of(planner.pipeline)
    nodes = {label: stream.transformation.id for label, stream in streams.items()}
    return model, {label: node for label, node in nodes.items() if node in model.by_node}
