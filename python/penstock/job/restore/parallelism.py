"""A program at the parallelism that is offered, where it does not say itself how many subtasks an operator has. Source
of the semantics: Flink's reactive mode (``AdaptiveScheduler``), which never exceeds the max parallelism. What a program
says of a single operator, Flink ignores; here it stands, and the program is planned again."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from penstock.errors import PenstockError, UnsupportedError
from penstock.job.folder.manifest import StepManifest, all_pushed
from penstock.job.restore.matches import match
from penstock.job.restore.taking_over import planned

if TYPE_CHECKING:
    from penstock.plan import Pipeline


LOG = logging.getLogger("penstock")


def scale(pipeline: Pipeline, offered: int, manifest: StepManifest | None) -> Pipeline:
    """The program with as many subtasks as are offered, where it leaves that open and its state allows it.

    An operator with state, with all of its chain, gets at most as many subtasks as the state has key groups. A source
    function that pushes keeps as many as it had: with others it would start over. At most three plans: O(V + E)."""
    if pipeline.settings.batch:
        raise UnsupportedError(
            "scheduler-mode is reactive (--reactive), and the program runs in BATCH mode, which has no state to "
            "redistribute. Run it in STREAMING mode, or set its parallelism: parallelism.default, --parallelism."
        )
    assert pipeline.planned_at is not None, "the environment plans it again"
    most = _most(pipeline)
    widths = {node: min(offered, most.get(node, offered)) for node in pipeline.left_open}
    plan = pipeline.planned_at(widths.__getitem__)
    if manifest is None:
        return plan
    scaled = dict(_allowed_widths(plan, manifest, widths))
    if not any(widths[node] != width for node, width in scaled.items()):
        return plan
    widths.update(scaled)
    return pipeline.planned_at(widths.__getitem__)


def _most(pipeline: Pipeline) -> dict[int, int]:
    return {node.id: node.max_parallelism for node in pipeline.stream_graph.nodes if node.max_parallelism > 0}


def _allowed_widths(plan: Pipeline, manifest: StepManifest, widths: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """The parallelism that state allows to nodes that leave it open."""
    operators = planned(plan, plan.job_graph())
    taken = match(manifest, operators).taken
    for _, chain in groupby(operators, attrgetter("vertex")):
        links = list(chain)
        states = [taken[operator.operator_id].state_id for operator in links if operator.operator_id in taken]
        groups = [manifest.operators[state_id].max_parallelism for state_id in states if state_id in manifest.operators]
        sources = [manifest.sources[state_id].positions for state_id in states if state_id in manifest.sources]
        pushing = [len(positions) for positions in sources if all_pushed(positions)]
        for operator in links:
            if operator.node in widths and (groups or pushing):
                yield operator.node, pushing[0] if pushing else min(widths[operator.node], *groups)


def warn_of_unsteady_ids(pipeline: Pipeline) -> None:
    """Log which operators lose their state at another parallelism, which changes their chains and IDs."""
    assert pipeline.planned_at is not None, "the environment plans it again"
    nodes = [node for node in pipeline.stream_graph.nodes if node.uid is None and not node.user_hash]
    nodes = [node for node in nodes if getattr(pipeline.operators.get(node.id), "keeps_state", False)]
    most = _most(pipeline)
    declared = {node.parallelism for node in pipeline.stream_graph.nodes if node.id not in pipeline.left_open}
    known: list[Mapping[int, str]] = []
    for width in (*sorted(declared), max(declared, default=0) + 1) if nodes and declared else ():
        with contextlib.suppress(PenstockError):  # at this parallelism it is refused
            plan = pipeline.planned_at(lambda node, width=width: min(width, most.get(node, width)))
            known.append(plan.stream_graph.operator_ids())
    names = [node.name for node in nodes if len({ids[node.id] for ids in known}) > 1]
    if names:
        LOG.warning(
            "The operators %s have no uid, and their IDs depend on the parallelism: at another number of cores their "
            "state is not found, and the job is refused or stays as it is. Give them uids.",
            ", ".join(map(repr, names)),
        )
