"""Programs with no job, and with more than one: neither is taken for a program whose one job was run or looked at."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.cli.conftest import PRELUDE

from penstock.cli.further_jobs import other_jobs

pytestmark = pytest.mark.slow

BUILDING = "env.from_collection([1]).print()\n"
RUN = ("run", "--local")


def test_a_program_that_only_builds_is_an_error(penstock, program):
    result = penstock(*RUN, program(BUILDING + "print('built')"))
    assert result.exit_code == 1
    assert result.stdout == "built\n"
    assert result.stderr.startswith("error: InvalidProgramError\n")
    assert "ended without calling execute(), so no job has run" in " ".join(result.stderr.split())
    assert penstock(*RUN, program("pass")).exit_code == 1
    assert penstock(*RUN, program(BUILDING + "sys.exit()")).exit_code == 1
    assert penstock(*RUN, program(BUILDING + "sys.exit(3)")).exit_code == 3


def test_rescaling_a_program_that_only_builds_is_an_error(penstock, program, tmp_path):
    result = penstock("rescale", "--local", tmp_path / "job", "2", program(BUILDING))
    assert result.exit_code == 1
    assert "without calling execute()" in " ".join(result.stderr.split())


def test_a_program_without_an_environment_is_warned_of(penstock, tmp_path):
    file = tmp_path / "forgotten.py"
    file.write_text(f"def main():\n    {PRELUDE.replace(chr(10), chr(10) + '    ')}\n    env.execute()\n")
    result = penstock(*RUN, file)
    assert result.exit_code == 0
    assert "ended without a job" in result.stderr
    assert "call it at the end of the file" in result.stderr
    file.write_text("raise SystemExit(0)")
    assert penstock(*RUN, file).stderr == ""


@pytest.mark.parametrize(
    "lines",
    [
        "env.from_collection([1]).print(); env.execute()",
        "env.from_collection([1]).print(); env.execute_async().get_job_execution_result().result()",
        "assert list(env.from_collection([1]).execute_and_collect()) == [1]",
        """
        import threading
        env.from_collection([1]).print()
        thread = threading.Thread(target=lambda: env.execute())
        env._executor = "local"
        thread.start()
        thread.join()
        """,
    ],
)
def test_a_program_with_a_job_is_none_of_these(penstock, program, lines):
    result = penstock(*RUN, "--progress", "none", program(lines))
    assert (result.exit_code, result.stderr) == (0, "")


def test_the_package_is_the_command():
    run = subprocess.run([sys.executable, "-m", "penstock", "uid", "a"], capture_output=True, text=True, check=True)
    assert run.stdout == "897859f6655555855a890e51483ab5e6\n"


TWO = """
env.from_collection([1]).print()
env.execute("first")
env.from_collection([2]).print()
env.execute("second")
"""
LOOK = [("explain",), ("lint", "--once"), ("lock",)]


@pytest.mark.parametrize("command", LOOK, ids=lambda command: command[0])
def test_only_the_first_of_two_jobs_is_looked_at_and_that_is_said(penstock, program, command):
    file = program(TWO)
    lines = file.read_text().splitlines()
    one, two = (lines.index(f'env.execute("{name}")') + 1 for name in ("first", "second"))
    result = penstock(*command, file)
    assert result.exit_code == 0
    assert f"only the first job of {file} was looked at, 'first' of line {one}: " in result.stderr
    assert f"Line {two} may start others, which were not looked at. --job NAME" in result.stderr
    assert penstock(*command, program("env.from_collection([1]).print(); env.execute()")).stderr == ""


THREE = """
from penstock.datastream.connectors import DataGeneratorSource
from penstock.common import WatermarkStrategy

def endless(name):
    source = DataGeneratorSource(lambda number: number, None)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), name).uid(name)

env.from_collection([1]).uid("one").print()
env.execute("first")
with env.from_collection([2]).uid("two").execute_and_collect("second") as records:
    print(f"{len(list(records))} records")
endless("three").print()  # penstock: ignore[PS401]
env.execute_async("third").get_job_execution_result().result()
endless("four").print()
env.execute()
raise SystemExit
"""


def planned(penstock, *arguments):
    """The names of the jobs that ``explain`` shows, and what it says on standard error."""
    result = penstock("explain", "--level", "job", *arguments)
    titles = [line for line in result.stdout.splitlines() if line.startswith("Plan of job")]
    return [title.split('"')[1] for title in titles], result.stderr


@pytest.mark.parametrize(
    ("job", "names"),
    [
        ("1", ["first"]),
        ("2", ["second"]),
        ("third", ["third"]),
        ("4", ["Flink Streaming Job"]),
        ("all", ["first", "second", "third", "Flink Streaming Job"]),
    ],
)
def test_a_job_is_chosen_by_name_or_number(penstock, program, job, names):
    all_names, errors = planned(penstock, "--job", job, program(THREE))
    assert all_names == names
    assert errors == ("0 records\n" if names[-1] not in ("first", "second") else "")  # a job passed over has no records


@pytest.mark.parametrize("job", ["5", "0", "last"])
def test_a_job_that_is_not_there_is_an_error_with_those_that_are(penstock, program, job):
    result = penstock("explain", "--job", job, program(THREE))
    assert result.exit_code == 1
    message = " ".join(result.stderr.split())
    assert f"has no job {job!r}" in message
    assert message.endswith("1 'first', 2 'second', 3 'third', 4 'Flink Streaming Job'.")


def test_lint_looks_at_all_jobs_or_says_at_which(penstock, program):
    file = program(THREE)
    lines = file.read_text().splitlines()
    four = lines.index('endless("four").print()') + 1
    result = penstock("lint", "--once", "--job", "all", file)
    (finding, end) = result.stdout.splitlines()
    assert finding.startswith(f"{file}:{four}: PS401 ")
    assert (end, result.exit_code) == ("Found 1 thing.", 1)
    first = penstock("lint", "--once", file)
    assert (first.stdout, first.exit_code) == ("Nothing found in the job 'first'.\n", 0)
    assert "--job NAME or --job NUMBER looks at another one; lint and explain take --job all" in first.stderr
    assert penstock("lint", "--once", "--job", "third", file).stdout == "Nothing found in the job 'third'.\n"
    second = penstock("lint", "--once", "--job", "4", file).stdout
    assert "PS401" in second
    assert "PS901" not in second  # the comment is of the third job


def test_a_comment_that_suppresses_nothing_in_any_job_is_found(penstock, program):
    text = TWO.replace("[2]).print()", "[2]).print()  # penstock: ignore[PS401]")
    assert "PS901" in penstock("lint", "--once", "--job", "all", program(text)).stdout
    assert "PS901" not in penstock("lint", "--once", program(text)).stdout


def test_what_a_function_does_for_several_jobs_is_found_once(penstock, program):
    text = THREE.replace('endless("three").print()  # penstock: ignore[PS401]\n', 'shown("three")\n')
    text = text.replace('endless("four").print()', 'shown("four")')
    file = program(text.replace("\nenv.from", "def shown(name):\n    endless(name).print()\n\nenv.from", 1))
    assert penstock("lint", "--once", "--job", "all", file).stdout.endswith("\nFound 1 thing.\n")


def test_uids_of_each_job_are_compared_with_a_second_run(penstock, program):
    text = TWO.replace("[2])", "[2]).uid(f'numbers {hash(\"numbers\")}')")
    assert "PS004" in penstock("lint", "--job", "all", program(text)).stdout
    assert "PS004" in penstock("lint", "--job", "second", program(text)).stdout
    assert "PS004" not in penstock("lint", program(text)).stdout


def test_a_program_that_fails_without_records_says_so(penstock, program):
    text = TWO + "max([])\nenv.from_collection([3]).print()\nenv.execute('last')\n"
    names, errors = planned(penstock, "--job", "all", program(text))
    assert names == ["first", "second"]
    assert "ended behind its job 2, 'second', by ValueError: max()" in errors
    assert "Jobs are not run here, so they give no records" in errors
    names, errors = planned(penstock, "--job", "last", program(text))
    assert (names, "by ValueError: max()" in " ".join(errors.split())) == ([], True)


def test_a_loop_without_an_end_ends_at_its_hundredth_job(penstock, program):
    text = "while True:\n    env.from_collection([1]).print()\n    env.execute()"
    names, errors = planned(penstock, "--job", "all", program(text))
    assert len(names) == 100
    assert "was ended at its job 100" in errors


def test_a_cached_stream_is_planned_in_later_jobs_as_if_it_had_been_computed(penstock, program):
    text = """
    from penstock.datastream import RuntimeExecutionMode
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    cached = env.from_collection([1, 2]).map(lambda n: n).name("costly").cache()
    cached.print()
    env.execute("first")
    cached.print()
    env.execute("second")
    """
    assert "costly" in penstock("explain", "--job", "first", program(text)).stdout
    second = penstock("explain", "--job", "second", program(text)).stdout
    assert "Source: Cache: costly" in second
    assert "Source: Collection Source" not in second


def test_a_data_frame_cannot_be_passed_over(penstock, program):
    text = """
    env.from_collection([1], type_info=Types.INT()).to_spark()
    env.from_collection([1]).print()
    env.execute("second")
    """
    result = penstock("explain", "--job", "second", program(text))
    assert result.exit_code == 1
    assert "cannot be passed over" in result.stderr


STATEFUL = """
env.from_collection([1]).uid("one").key_by(lambda n: n).sum().uid("sum one").print()
env.execute("first")
env.from_collection([2]).uid("two").key_by(lambda n: n).sum().uid("sum two").print()
env.execute("second")
"""


def test_each_job_has_a_lock_file_of_its_own(penstock, program, tmp_path):
    file, lock_file = program(STATEFUL), tmp_path / "second.lock"
    assert penstock("lock", file).exit_code == 0
    result = penstock("lock", "--job", "second", file)
    assert result.exit_code == 2
    assert "is the lock file of the job 'first', and this is the job 'second'" in " ".join(result.stderr.split())
    assert penstock("check", "--job", "second", file).exit_code == 2
    assert penstock("lock", "--job", "second", "--lock", lock_file, file).exit_code == 0
    assert penstock("check", "--job", "second", "--lock", lock_file, file).exit_code == 0
    program(STATEFUL.replace("sum two", "total two"))
    assert penstock("check", file).exit_code == 0
    result = penstock("check", "--job", "2", "--lock", lock_file, file)
    assert (result.exit_code, "sum two" in result.stdout) == (1, True)


def test_diff_and_view_take_a_job(penstock, program, tmp_path):
    old = program(STATEFUL, "old.py")
    new = program(STATEFUL.replace("sum two", "total two"), "new.py")
    assert penstock("diff", old, new).exit_code == 0
    assert penstock("diff", "--job", "second", old, new).exit_code == 1
    page = tmp_path / "plan.html"
    assert penstock("view", "--job", "second", "-o", page, new).exit_code == 0
    assert "total two" in page.read_text()
    assert "sum one" not in page.read_text()


@pytest.mark.parametrize("command", ["lock", "check", "view"])
def test_commands_of_one_job_do_not_take_all(penstock, program, command):
    result = penstock(command, "--job", "all", program(TWO))
    assert result.exit_code == 2
    assert f"{command} looks at one job" in result.stderr


def test_fixing_all_jobs_at_once_is_refused(penstock, program):
    result = penstock("lint", "--once", "--fix", "--job", "all", program(TWO))
    assert result.exit_code == 2
    assert "give --job NAME|N" in result.stderr


def test_an_id_is_looked_for_in_all_jobs(penstock, program):
    (line,) = penstock("uid", "two").stdout.splitlines()
    file = program(STATEFUL)
    assert penstock("uid", "--find", line, "--program", file).exit_code == 1
    assert "two" in penstock("uid", "--find", line, "--program", file, "--job", "all").stdout


@pytest.mark.parametrize(
    ("text", "reached", "expected"),
    [
        ("env.execute()", [1], ""),
        ("env.execute(\n  'a'\n)", [1], ""),
        ("env.execute()\nenv.execute()\ns.execute_and_collect()", [1], "Lines 2 and 3 may start others"),
        ("for x in y:\n  env.execute(x)", [2], "Line 2 is in a loop"),
        ("def job(n):\n  env.execute(n)\njob(1)\njob(2)", [2, 3], "Line 4 may start others"),
        (
            "def job(n):\n  env.execute(n)\ndef both():\n  job(1)\n  job(2)\nboth()",
            [2, 4, 6],
            "Line 5 may start others",
        ),
        (
            "class A:\n  def run(self):\n    env.execute()\nA().run()\nsubprocess.run()",
            [3, 4],
            "Line 5 may start others",
        ),
        ("def run():\n  env.execute()\nrun()\nsubprocess.run()", [2, 3], ""),
        ("if a:\n  env.execute()\nelse:\n  s.execute_and_collect()", [2], ""),
        ("if a:\n  env.execute()\nelse:\n  s.execute_and_collect()\nenv.execute()", [4], "Line 5 may start others"),
        ("import helper\nhelper.main()", [], ""),
        ("no Python", [1], ""),
    ],
)
def test_what_may_start_other_jobs(text, reached, expected):
    sentences = other_jobs(text, reached)
    assert sentences.startswith(expected)
    assert bool(sentences) == bool(expected)
