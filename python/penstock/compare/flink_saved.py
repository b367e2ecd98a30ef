"""What is in a savepoint of the real Flink, as the model of the program that has written it. No value is read.

The file has IDs, numbers of subtasks and key groups, and whether there is state; names and uids from Flink 2 on. Names
of states are in their files, and types are classes of Java, so nothing is said of them here. What a restore in Flink
itself does, to the message, is in :mod:`penstock.flink`.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.analysis.model import OperatorModel, ProgramModel
from penstock.compare.saved import operator_with_state
from penstock.flink.metadata import OperatorState
from penstock.flink.savepoint import read_savepoint


def model_of_flink_savepoint(place: str) -> ProgramModel:
    """The model of a savepoint or checkpoint of Flink. Reads its ``_metadata``.

    Args:
        place: its folder, or the file in it.

    Raises:
        FlinkSavepointError: there is none, or it is damaged.
    """
    found = read_savepoint(place)
    operators = (_operator(node, each) for node, each in enumerate(found.by_id.values()))
    return ProgramModel("", "", tuple(operators), (), (), ())


def _operator(node: int, found: OperatorState) -> OperatorModel:
    name = found.name or found.uid or f"the operator {found.operator_id}"
    sizes = found.parallelism, found.max_parallelism
    made = operator_with_state(node, "operator", name, found.uid, found.operator_id, sizes)
    return made if found.has_state else replace(made, stateful=False, states=())
