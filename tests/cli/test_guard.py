"""What the commands say of an edit before it runs is what the run then does: lock file, checkpoint directory,
savepoint, run."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.effort import one_of

pytestmark = pytest.mark.slow

IMPORTS = """from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple
from penstock.common import Row
"""
HEAD = '''
from penstock.common import Configuration, Time, Types, WatermarkStrategy
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import FileSource, StreamFormat
from penstock.datastream.functions import AggregateFunction, KeyedBroadcastProcessFunction, ProcessWindowFunction
from penstock.datastream.state import *
from penstock.datastream.window import *

T, INT, LONG, DOUBLE, TEXT = Types.TUPLE, Types.INT(), Types.LONG(), Types.DOUBLE(), Types.STRING()

class Total(KeyedProcessFunction):
    """The total of the last field."""
    def __init__(self, declared=None, name="total"):
        self.declared, self.name = declared, name
    def open(self, context):
        self.total = context.get_state(ValueStateDescriptor(self.name, self.declared))
    def process_element(self, value, ctx):
        total = int(self.total.value() or 0) + int(value[-1])
        self.total.update(str(total) if self.declared == TEXT else total)
        yield value[0], total

class Rules(KeyedBroadcastProcessFunction):
    """Emits each record, and knows how often each rule came."""
    def __init__(self, rules):
        self.rules = rules
    def process_element(self, value, ctx):
        yield value[0], len(list(ctx.get_broadcast_state(self.rules).items()))
    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(self.rules).put(value[0], type(self).made(value[1]))

def ruled(declared, kind):
    rules = MapStateDescriptor("rules", INT, declared)
    Rules.made = kind
    return keyed.connect(pairs.broadcast(rules)).process(Rules(rules)).uid("c")

def timed(stream):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamps())
    return stream.assign_timestamps_and_watermarks(strategy).key_by(lambda p: p[0], INT)

class Stamps(TimestampAssigner):
    def extract_timestamp(self, value, timestamp):
        return value[1] * 1000

class Whole(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, sum(each[-1] for each in elements)

def lines_of(env):
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "in")
    source = files.monitor_continuously(Time.milliseconds(100)).build()
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "lines", TEXT).uid("lines")

now = Configuration.from_dict({"penstock.step.available-now": "true", **globals().get("MORE", {})})
env = StreamExecutionEnvironment.get_execution_environment(now)
env.set_parallelism(1)
pairs = lines_of(env).map(lambda line: (int(line.split()[0]), int(line.split()[1])), T([INT, INT]))
keyed = pairs.key_by(lambda pair: pair[0], INT)
'''
PAIRS = "pairs.key_by(lambda pair: pair[0], INT)"
TRIPLES = "pairs.map(lambda p: (p[0], p[1], p[1]), T([INT, INT, INT])).key_by(lambda p: p[0], INT)"
KEPT, LOST, REFUSED = "kept", "lost", "refused"
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Row:
    """An edit of the operator with the uid ``c``.

    Attributes:
        id: of the edit.
        before, after: what makes the stream that is printed, of the stream ``pairs``.
        run: what the run does: ``kept``, ``lost`` or ``refused``.
        lock: what a lock file says, if it cannot know: ``unknown``.
        saved: the same of a checkpoint directory.
        classes: what stands before all that, in the program before and after.
        apart: whether it is run in a process of its own: this one has the classes of the program before.
    """

    id: str
    before: str
    after: str
    run: str
    lock: str = ""
    saved: str = ""
    classes: tuple[str, str] = ("", "")
    apart: bool = False


SUM = f'{PAIRS}.sum(1).uid("c")'
COUNTED = '{}.count_window(4).sum({}).uid("c")'
VALUE = f'{PAIRS}.process(Total({{}})).uid("c")'
KEYED = (
    'pairs.map(lambda p: ({0}(p[0]), p[1]), T([{1}, INT])).key_by(lambda p: p[0], {1}).process(Total(LONG)).uid("c")'
)
LATEST = 'pairs.map(lambda p: Thing(*p)).key_by(lambda t: t.key, INT).reduce(lambda one, other: other).uid("c")'
FIELDS = "key: int\n    count: int"
PLAIN = "class Thing"
TWO = f"@dataclass\n{PLAIN}:\n    {FIELDS}"
KEY = "@dataclass(frozen=True)\nclass Key:\n    key: int"
OF_KEY = f"{PAIRS.partition('.')[0]}.key_by(lambda pair: Key(pair[0])).process(Total(LONG)).uid('c')"
MEMBERS = (
    "pairs.map(lambda p: (p[0], list(Colour)[-1])).key_by(lambda p: p[0], INT)"
    ".reduce(lambda one, other: other).uid('c')"
)
UNDECLARED = "pairs.key_by(lambda pair: {}(pair[0])).process(Total(LONG)).uid('c')"
OVER = 'timed(pairs).window({}).reduce(lambda one, other: other).uid("c")'
TUMBLING, CLOCK = (f"Tumbling{time}TimeWindows.of(Time.seconds(60))" for time in ("Event", "Processing"))
SESSIONS = "EventTimeSessionWindows.with_gap(Time.seconds(60))"
SLIDING = "SlidingEventTimeWindows.of(Time.seconds(60), Time.seconds(30))"
ROWS = [
    Row("nothing", SUM, SUM, KEPT),
    Row("sum-field-gained", SUM, f'{TRIPLES}.sum(1).uid("c")', REFUSED),
    Row(
        "sum-fields-swapped",
        "pairs.map(lambda p: Row(a=p[0], b=str(p[1])), Types.ROW([INT, TEXT])).key_by(lambda p: p[0], INT)"
        '.reduce(lambda one, other: other).uid("c")',
        "pairs.map(lambda p: Row(b=str(p[1]), a=p[0]), Types.ROW([TEXT, INT])).key_by(lambda p: p[1], INT)"
        '.reduce(lambda one, other: other).uid("c")',
        REFUSED,
    ),
    Row("window-field-gained", COUNTED.format(PAIRS, 1), COUNTED.format(TRIPLES, 1), REFUSED),
    Row("sum-to-process", SUM, f'{PAIRS}.process(Total()).uid("c")', LOST),
    Row("long-to-text", VALUE.format("LONG"), VALUE.format("TEXT"), REFUSED),
    Row("long-to-int", VALUE.format("LONG"), VALUE.format("INT"), REFUSED),
    Row("int-to-long", VALUE.format("INT"), VALUE.format("LONG"), KEPT),
    Row("key-int-to-text", KEYED.format("int", "INT"), KEYED.format("str", "TEXT"), REFUSED),
    Row("key-long-to-double", KEYED.format("int", "LONG"), KEYED.format("float", "DOUBLE"), REFUSED),
    Row("key-int-to-long", KEYED.format("int", "INT"), KEYED.format("int", "LONG"), KEPT, UNKNOWN, UNKNOWN),
    Row(
        "window-sum-to-process",
        COUNTED.format(PAIRS, 1),
        f'{PAIRS}.count_window(4).process(Whole()).uid("c")',
        REFUSED,
    ),
    Row(
        "undeclared-record-of-another-shape",
        'pairs.map(lambda p: p).key_by(lambda p: p[0]).sum(1).uid("c")',
        'pairs.map(lambda p: (p[0], "x", p[1])).key_by(lambda p: p[0]).sum(2).uid("c")',
        REFUSED,
        UNKNOWN,
        UNKNOWN,
    ),
    Row("tumbling-to-session", OVER.format(TUMBLING), OVER.format(SESSIONS), LOST),
    Row("session-to-tumbling", OVER.format(SESSIONS), OVER.format(TUMBLING), LOST),
    Row("event-time-to-clock", OVER.format(TUMBLING), OVER.format(CLOCK), LOST),
    Row("tumbling-to-sliding", OVER.format(TUMBLING), OVER.format(SLIDING), KEPT),
    Row("window-size", OVER.format(TUMBLING), OVER.format(TUMBLING).replace("seconds(60)", "seconds(90)"), KEPT),
    Row(
        "count-to-tumbling",
        f'{PAIRS}.count_window(4).reduce(lambda one, other: other).uid("c")',
        OVER.format(TUMBLING),
        LOST,
    ),
    Row("reduce-to-window", f'{PAIRS}.reduce(lambda one, other: other).uid("c")', OVER.format(TUMBLING), LOST),
    Row("window-to-reduce", OVER.format(TUMBLING), f'{PAIRS}.reduce(lambda one, other: other).uid("c")', LOST),
    Row("broadcast-int-to-long", "ruled(INT, int)", "ruled(LONG, int)", KEPT),
    Row("broadcast-int-to-text", "ruled(INT, int)", "ruled(TEXT, str)", REFUSED),
    Row("field-gained-with-default", LATEST, LATEST, KEPT, UNKNOWN, UNKNOWN, (TWO, f"{TWO}\n    much: int = 0")),
    Row("field-gained-without-default", LATEST, LATEST, REFUSED, UNKNOWN, "", (TWO, f"{TWO}\n    much: int")),
    Row("dataclass-to-tuple", LATEST, LATEST, REFUSED, UNKNOWN, "", (TWO, f"{PLAIN}(NamedTuple):\n    {FIELDS}")),
    Row(
        "class-renamed",
        LATEST,
        LATEST.replace("Thing", "Other"),
        REFUSED,
        UNKNOWN,
        UNKNOWN,
        (TWO, TWO.replace("Thing", "Other")),
        apart=True,
    ),
    Row("class-of-the-key", OF_KEY, OF_KEY, REFUSED, UNKNOWN, UNKNOWN, (KEY, f"{KEY}\n    much: int = 0")),
    Row(
        "member-lost",
        MEMBERS,
        MEMBERS,
        REFUSED,
        UNKNOWN,
        UNKNOWN,
        ("class Colour(Enum):\n    RED = 1\n    BLUE = 2", "class Colour(Enum):\n    RED = 1"),
    ),
    Row("undeclared-keys-of-another-type", UNDECLARED.format("int"), UNDECLARED.format("str"), LOST, UNKNOWN, UNKNOWN),
    Row("undeclared-keys", UNDECLARED.format("int"), UNDECLARED.format("int"), KEPT, UNKNOWN, UNKNOWN),
    Row(
        "keys-as-in-pyflink",
        VALUE.format("LONG"),
        VALUE.format("LONG"),
        REFUSED,
        classes=("", "MORE = {'penstock.pyflink': 'true'}"),
    ),
    Row("state-renamed", VALUE.format("LONG"), VALUE.format("LONG, 'sum'"), LOST),
]


def ids(row: Row) -> str:
    return row.id


@pytest.mark.parametrize("row", ROWS[:: one_of(3)], ids=ids)
def test_the_guard_says_what_the_run_does(penstock, tmp_path, monkeypatch, row: Row) -> None:
    monkeypatch.chdir(tmp_path)
    _write(row.classes[0], row.before, "1 10\n2 20\n", "monday")
    first = _run(penstock)
    assert first.exit_code == 0, first.stderr
    assert penstock("lock", "job.py").exit_code == 0
    _write(row.classes[1], row.after, "1 5\n2 5\n1 1\n1 1\n", "tuesday")
    verdicts = {
        "lock": _checked(penstock("check", "--format", "json", "job.py")),
        "checkpoint directory": _checked(penstock("check", "--format", "json", "--from-savepoint", "job", "job.py")),
        "alone": _verdict(penstock("savepoint", "check", "--json", "job", "job.py")),
    }
    status, output = _run_apart() if row.apart else _status(_run(penstock))
    done = REFUSED if status else LOST if "carried along unread" in output or "begin empty" in output else KEPT
    assert done == row.run, output
    expected = {
        "lock": row.lock or row.run,
        "checkpoint directory": row.saved or row.run,
        "alone": row.saved or row.run,
    }
    assert verdicts == expected


def _write(classes: str, stream: str, records: str, name: str) -> None:
    Path("in").mkdir(exist_ok=True)
    Path("in", name).write_text(records)
    lines = f"stream = {stream}\nstream.print()\nenv.execute('job')\n"
    Path("job.py").write_text(f"{IMPORTS}\n{classes}\n{HEAD}" + textwrap.dedent(lines))


def _run(penstock):
    return penstock("run", "--local", "--checkpoint-directory", "job", "job.py")


def _status(result) -> tuple[int, str]:
    return result.exit_code, result.stderr


def _run_apart(*options: str) -> tuple[int, str]:
    command = (
        sys.executable,
        "-m",
        "penstock.cli",
        "run",
        "--local",
        *options,
        "--checkpoint-directory",
        "job",
        "job.py",
    )
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def _checked(result) -> str:
    """What ``check`` says, and that its exit status says the same."""
    document = json.loads(result.stdout)
    severities = {problem["severity"] for problem in document["problems"]}
    assert result.exit_code == bool(severities), result.stdout
    return REFUSED if "blocked" in severities else LOST if severities else UNKNOWN if document["unknown"] else KEPT


def _verdict(result) -> str:
    """What ``savepoint check`` says, and that its exit status says the same."""
    document = json.loads(result.stdout)
    codes = {finding["code"] for finding in document["findings"]}
    verdict = (
        REFUSED if not document["restored"] else LOST if "lost" in codes else UNKNOWN if "unknown" in codes else KEPT
    )
    assert result.exit_code == (verdict in (REFUSED, LOST))
    return verdict


MOVED = """
from {} import Thing
"""


@pytest.mark.parametrize(("keeps", "expected"), [(False, REFUSED), (True, UNKNOWN)])
def test_a_class_that_has_moved(tmp_path, monkeypatch, keeps: bool, expected: str) -> None:
    """In processes of their own, as this one would go on with the modules that it has."""
    monkeypatch.chdir(tmp_path)
    thing = TWO.replace("Thing:", "Thing:  # moved")
    formerly = "from penstock.common import formerly\n"
    Path("things.py").write_text(f"from dataclasses import dataclass\n{thing}\n")
    _write(MOVED.format("things"), LATEST, "1 10\n", "monday")
    assert _run_apart()[0] == 0
    Path("things.py").unlink()
    named = f"{formerly}@formerly('things.Thing')\n{thing}" if keeps else thing
    Path("others.py").write_text(f"from dataclasses import dataclass\n{named}\n")
    _write(MOVED.format("others"), LATEST, "1 5\n", "tuesday")
    command = (sys.executable, "-m", "penstock.cli", "check", "--format", "json", "--from-savepoint", "job", "job.py")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    document = json.loads(done.stdout)
    assert done.returncode == (not keeps)
    assert (REFUSED if document["problems"] else UNKNOWN) == expected
    assert (_run_apart()[0] != 0) == (not keeps)


WITH_THING = "from things import Thing"
RULED = "ruled(None, lambda number: Thing(number, number))"
OF_THINGS = "pairs.key_by(lambda pair: Thing(*pair)).process(Total(LONG)).uid('c')"


@pytest.mark.parametrize(
    ("before", "after", "done"),
    [
        (RULED, "keyed.process(Total(LONG)).uid('c')", "rules: objects of the class things.Thing are in it"),
        (LATEST, "keyed.process(Total(LONG)).uid('c')", "_op_state: objects of the class things.Thing are in it"),
        (OF_THINGS, "keyed.process(Total(LONG)).uid('c')", ""),
    ],
)
def test_what_has_objects_of_a_class_that_is_gone_is_dropped(tmp_path, monkeypatch, before, after, done) -> None:
    """States that nobody asks for, if that is allowed; not keys."""
    monkeypatch.chdir(tmp_path)
    Path("things.py").write_text(
        f"from dataclasses import dataclass\n{TWO.replace('@dataclass', '@dataclass(frozen=True)')}\n"
    )
    _write(WITH_THING, before, "1 10\n", "monday")
    assert _run_apart()[0] == 0
    Path("things.py").unlink()
    _write("", after, "1 5\n", "tuesday")
    status, output = _run_apart()
    assert status == 1
    assert "objects of the class things.Thing, which the program does not have" in output.replace("\n  ", " ")
    assert ("penstock savepoint drop" in output) == bool(done)
    status, output = _run_apart("-n")
    assert (status, done in output) == (0 if done else 1, True), output


SINKS = """
from penstock.common import Encoder
from penstock.datastream.connectors import FileSink
from penstock.datastream import StreamExecutionEnvironment
from penstock.common import Types
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2], Types.INT()).uid("numbers")
{}
numbers.{}sink_to(FileSink.for_row_format("out", Encoder.simple_string_encoder()).build())
env.execute("sinks")
"""


def test_a_sink_without_a_uid_that_has_published_all_loses_nothing(penstock, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    sinks = SINKS.replace(
        "from penstock.common import Encoder\n", "from penstock.common.serialization import Encoder\n"
    )
    Path("job.py").write_text(sinks.format("", ""))
    assert _run(penstock).exit_code == 0
    assert penstock("lock", "job.py").exit_code == 0
    Path("job.py").write_text(sinks.format("numbers.print()", "filter(bool)."))
    assert _checked(penstock("check", "--format", "json", "job.py")) == KEPT
    assert _checked(penstock("check", "--format", "json", "--from-savepoint", "job", "job.py")) == KEPT
    assert _verdict(penstock("savepoint", "check", "--json", "job", "job.py")) == KEPT
    assert _run(penstock).exit_code == 0


def test_a_change_of_key_window_or_place_is_a_note(penstock, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    _write("", OVER.format(TUMBLING), "1 10\n", "monday")
    assert penstock("lock", "job.py").exit_code == 0
    _write(
        "", OVER.format(TUMBLING.replace("60", "90")).replace("one, other: other", "one, two: two"), "1 10\n", "monday"
    )
    path = Path("job.py")
    path.write_text(
        path.read_text().replace('(), "in")', '(), "other")').replace("lambda p: p[0], INT", "lambda p: p[1], INT")
    )
    output = penstock("check", "job.py").stdout
    assert "record" not in output
    assert "window: TumblingEventTimeWindows(60000" in output
    assert "-> TumblingEventTimeWindows(90000" in output
    assert "key by: a lambda of 0 -> a lambda of 1" in output
    assert "place: <FileSource of 'in'> -> <FileSource of 'other'>" in output
    shown = penstock("diff", "penstock.lock", "job.py").stdout
    assert "key by: a lambda of 0 -> a lambda of 1" in shown


ENDED = """
stream = env.from_collection([(1, 2), (2, 3)], T([INT, INT])).uid("pairs").key_by(lambda p: p[0], INT)
stream.process(Total({})).uid("c").print()
env.execute("job")
"""


def test_a_job_that_has_ended_stays_as_it_is(penstock, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = IMPORTS + HEAD.replace("keyed = pairs", "# keyed = pairs").replace(
        "pairs = lines_of", "# pairs = lines_of"
    )
    Path("job.py").write_text(program + ENDED.format("LONG"))
    assert _run(penstock).exit_code == 0
    Path("job.py").write_text(program + ENDED.format("TEXT"))
    checked = penstock("check", "--from-savepoint", "job", "job.py")
    assert checked.exit_code == 0, checked.stdout
    assert "its tasks have ended: the run does not open its state" in checked.stdout
    assert _checked(penstock("check", "--format", "json", "--from-savepoint", "job", "job.py")) == KEPT
    assert _verdict(penstock("savepoint", "check", "--json", "job", "job.py")) == KEPT
    assert "have ended" in penstock("savepoint", "check", "job", "job.py").stdout
    assert _run(penstock).exit_code == 0
    Path("job.py").write_text((program + ENDED.format("TEXT")).replace("set_parallelism(1)", "set_parallelism(2)"))
    assert _checked(penstock("check", "--format", "json", "--from-savepoint", "job", "job.py")) == REFUSED
    assert _verdict(penstock("savepoint", "check", "--json", "job", "job.py")) == REFUSED
    assert _run(penstock).exit_code == 1
