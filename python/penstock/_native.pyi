"""The native module: the planner, whose names to import are those of ``penstock.plan``, and functions of the runtime."""

from penstock._stubs.arrow import *
from penstock._stubs.batches import *
from penstock._stubs.execution_graph import *
from penstock._stubs.job_graph import *
from penstock._stubs.keyed import *
from penstock._stubs.objects import *
from penstock._stubs.process import *
from penstock._stubs.readings import *
from penstock._stubs.regions import *
from penstock._stubs.shapes import *
from penstock._stubs.state import *
from penstock._stubs.stream_graph import *
from penstock._stubs.tables import *
from penstock._stubs.triggers import *

def plan_record(spec: str, flink: str = "1.11") -> str:
    """Plan one described graph and report everything that was decided. O(nodes + edges + execution edges).

    Args:
        spec: a graph as JSON (the format of ``StreamGraph.from_json``).
        flink: the Flink version to equal; one of ``PROFILES``.

    Returns:
        One line of JSON with the stages ``stream_graph``, ``hashes``, ``streaming_plan``, ``job_graph`` and
        ``execution_graph``; a stage that fails is ``{"error": {"class": Flink's exception class, "message": ours}}``.

    Raises:
        UnsupportedError: another Flink version.
    """

def operator_id(uid: str) -> str:
    """The OperatorID of an operator with this uid: 32 hex digits of murmur3_128 over its UTF-8 bytes."""

def default_max_parallelism(parallelism: int) -> int:
    """The number of key groups of a vertex that does not set it (KeyGroupRangeAssignment); a parallelism below 1 counts as 1."""
