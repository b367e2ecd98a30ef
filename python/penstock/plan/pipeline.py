"""Pipeline: a program as executors get it, which can explain its plan."""

from __future__ import annotations

from typing import Literal

from penstock.analysis.program import Program
from penstock.display.text import Lines

Format = Literal["terminal", "markdown", "dot", "mermaid", "json", "flink-stream", "flink-job"]
Level = Literal["stream", "job", "execution"]


class Pipeline(Program):
    """A program as ``env.execute()`` passes it to an executor. The planner holds no Python object; executors find them
    by ids.

    Attributes:
        name: name of the job.
        stream_graph: the program.
        operators: operator by StreamNode id.
        partitioners: key selector or custom partitioner by virtual partition id (``StreamEdge.partition_node``).
        types: output type by StreamNode id, or by (id, tag) of a side output; None if undeclared. For codecs and texts.
        settings: of the program, parsed.
        descriptions: of the operators that have one, by StreamNode id.
        sites: the calls that made the operators, by StreamNode id, as far as they are known.
        left_open: the nodes whose parallelism the program leaves to its environment.
        side_outputs: the nodes from which the program reads a side output, even if nothing reads that.
        planned_at: returns the same program with another parallelism of each of these nodes; None if not available.
    """

    def explain(self, format: Format = "terminal", level: Level | None = None) -> str:
        """The plan as a text. O(V + E), whatever the parallelism.

        Args:
            format: ``terminal`` (lines of 100 columns), ``markdown``, ``dot``, ``mermaid``, ``json``; or Flink's own,
                ``flink-stream`` and ``flink-job``. For ``json`` functions are opened to see their states.
            level: only this of the three graphs. None: all of them; in a picture, ``job``.

        Raises:
            InvalidProgramError: an unknown format or level.
            PlanError: the planner refuses the program, and the format is one of Flink's.
        """
        from penstock.analysis.explain import explain

        return Lines(explain(self, format, level), markdown=format == "markdown")

    def why(self, operator: str) -> str:
        """The ingredients of the ID of an operator, by uid, name, number or ID, and the edits that would move it: each
        is tried. O(V + E), some twenty times.

        Raises:
            UnknownNameError: no operator has that name, or several have.
            InvalidProgramError: it has no ID.
        """
        from penstock.analysis.explain import explain_id

        return Lines(explain_id(self, operator))

    def to_flink_stream_json(self) -> str:
        """The text of Flink's ``getExecutionPlan``, byte for byte."""
        return self.explain("flink-stream")

    def to_flink_job_json(self) -> str:
        """The text of Flink's ``JsonPlanGenerator``, byte for byte, with a job ID of zeros, or PlanError."""
        return self.explain("flink-job")
