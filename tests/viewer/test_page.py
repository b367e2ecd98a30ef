"""Pages: what is in them, that nothing of a program leaves its place, and what is said where they cannot be made."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import penstock
from penstock.analysis.model import ProgramModel
from penstock.cli import group
from penstock.datastream import StreamExecutionEnvironment
from penstock.errors import ConfigurationError, InvalidProgramError
from penstock.plan import StreamGraph
from penstock.viewer import page, view
from penstock.viewer.data import column, embedded
from tests.viewer.programs import HOSTILE, hostile, layered, logged, orders

TEMPLATE = "<title>{{TITLE}}</title><meta content=\"connect-src {{CONNECT}}\">{{DATA}}<script>'{{OTHER}}'</script>"


@pytest.fixture(autouse=True)
def template(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of the least that a page is: the built one is looked at by its own tests, in a browser."""
    monkeypatch.setattr(page, "_template", lambda: TEMPLATE)


class Reader(HTMLParser):
    """The elements of a page, and what stands in its data."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.data = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.data += data if self.tags.count("script") == 1 and self.tags[-1] == "script" else ""


def data_of(text: str) -> Any:
    """The data in a page, as a browser reads it."""
    return json.loads(Reader(text).data)


def values(column: Any, rows: int) -> list[Any]:
    """A column as the page reads it."""
    if isinstance(column, list):
        return column
    return [column["all"]] * rows if "all" in column else [column["of"][at] for at in column["at"]]


def test_a_page_has_all_of_its_plan() -> None:
    model = orders()
    shown = data_of(view(model).html())["model"]
    operators = shown["operators"]
    for name in ("name", "uid", "operator_id", "parallelism", "slot_sharing_group", "type", "origin"):
        assert values(operators["columns"][name], operators["rows"]) == [
            getattr(operator, name) for operator in model.operators
        ]
    states = values(operators["columns"]["states"], operators["rows"])
    assert [[state["name"] for state in states_of_one or ()] for states_of_one in states].count(["total"]) == 1
    files = values(operators["columns"]["file"], operators["rows"])
    assert [str(name).rpartition("/")[2] for name in files] == ["programs.py"] * len(files)
    assert values(shown["vertices"]["columns"]["operators"], 7) == [
        list(operator.operators) for operator in model.vertices
    ]
    assert shown["edges"]["rows"] == len(model.edges)


def test_a_page_of_a_program_says_what_native_code_runs() -> None:
    shown = data_of(view(logged()).html())["model"]
    assert shown["native"] == "auto"
    names = values(shown["operators"]["columns"]["name"], shown["operators"]["rows"])
    functions = values(shown["operators"]["columns"]["functions"], shown["operators"]["rows"])
    by_name = dict(zip(names, functions, strict=True))
    assert [verdict["verdict"] for verdict in by_name["Sums"]] == ["compiled", "native"]
    (log,) = by_name["Log"]
    assert (log["verdict"], log["reason"]) == ("Python", "logging.info() writes a log")
    assert log["file"].endswith("tests/viewer/programs.py")
    assert "logging.info(" in log["source"]
    (source,) = by_name["Source: Collection Source"]
    assert (source["verdict"], source["role"]) == ("native", "source")
    assert [verdict["verdict"] for verdict in by_name["Sink: Print to Std. Out"]] == ["native"]
    of_graph = data_of(view(orders()).html())["model"]
    assert of_graph["native"] is None
    assert "functions" not in of_graph["operators"]["columns"]


def test_a_page_of_two_programs_says_what_native_code_runs_of_the_newer_one() -> None:
    shown = data_of(view(logged(off=True), logged()).html())["model"]
    assert shown["native"] == "off"
    names = values(shown["operators"]["columns"]["name"], shown["operators"]["rows"])
    functions = values(shown["operators"]["columns"]["functions"], shown["operators"]["rows"])
    assert [verdict["verdict"] for verdict in functions[names.index("Sums")]] == ["compiled", "native"]


def test_no_text_of_a_program_leaves_its_place() -> None:
    page = view(hostile())
    text = page.html()
    assert Reader(text).tags == ["title", "meta", "script", "script"]
    assert text.count("<script") == 2
    names = values(data_of(text)["model"]["operators"]["columns"]["name"], len(HOSTILE) + 2)
    assert names[1:-1] == list(HOSTILE)
    assert "'{{OTHER}}'" in text  # what is put in is not looked at again


@pytest.mark.parametrize("text", [*HOSTILE, "half \ud800 a pair", "]]>", "\u2028\u2029"])
def test_embedded_data_stay_in_their_element(text: str) -> None:
    written = embedded({text: [text]})
    assert not re.search("[<>&\u2028\u2029\ud800-\udfff]", written)
    assert json.loads(written) == {text: [text]}


def test_a_title_is_the_jobs_name_and_nothing_else() -> None:
    model = ProgramModel("</title><b>\u202eevil\0" + "x" * 500, "1.11", (), (), (), ())
    title = re.search("<title>(.*)</title>", view(model).html())
    assert title is not None
    assert html.unescape(title[1]) == "</title><b> evil " + "x" * 183


def test_a_notebook_gets_a_frame_that_sees_nothing_around_it() -> None:
    page = view(orders())
    bundle = page._repr_mimebundle_()
    frame = bundle["text/html"]
    assert 'sandbox="allow-scripts allow-downloads allow-modals"' in frame
    source = re.search('srcdoc="([^"]*)"', frame)
    assert source is not None
    assert html.unescape(source[1]) == page.html()
    assert bundle["text/plain"] == "Page('orders', 9 operators); .save('plan.html') writes it"


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ([], []),
        ([1, 1, 1], {"all": 1}),
        (["a", "b"] * 4, {"of": ["a", "b"], "at": [0, 1] * 4}),
        ([1, 2, 3], [1, 2, 3]),
        ([True, 1] * 4, {"of": [True, 1], "at": [0, 1] * 4}),
        ([{"a": 1}, {"a": 1}], [{"a": 1}, {"a": 1}]),
    ],
)
def test_columns(values: list[Any], written: Any) -> None:
    assert column(values) == written


def test_graphs_are_viewed_too() -> None:
    graph = StreamGraph.from_dict({"nodes": [{"id": 1, "name": "Source: a", "kind": "source"}], "edges": []})
    for plan in (graph, graph.job_graph(flink="2.3")):
        assert data_of(view(plan).html())["model"]["operators"]["rows"] == 1


def test_large_plans_are_small_pages() -> None:
    assert len(view(layered(2000)).html()) < 2000 * 170


def test_a_checkout_without_the_page_says_how_to_build_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(page, "files", lambda _: tmp_path)
    page._template.cache_clear()
    with pytest.raises(ConfigurationError, match="make viewer"):
        view(orders()).html()


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    program = tmp_path / "job.py"
    program.write_text(
        "from penstock.datastream import StreamExecutionEnvironment\n"
        "env = StreamExecutionEnvironment.get_execution_environment()\n"
        "env.from_collection([1]).map(str).print()\n"
        "env.execute('from the command')\n"
    )
    target = tmp_path / "out.html"
    result = CliRunner().invoke(group, ["view", "-o", str(target), str(program)])
    assert (result.exit_code, result.stdout) == (0, f"{target}\n")
    assert data_of(target.read_text())["model"]["name"] == "from the command"


def test_an_environment_is_viewed_as_it_is_and_goes_on() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    env.from_collection([1]).map(str).name("Text").print()
    for shown_page in (view(env), env.view()):
        shown = data_of(shown_page.html())["model"]["operators"]
        assert "Text" in values(shown["columns"]["name"], shown["rows"])
    env.execute()
    with pytest.raises(InvalidProgramError, match="no operators"):
        env.view()


@pytest.mark.parametrize("wrong", [None, 5, "plan.json", StreamExecutionEnvironment])
def test_what_has_no_plan_is_not_viewed(wrong: Any) -> None:
    with pytest.raises(InvalidProgramError, match=r"view\(\) was given .* Give an environment, such as env"):
        view(wrong)


def test_a_page_says_which_penstock_made_it() -> None:
    shown = data_of(view(orders()).html())["model"]
    assert (shown["penstock"], shown["verdict"]) == (penstock.__version__, None)
