"""Results and plans print usefully: in a line, in a terminal, in a notebook."""

from __future__ import annotations

import io
import pickle
import re
from html.parser import HTMLParser
from importlib.util import find_spec

import pytest
from rich.columns import Columns
from rich.console import Console

from penstock import plan
from penstock.common import JobExecutionResult, Types
from penstock.datastream import MapFunction, StreamExecutionEnvironment
from penstock.display.html import html
from penstock.display.tables import Shown
from penstock.local import LocalExecutor
from penstock.metrics import JobMetrics, OperatorMetrics, SubtaskMetrics
from penstock.plan.shapes import keyed_pipelines
from penstock.spark import SparkExecutor

NAMES = "Source: Collection Source", "Weigh [bold]<all>", "Sink: Out"


class Weigh(MapFunction):
    def open(self, runtime_context) -> None:
        self.seen = runtime_context.get_metrics_group().counter("seen")

    def map(self, value):
        self.seen.inc()
        return value


@pytest.fixture(scope="module")
def result() -> JobExecutionResult:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local").set_parallelism(2)
    weighed = env.from_collection(range(1000), Types.LONG()).map(Weigh()).name("Weigh [bold]<all>")
    weighed.add_sink(lambda value: None).name("Out")
    result = env.execute("weights")
    return JobExecutionResult(result.job_name, 12, result.collected, result.metrics)


def printed(shown: object) -> str:
    """As rich prints it for a user, with markup on, without colours; blanks at line ends are gone."""
    console = Console(file=io.StringIO(), width=100)
    console.print(shown)
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


class Cells(HTMLParser):
    """The tables of a page: rows of texts. Every tag is closed by its own kind."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.open: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag == "br":
            return
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data


def test_in_a_line(result):
    assert repr(result) == "JobExecutionResult('weights', 3 operators, 12 ms)"
    assert repr(result.metrics) == (
        "JobMetrics('Source: Collection Source' 0 in 1000 out, 'Weigh [bold]<all>' 1000 in 1000 out, "
        "'Sink: Out' 1000 in 0 out)"
    )
    weigh = result.metrics[NAMES[1]]
    assert repr(weigh) == (
        f"OperatorMetrics('Weigh [bold]<all>', 2 subtasks, 1000 in, 1000 out, id={weigh.operator_id})"
    )
    assert repr(JobMetrics()) == "JobMetrics()"
    assert repr(JobExecutionResult("some", 1, {"x": [1, 2], "y": [3]})).endswith("1 ms, 3 records collected)")


def test_the_line_of_many_operators_is_short():
    subtask = SubtaskMetrics("", "x", 1, 2, 3, 0, 0)
    metrics = JobMetrics([OperatorMetrics(f"{n:032x}", f"x{n}", None, (subtask,)) for n in range(200)])
    assert repr(metrics).endswith("'x7' 1 in 2 out, 192 more)")
    assert repr(metrics["x0"]) == f"OperatorMetrics('x0', 1 subtasks, 1 in, 2 out, 3 late, id={0:032x})"
    assert printed(metrics).endswith("  … and 150 more operators")


def test_executors_and_pipelines_in_a_line():
    assert repr(LocalExecutor()) == "LocalExecutor()"
    assert repr(SparkExecutor(master="local[2]")) == "SparkExecutor('local[2]')"
    pipeline = plan.Pipeline("p", keyed_pipelines(6), {})
    assert repr(pipeline) == "Pipeline('p', StreamGraph(\"job\", 6 nodes, 4 edges), as Flink 1.11)"


def test_metrics_in_a_terminal(result):
    source, weigh, out = map(result.metrics.__getitem__, NAMES)
    assert printed(result).splitlines() == [
        'Job "weights": 3 operators, 12 ms',
        "",
        "  operator                   p     in    out  bytes out  operator ID",
        f"  Source: Collection Source  1      0  1,000  {source.bytes_out:>9,}  {source.operator_id}",
        f"  Weigh [bold]<all>          2  1,000  1,000          0  {weigh.operator_id}",
        f"  Sink: Out                  2  1,000      0          0  {out.operator_id}",
        "",
        "  operator           metric  value",
        "  Weigh [bold]<all>  seen    1,000",
    ]
    assert printed(weigh).splitlines() == [
        f"Weigh [bold]<all>   {weigh.operator_id}",
        "",
        "  subtask   in  out  late  bytes in  bytes out",
        f"  0        500  500     0  {weigh.subtasks[0].bytes_in:>8,}          0",
        f"  1        500  500     0  {weigh.subtasks[1].bytes_in:>8,}          0",
        "",
        "  metric  value",
        "  seen    1,000",
    ]


def test_metrics_in_a_notebook(result):
    page = result._repr_html_()
    assert "&lt;all&gt;" in page
    operators, functions = Cells(page).tables
    assert operators[0] == ["operator", "p", "in", "out", "bytes out", "operator ID"]
    assert operators[2] == ["Weigh [bold]<all>", "2", "1,000", "1,000", "0", result.metrics[NAMES[1]].operator_id]
    assert functions == [["operator", "metric", "value"], ["Weigh [bold]<all>", "seen", "1,000"]]
    assert Cells(result.metrics._repr_html_()).tables == [operators, functions]
    assert len(Cells(result.metrics[NAMES[1]]._repr_html_()).tables[0]) == 3


def test_graphs_in_a_terminal():
    graph = keyed_pipelines(6)
    assert printed(graph).splitlines()[-5:] == [
        "  edge   partitioner  verdict",
        "  1 → 2  FORWARD      chained",
        "  2 → 3  HASH         not chained: partitioner is HASH, only FORWARD chains",
        "  3 → 4  FORWARD      chained",
        "  4 → 5  FORWARD      chained",
    ]
    assert printed(graph.job_graph()).splitlines()[:4] == [
        "",
        "JobGraph: 3 vertices, 1 dataset",
        "",
        "[1] × 4   slot group default   SourceStreamTask",
    ]
    assert printed(graph.job_graph().execution_graph()).splitlines()[-2:] == [
        "  from     to       distribution  edges  fan-out",
        "  [1] × 4  [0] × 4  ALL_TO_ALL       16  each feeds all 4",
    ]


def test_graphs_in_a_notebook():
    graph = keyed_pipelines(6)
    nodes, edges = Cells(graph._repr_html_()).tables
    assert nodes[3] == ["3", "Keyed Aggregation", "4", "default", "5eb1e8c6706c4ae7cad987080eb7c748", "position"]
    assert edges[2] == ["2 → 3", "HASH", "not chained: partitioner is HASH, only FORWARD chains"]
    chains = Cells(graph.job_graph()._repr_html_()).tables
    assert chains[0] == [
        ["", "Source: Events", "cbc357ccb763df2852fee8c4fc7d55f2"],
        ["→", "Map", "2be4fe38b4ce63aa5bffc06b65e24e03"],
    ]
    assert Cells(graph.job_graph().execution_graph()._repr_html_()).tables[1][1] == [
        "[1] × 4", "[0] × 4", "ALL_TO_ALL", "16", "each feeds all 4",
    ]  # fmt: skip


def test_no_class_of_the_plan_prints_an_address():
    classes = [value for value in vars(plan).values() if isinstance(value, type)]
    assert len(classes) > 20
    assert {cls.__name__ for cls in classes if cls.__repr__ is object.__repr__} == set()
    graph = keyed_pipelines(6)
    assert not re.search(" at 0x", repr([graph, *graph.nodes, *graph.edges, *graph.job_graph().vertices]))


def test_a_table_of_nothing_is_nothing():
    assert list(Shown(3).table(("a",), [], 0, "things")) == []


def test_what_has_no_form_in_html_is_refused():
    with pytest.raises(TypeError, match="Columns"):
        html(Columns([]))


@pytest.mark.skipif(find_spec("IPython") is None, reason="IPython is not installed")
def test_explanations_are_texts_that_notebooks_show_as_lines() -> None:
    from IPython.core.formatters import DisplayFormatter

    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    env.from_collection([1]).print()
    text, reasons = env.explain("markdown"), env.to_pipeline().why("Source: Collection Source")
    shown = DisplayFormatter().format
    assert shown(text)[0] == {"text/plain": str(text), "text/markdown": str(text)}
    assert shown(reasons)[0] == {"text/plain": str(reasons)}
    assert shown(pickle.loads(pickle.dumps(text))) == shown(text)
    assert "\\n" in repr(text)  # it is a text like any other elsewhere
