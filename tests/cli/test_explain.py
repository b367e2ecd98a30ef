"""``penstock explain``: the plan of a program, readable at 100 columns."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "word_count.py"
IDS = ("bc764cd8", "20ba6b65", "c09dc291", "47d89856", "8c01f447", "174c1fee")


@pytest.fixture
def explained(penstock):
    def call(*arguments):
        result = penstock("explain", *arguments)
        assert result.exit_code == 0, result.output
        return result.stdout

    return call


def test_the_word_count(explained):
    text = explained(EXAMPLE)
    assert 'Plan of job "test"' in text
    assert "StreamGraph: 6 operators, 5 edges" in text
    assert "JobGraph: 4 vertices, 3 datasets" in text
    assert "ExecutionGraph: 9 subtasks, 17 execution edges" in text
    for operator_id in IDS:
        assert len(re.findall(rf"\b{operator_id}[0-9a-f]{{24}}\b", text)) == 2  # with its operator, and in its chain


def test_operators_with_state_are_shown(explained, program):
    lines = """
        from penstock.datastream import KeyedProcessFunction
        from penstock.datastream.state import ValueStateDescriptor

        class Counts(KeyedProcessFunction):
            def open(self, context):
                self.count = context.get_state(ValueStateDescriptor("count", Types.LONG()))

            def process_element(self, value, ctx):
                yield value

        class Fails(Counts):
            def open(self, context):
                raise ConnectionError("no cluster")

        keyed = env.from_collection([1]).map(str).key_by(len)
        keyed.process(Counts()).uid("counted").print()
        keyed.process(Fails()).name("unsure").print()
        env.execute()
    """
    rows = [line.split() for line in explained("--level", "stream", program(lines)).splitlines() if "keep" in line]
    assert rows[:2] == [["keeps", "positions"], ["keeps", "count"]]
    assert rows[2][:3] == ["may", "keep", "state:"]
    assert len(rows) == 3


def test_one_is_not_plural(explained, program):
    text = explained(program("env.from_collection([1]).disable_chaining().print(); env.execute()"))
    assert "JobGraph: 2 vertices, 1 dataset\n" in text
    assert "ExecutionGraph: 2 subtasks, 1 execution edge\n" in text
    assert "ExecutionGraph: 1 subtask, 0" in explained(program("env.from_collection([1]).print(); env.execute()"))


def test_why_an_edge_is_not_chained(explained):
    lines = explained(EXAMPLE).split("JobGraph:")[0]
    verdicts = dict(re.findall(r"^  (\d+ → \d+) +[A-Z]+ +(chained|not chained: \S.*)$", lines, re.MULTILINE))
    assert list(verdicts) == ["1 → 2", "2 → 3", "3 → 4", "4 → 6", "6 → 7"]
    assert verdicts["2 → 3"] == verdicts["6 → 7"] == "chained"
    assert all(len(reason) > 20 for edge, reason in verdicts.items() if edge in ("1 → 2", "3 → 4", "4 → 6"))
    assert "flatmap_sg" in lines


def test_no_line_is_wider_than_100_columns(explained, program):
    name = "a name that is long " * 20
    path = program(
        f"""
        s = env.from_collection([1])
        a = s.map(lambda n: n).name({name!r}).uid("u" * 150)
        for p in range(1, 5):
            s = a.filter(bool).name("[bold]not markup[/bold]").set_parallelism(p).slot_sharing_group("g" * 40)
        s.union(a).print()
        env.execute("x" * 150)
        """
    )
    text = explained(path)
    assert max(map(len, text.splitlines())) <= 100
    assert "[bold]not markup[/bold]" in text
    assert "\x1b" not in text


def test_arguments_after_the_file_are_the_programs(explained, program):
    path = program(
        """
        env.from_collection([1]).print().name(" ".join(sys.argv[1:]))
        env.execute()
        """
    )
    assert "Sink: --limit 3 -h" in explained(path, "--", "--limit", "3", "-h")


def test_json_is_one_document_whatever_the_program_prints(explained, program):
    path = program("print('noise'); env.from_collection([1]).map(lambda n: n).uid('a').print(); env.execute('j')")
    document = json.loads(explained("--json", path))
    assert document["name"] == "j"
    assert "897859f6655555855a890e51483ab5e6" in [operator["operator_id"] for operator in document["operators"]]
    assert len(document["spec"]["edges"]) == len(document["edges"])
    assert {"chained", "rule", "reason"} <= set(document["edges"][0])
    assert [vertex["parallelism"] for vertex in document["vertices"]] == [1]
    assert document == json.loads(explained("--format", "json", path))


def test_only_the_first_execute_counts_and_nothing_runs(penstock, program, tmp_path):
    path = program(
        f"""
        import pathlib
        env.from_collection([1]).map(lambda n: pathlib.Path({str(tmp_path / "ran")!r}).touch()).print()
        try:
            env.execute("first")
        except Exception:
            print("swallowed")
        pathlib.Path({str(tmp_path / "after")!r}).touch()
        env.execute("second")
        """
    )
    result = penstock("explain", path)
    assert result.exit_code == 0
    assert 'Plan of job "first"' in result.stdout
    assert "swallowed" not in result.output
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "after").exists()


def test_what_the_program_prints_goes_to_standard_error(penstock, program):
    result = penstock("explain", program("print('hello'); env.from_collection([1]).print(); env.execute()"))
    assert "hello" in result.stderr
    assert "hello" not in result.stdout


def test_long_tables_are_cut_and_say_so(explained, program):
    path = program(
        """
        s = env.from_collection([1])
        for _ in range(30):
            s = s.map(lambda n: n).set_parallelism(1)
        s.print()
        env.execute()
        """
    )
    short, whole = explained("--limit", "5", path), explained("--limit", "0", path)
    assert "… and 27 more operators (--limit 0 shows all)" in short
    assert "more" not in whole
    assert whole.count("chained") == 31


def test_a_program_that_never_executes_is_an_error(penstock, program):
    result = penstock("explain", program("env.from_collection([1]).print()"))
    assert result.exit_code == 1
    assert "without calling execute()" in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_a_plan_that_is_refused_shows_the_reason(penstock, program):
    path = program("s = env.from_collection([1]).uid('x'); s.map(lambda n: n).uid('x').print(); env.execute()")
    result = penstock("explain", path)
    assert result.exit_code == 1
    assert 'uid "x"' in result.stderr
    assert "StreamGraph: 3 operators, 2 edges" in result.stdout
    assert "JobGraph" not in result.stdout
    assert "Traceback" not in result.stderr


def test_the_programs_own_exit_status_is_kept(penstock, program):
    assert penstock("explain", program("sys.exit(7)")).exit_code == 7


def test_what_cannot_run_yet_can_be_explained(explained, penstock, program):
    lines = """
        from penstock.datastream import CoMapFunction
        class Both(CoMapFunction):
            def map1(self, value): return value
            def map2(self, value): return value
        env.from_collection([1]).connect(env.from_collection(["a"])).map(Both()).write_to_socket("localhost", 9)
        env.execute()
        """
    path = program(lines)
    assert re.search(r"^  \d+ → \d+ \(2\) +REBALANCE|^  \d+ → \d+ \(2\) +FORWARD", explained(path), re.MULTILINE)
    assert penstock("run", "--local", path).exit_code == 1


def test_a_program_that_catches_everything_is_explained(explained, program):
    path = program(
        """
        env.from_collection([1]).print()
        try:
            env.execute("first")
        except:
            print("caught")
        env.from_collection([1]).print()
        env.execute("second")
        """
    )
    assert 'Plan of job "first"' in explained(path)


def test_an_unknown_option_is_a_usage_error(penstock, program):
    result = penstock("explain", "--frobnicate", program("env.execute()"))
    assert result.exit_code == 2
    assert "No such option '--frobnicate'" in result.stderr


@pytest.mark.slow
def test_a_big_plan_is_explained_in_seconds(explained, program):
    path = program(
        """
        s = env.from_collection([1])
        for number in range(20_000):
            s = s.map(lambda n: n) if number % 2 else s.map(lambda n: n).rebalance()
        s.print()
        env.execute()
        """
    )
    text = explained(path)
    assert "20,002 operators" in text
    assert len(text.splitlines()) < 2_000


def test_a_locale_without_arrows_is_no_reason_to_fail():
    command = [sys.executable, "-m", "penstock.cli", "explain", str(EXAMPLE)]
    western = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    run = subprocess.run(command, env=western, capture_output=True, encoding="latin-1", check=False)
    assert run.returncode == 0, run.stderr
    assert "1 ? 2" in run.stdout


BLOCKING = """
    s = env.from_collection([1, 2, 3]).set_parallelism(1)
    for name in ("a", "b"):
        s.rebalance().map(lambda n: n).set_parallelism(2).name(name).print()
    env.execute()
"""


def test_a_program_is_explained_as_the_flink_asked_for(explained, program):
    path = program(BLOCKING)
    assert "as Flink" not in explained(path)
    assert "as Flink 2.3" in explained("--flink", "2.3", path)
    documents = [json.loads(explained("--json", *flags, path)) for flags in ((), ("--flink", "2.3"))]
    assert [document["flink"] for document in documents] == ["1.11", "2.3"]


def test_the_programs_own_setting_counts_unless_an_option_says_otherwise(explained, program):
    path = program(
        """
        from penstock.common import Configuration
        settings = Configuration().set_string("penstock.flink", "2.3")
        env = StreamExecutionEnvironment.get_execution_environment(settings)
        env.from_collection([1]).print()
        env.execute()
        """
    )
    assert "as Flink 2.3" in explained(path)
    assert "as Flink" not in explained("--flink", "1.11", path)


def test_an_unknown_flink_in_a_program_is_refused_with_those_there_are(penstock, program):
    path = program(
        """
        from penstock.common import Configuration
        settings = Configuration().set_string("penstock.flink", "1.12")
        StreamExecutionEnvironment.get_execution_environment(settings)
        """
    )
    result = penstock("explain", path)
    assert result.exit_code == 1
    assert "'1.12'" in result.stderr
    assert "2.3, or 1.11, which is the default" in result.stderr


def test_what_the_program_says_of_its_operators(explained, program):
    path = program(
        """
        words = env.from_collection(["a"]).map(str.upper).set_description("louder, but the same [words]")
        words.print().set_description("for the eye").set_parallelism(1)
        env.execute()
        """
    )
    shown = explained(path).split("JobGraph:")[0]
    assert re.search(r"^  2 +louder, but the same \[words\]$", shown, re.MULTILINE)
    assert re.search(r"^  3 +for the eye$", shown, re.MULTILINE)
    document = json.loads(explained("--json", path))
    described = [operator["description"] for operator in document["operators"]]
    assert described == ["", "louder, but the same [words]", "for the eye"]
    assert "louder" not in json.dumps(document["spec"])


NATIVE = """
    pairs = env.from_collection([("a", 1)], type_info=Types.TUPLE([Types.STRING(), Types.LONG()]))
    sums = pairs.filter(lambda pair: pair[1] > 0).key_by(lambda pair: pair[0]).sum(1)
    sums.map(lambda pair: print(pair)).name("shown")
    env.execute()
"""


def test_native_says_what_is_compiled_and_where_the_rest_stays_in_python(explained, program):
    path = program(NATIVE)
    text = explained("--native", path)
    assert text.splitlines()[0] == 'Native code of job "Flink Streaming Job": 2 native, 2 compiled, 1 in Python'
    assert "  1  Source: Collection Source\n     source: native\n" in text
    assert "  2  Filter\n     function lambda: compiled\n" in text
    assert "     key lambda: compiled\n     operator: native\n" in text
    reason, place, source, mark = text.splitlines()[-4:]
    assert re.fullmatch(r"     function lambda: Python: print\(\) .*", reason)
    column = path.read_text().splitlines()[9].index("print(") + 1
    assert place.endswith(f"program.py:10:{column}")
    assert source.strip() == 'sums.map(lambda pair: print(pair)).name("shown")'
    assert source[mark.index("^") :].startswith("print(")


def test_native_shows_the_keys_of_both_inputs(explained, program):
    lines = """
        from penstock.datastream.functions import CoMapFunction

        class Both(CoMapFunction):
            def map1(self, value): return value
            def map2(self, value): return value

        names = env.from_collection([("a", 1)], type_info=Types.TUPLE([Types.STRING(), Types.LONG()]))
        numbers = names.map(lambda pair: pair, output_type=names.get_type())
        first, second = names.key_by(lambda pair: pair[0]), numbers.key_by(lambda pair: input())
        first.connect(second).map(Both()).name("both")
        env.execute()
    """
    text = explained("--native", program(lines))
    both = text[text.index("both") :].splitlines()
    assert both[1] == "     first key lambda: compiled"
    assert both[2].startswith("     second key lambda: Python: input() ")
    document = json.loads(explained("--native", "--json", program(lines)))
    roles = [part["role"] for part in document["operators"][-1]["functions"]]
    assert roles == ["first key", "second key", "function", "function"]


def test_native_is_data_with_json(explained, program):
    document = json.loads(explained("--native", "--json", program(NATIVE)))
    assert (document["format"], document["name"], document["native"]) == (1, "Flink Streaming Job", "auto")
    verdicts = [(row["name"], [part["verdict"] for part in row["functions"]]) for row in document["operators"]]
    source = "Source: Collection Source"
    assert verdicts.pop(0) == (source, ["native"])
    assert verdicts == [("Filter", ["compiled"]), ("Keyed Aggregation", ["compiled", "native"]), ("shown", ["Python"])]
    function = document["operators"][3]["functions"][0]
    assert (function["line"], function["role"], function["function"]) == (10, "function", "lambda")
    assert function["source"].strip().startswith("sums.map")


def test_native_says_that_it_is_off(explained, program):
    lines = """
        from penstock.common import Configuration
        env.configure(Configuration().set_string("penstock.native", "off"))
        env.from_collection([1]).map(lambda n: n + 1)
        env.execute()
    """
    assert "penstock.native is off: all of it runs in Python." in explained("--native", program(lines))
    assert json.loads(explained("--native", "--json", program(lines)))["native"] == "off"


def test_native_names_functions_that_operators_call_in_python(explained, program):
    lines = """
        from penstock.datastream import AsyncDataStream, AsyncFunction
        from penstock.common import Time

        class Same(AsyncFunction):
            async def async_invoke(self, value): return [value]

        AsyncDataStream.unordered_wait(env.from_collection([1]), Same(), Time.seconds(1), 1)
        env.execute()
    """
    text = explained("--native", program(lines))
    assert re.search(r"function Same: Python: \w+ calls its function in Python", text)


def test_native_names_functions_with_state_and_sinks(explained, program):
    lines = """
        from penstock.datastream import MapFunction, SinkFunction, ValueStateDescriptor

        class Count(MapFunction):
            def open(self, runtime_context):
                self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

            def map(self, value):
                self.count.update((self.count.value() or 0) + 1)
                return self.count.value()

        class Rows(SinkFunction):
            rows = 0

            def invoke(self, value):
                self.rows += 1

        class Writing(SinkFunction):
            def invoke(self, value):
                print(value)

        counts = env.from_collection([1], Types.LONG()).key_by(lambda n: n % 2, Types.LONG()).map(Count())
        counts.add_sink(Rows())
        counts.add_sink(Writing())
        env.execute()
    """
    text = explained("--native", program(lines))
    assert "     function Count.map: compiled\n" in text
    assert "     sink Rows: compiled\n" in text
    assert "     sink Writing: Python: print() prints" in text


def test_native_names_the_methods_of_process_functions(explained, program):
    lines = """
        from penstock.datastream import ProcessFunction

        class Same(ProcessFunction):
            def process_element(self, value, ctx):
                yield value

        class Timed(ProcessFunction):
            def process_element(self, value, ctx):
                yield ctx.get_current_key()

        env.from_collection([1]).process(Same()).process(Timed())
        env.execute()
    """
    text = re.sub(r"\s+", " ", explained("--native", program(lines)))
    assert "function Same.process_element: compiled" in text
    assert "function Timed.process_element: Python: it asks for a key, state or timers, and its stream has no" in text


def test_native_is_the_same_where_state_is_on_disk(explained, program):
    lines = """
        from penstock.common import Configuration, Time
        from penstock.datastream.window import TumblingEventTimeWindows

        env.configure(Configuration({"penstock.state.backend": "BACKEND"}))
        pairs = env.from_collection([(1, 2)], Types.TUPLE([Types.LONG(), Types.LONG()])).key_by(lambda pair: pair[0])
        pairs.sum(1).print()
        pairs.window(TumblingEventTimeWindows.of(Time.seconds(1))).reduce(lambda one, other: one).print()
        env.execute()
    """
    texts = {explained("--native", program(lines.replace("BACKEND", backend))) for backend in ("memory", "disk")}
    assert len(texts) == 1
    assert texts.pop().count("operator: native") == 2


@pytest.mark.parametrize("options", [("--why", "2"), ("--level", "job"), ("--format", "dot")])
def test_native_has_a_form_of_its_own(penstock, program, options):
    result = penstock("explain", "--native", *options, program(NATIVE))
    assert result.exit_code == 2
    assert "--native has a form of its own" in result.stderr
