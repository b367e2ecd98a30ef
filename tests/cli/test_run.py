"""``penstock run``: programs, their options, and what a failure looks like."""

from __future__ import annotations

import pytest

FAILING = """
def parse(text):
    return int(text)  # the line of the mistake

env.from_collection(["1", "two"], type_info=Types.STRING()).map(parse).name("to number").uid("to-number").print()
env.execute("a mistake")
"""


def test_a_program_runs_locally(penstock, program, capfd):
    result = penstock("run", "--local", program("env.from_collection([1, 2]).print(); env.execute()"))
    assert result.exit_code == 0, result.output
    assert (result.stdout + capfd.readouterr().out).splitlines() == ["1", "2"]


@pytest.mark.spark
def test_a_program_runs_on_the_given_master(penstock, program, capfd):
    path = program(
        """
        from pyspark.sql import SparkSession
        env.from_collection([1, 2]).print()
        env.execute()
        conf = SparkSession.active().sparkContext.getConf()
        print(conf.get("spark.master"), conf.get("spark.sql.shuffle.partitions"), file=sys.stderr)
        """
    )
    import subprocess
    import sys

    command = [
        sys.executable,
        "-m",
        "penstock.cli",
        "run",
        "--master",
        "local[1]",
        "--conf",
        "spark.sql.shuffle.partitions=3",
    ]
    run = subprocess.run([*command, str(path)], capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stderr
    assert sorted(run.stdout.splitlines()) == ["1", "2"]
    assert run.stderr.splitlines()[-1] == "local[1] 3"


def test_the_program_is_the_main_module_with_its_own_arguments(penstock, program, tmp_path):
    (tmp_path / "neighbour.py").write_text("WORD = 'imported'\n")
    path = program("import neighbour; print(__name__, sys.argv, neighbour.WORD)")
    result = penstock("run", path, "--input", "x", "--", "--local", "--help")
    assert result.stdout == f"__main__ {[str(path), '--input', 'x', '--local', '--help']} imported\n"


def test_functions_of_the_program_reach_the_operators(penstock, program, capfd):
    path = program(
        """
        FACTOR = 3
        def times(n):
            return n * FACTOR
        env.from_collection([1, 2], type_info=Types.INT()).map(times, output_type=Types.INT()).print()
        env.execute()
        """
    )
    result = penstock("run", "--local", path)
    assert (result.stdout + capfd.readouterr().out).splitlines() == ["3", "6"]


def test_the_exit_status_of_the_program_is_kept(penstock, program):
    assert penstock("run", program("sys.exit(3)")).exit_code == 3
    assert penstock("run", program("sys.exit()")).exit_code == 0


def test_a_failing_function_is_named_with_its_line(penstock, program):
    result = penstock("run", "--local", program(FAILING))
    assert result.exit_code == 1
    for part in ("JobExecutionError", "to number", "to-number", "ValueError", "'two'", "# the line of the mistake"):
        assert part in result.stderr
    assert 'env.execute("a mistake")' in result.stderr
    assert "penstock/" not in result.stderr.replace("tests", "")


def test_the_whole_traceback_on_request(penstock, program):
    path = program(FAILING)
    assert "penstock/cli/program.py" not in penstock("run", "--local", path).stderr
    assert "penstock/cli/program.py" in penstock("run", "--local", "--traceback", path).stderr


def test_a_misused_api_is_explained_with_the_programs_line(penstock, program):
    path = program("stream = env.from_collection([1]).map(lambda n: n)\nstream.set_parallelism(0)  # here\n")
    result = penstock("run", path)
    assert result.exit_code == 1
    assert result.stderr.startswith("error: InvalidProgramError\n")
    assert "stream.set_parallelism(0)  # here" in result.stderr
    assert "IllegalArgumentException" in result.stderr
    assert "Traceback" not in result.stderr


def test_any_other_exception_keeps_pythons_traceback_from_the_program_on(penstock, program):
    result = penstock("run", program("def f():\n    return 1 / 0\nf()\n"))
    assert result.exit_code == 1
    assert result.stderr.startswith("Traceback (most recent call last):\n")
    assert "ZeroDivisionError" in result.stderr
    assert "runpy" not in result.stderr
    assert "penstock/cli" not in result.stderr


def test_a_syntax_error_is_shown(penstock, program):
    result = penstock("run", program("this is no Python\n"))
    assert result.exit_code == 1
    assert "SyntaxError" in result.stderr
    assert "this is no Python" in result.stderr
    assert "penstock/" not in result.stderr
    assert "runpy" not in result.stderr


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (["--local", "--master", "local[2]"], "--local runs without Spark"),
        (["--local", "--conf", "spark.a=b"], "--local runs without Spark"),
        (["--conf", "nonsense"], "is not KEY=VALUE"),
        (["--conf", "=x"], "is not KEY=VALUE"),
        (["--conf", "parallelism.default=3", "-p", "2"], "--conf parallelism.default and another option"),
        (["--conf", "penstock.flink=2.3", "--flink", "2.3"], "--conf penstock.flink and another option"),
        (
            ["--conf", "penstock.job.folder=a", "--checkpoint-directory", "b"],
            "--conf penstock.job.folder and another option",
        ),
        (
            ["--conf", "state.checkpoints.dir=a", "--checkpoint-directory", "b"],
            "--conf state.checkpoints.dir and another",
        ),
        (["--conf", "penstock.executor=spark", "--local"], "--conf penstock.executor and another option"),
        (["--frobnicate"], "No such option '--frobnicate'"),
    ],
)
def test_options_that_make_no_sense_are_usage_errors(penstock, program, flags, text):
    result = penstock("run", *flags, program("print('never')"))
    assert result.exit_code == 2
    assert text in result.stderr
    assert "never" not in result.stdout


SETTINGS = """
from penstock.common import Configuration
from penstock.datastream.environment import executors
own = Configuration.from_dict({"penstock.files.shared-folders": "/own", "parallelism.default": "4"})
env = StreamExecutionEnvironment.get_execution_environment(own)
print(env.settings.shared_folders, env.get_parallelism(), env.settings.object_reuse)
env.from_collection([1]).print()
env.execute()
"""


def test_settings_of_ours_and_of_flink_count_before_those_of_the_program(penstock, program):
    """Also for the executor, which gets the settings with the plan."""
    conf = ["penstock.files.shared-folders=/mnt/jobs", "parallelism.default=2", "pipeline.object-reuse=true"]
    words = [word for setting in conf for word in ("--conf", setting)]
    result = penstock("run", "--local", "--progress", "none", *words, program(SETTINGS))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0] == "('/mnt/jobs',) 2 True"


@pytest.mark.parametrize(
    ("setting", "status", "message"),
    [
        ("penstock.files.shared-folder=/mnt", 1, "Did you mean penstock.files.shared-folders?"),
        ("parallelism.default=many", 1, "parallelism.default"),
        ("execution.savepoint-restore-mode=CLAIM", 0, "These settings of Flink have no effect in Penstock"),
        ("driver.memory=4g", 0, "These settings are neither Penstock's nor Flink's nor Spark's"),
    ],
)
def test_settings_are_checked_as_in_a_configuration(penstock, program, setting, status, message):
    file = program("print('ran'); env.from_collection([1]).print(); env.execute()")
    result = penstock("run", "--local", "--progress", "none", "--conf", setting, file)
    assert result.exit_code == status, result.output
    assert message in " ".join(result.stderr.split())
    assert ("ran" in result.stdout) == (status == 0)


def test_a_missing_file_is_a_usage_error(penstock):
    assert penstock("run", "absent.py").exit_code == 2


def test_a_program_runs_as_either_flink(penstock, program):
    """Pointwise shares of 14 and 16 subtasks differ between the two; what arrives does not."""
    path = program(
        """
        s = env.from_collection(list(range(100)), Types.INT()).rebalance()
        s = s.map(lambda n: n, Types.INT()).set_parallelism(14).rescale()
        s.map(lambda n: n, Types.INT()).set_parallelism(16).print().set_parallelism(16)
        env.execute()
        """
    )
    outputs = [penstock("run", "--local", "--flink", flink, path) for flink in ("1.11", "2.3")]
    assert [result.exit_code for result in outputs] == [0, 0], outputs[1].output
    numbers = [sorted(int(line.split("> ")[-1]) for line in result.stdout.splitlines()) for result in outputs]
    assert numbers == [list(range(100))] * 2
    assert sorted(outputs[0].stdout.splitlines()) != sorted(outputs[1].stdout.splitlines())


def test_metrics_are_printed_after_each_job(penstock, program, capfd):
    path = program(
        """
        class Counting:
            def open(self, context):
                group = context.get_metrics_group()
                self.words, self.sizes = group.counter("words"), group.distribution("sizes")
                group.distribution("empty")
                group.gauge("state", lambda: "done")

            def map(self, word):
                self.words.inc()
                self.sizes.update(len(word))
                return word

        for job in ("first", "second"):
            words = env.from_collection(["to", "be", "question"], Types.STRING())
            words.map(Counting(), Types.STRING()).name("counting").print()
            env.execute(job)
        """
    )
    result = penstock("run", "--local", "--metrics", path)
    assert result.exit_code == 0, result.output
    assert (result.stdout + capfd.readouterr().out).splitlines() == ["to", "be", "question"] * 2
    lines = [line.split() for line in result.stderr.splitlines() if line]
    assert [line[3] for line in lines if line[0] == "Metrics"] == ['"first",', '"second",']
    table = [" ".join(line) for line in lines[: len(lines) // 2] if line[0] == "counting"]
    assert table[0].startswith("counting 1 3 3 ")
    assert table[1:] == [
        "counting words 3",
        "counting sizes count 3, min 2, mean 4, max 8, sum 12",
        "counting empty no values",
        "counting state by subtask: done",
    ]


def test_a_failed_job_prints_no_metrics(penstock, program):
    result = penstock("run", "--local", "--metrics", program(FAILING))
    assert result.exit_code == 1
    assert "Metrics" not in result.stderr


LATE = """
from penstock.common import Time, TimestampAssigner, Watermark, WatermarkGenerator, WatermarkStrategy
from penstock.datastream.window import TumblingEventTimeWindows

class At(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value

class Each(WatermarkGenerator):
    def on_event(self, event, event_timestamp, output):
        output.emit_watermark(Watermark(event_timestamp))

    def on_periodic_emit(self, output):
        pass

env.set_parallelism(1)
timed = WatermarkStrategy.for_generator(Each).with_timestamp_assigner(At())
times = env.from_collection([1, 25, 2, 3], type_info=Types.LONG()).assign_timestamps_and_watermarks(timed)
windows = times.key_by(lambda time: 0).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
windows.reduce(lambda one, other: one + other).name("sums").print()
env.execute()
"""


@pytest.mark.parametrize("how", [(), ("--metrics",)], ids=str)
def test_dropped_late_records_are_said_at_the_end(penstock, program, capfd, caplog, how):
    result = penstock("run", *how, "--local", program(LATE))
    assert result.exit_code == 0, result.output
    assert (result.stdout + capfd.readouterr().out).splitlines() == ["1", "25"]
    assert "The operator 'sums' has dropped 2 of its 4 records as late (numLateRecordsDropped)" in caplog.text


def test_nothing_is_said_of_late_records_that_are_taken(penstock, program, caplog):
    taken = LATE.replace("windows.reduce", 'windows.side_output_late_data(OutputTag("late", Types.LONG())).reduce')
    result = penstock("run", "--local", program(f"from penstock.datastream import OutputTag\n{taken}"))
    assert result.exit_code == 0, result.output
    assert "late" not in caplog.text
