"""A slow, obvious planner in plain Python: the oracle that the Rust planner is compared with.

It turns a SPEC into a RESULT (the formats are those of ``penstock.plan.plan_record``), one module per pass:

    stream_graph    nodes and edges, partitioners resolved, errors of malformed graphs
    chaining        may these two operators share a task?
    hasher          operator IDs
    job_graph       chains, vertices, datasets, slot sharing, co-location, memory fractions, checkpointing, order
    execution_graph subtasks and the edges between them
    streaming_plan  the JSON of a StreamGraph
    json_plan       the JSON of a JobGraph
    java            what Java's collections and text routines do, as far as it shows in a plan
    planner         all of these in order

It was written from a description of what Flink 1.11.4 does and held to golden records of the real one; it shares no
code and no data structure with the Rust planner. It recurses where the thing described recurses, copies where that is
easiest to read, and costs what it costs.
"""

from __future__ import annotations

from tests.reference.planner import plan, plan_deep

__all__ = ["plan", "plan_deep"]
