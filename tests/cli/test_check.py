"""``penstock lock``, ``check`` and ``diff``."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

HEAD = """
from penstock.datastream.functions import KeyedProcessFunction
from penstock.datastream.state import ValueStateDescriptor

class Count(KeyedProcessFunction):
    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value, count

words = env.from_collection(["a", "b", "a"], type_info=Types.STRING())
"""
LINES = """
counts = (
    words
    .map(str.upper, Types.STRING())
    .key_by(lambda word: word, key_type=Types.STRING())
    .process(Count()).name("count")  # counts
)
counts.print()
env.execute("counts")
"""
FILTERED = LINES.replace("    .key_by", "    .filter(bool)\n    .key_by")


@pytest.fixture
def edited(program, penstock, monkeypatch):
    """Locks the program, then writes it anew with other lines; the file."""

    def write(lines: str, before: str = LINES) -> Path:
        path = program(HEAD + before, "counts.py")
        monkeypatch.chdir(path.parent)
        assert penstock("lock", "counts.py").exit_code == 0
        return program(HEAD + lines, "counts.py")

    return write


def test_a_program_that_is_locked_passes(penstock, edited) -> None:
    edited(LINES)
    result = penstock("check", "counts.py")
    assert (result.exit_code, result.stdout) == (0, "counts.py: no state is lost.\n")
    assert penstock("lock", "counts.py").stdout == "penstock.lock: as it was, 4 operators\n"


def test_an_edit_that_loses_no_state_passes_and_the_lock_is_said_to_be_old(penstock, edited) -> None:
    edited(LINES.replace("counts.print()", "counts.map(str).print()"))
    result = penstock("check", "counts.py")
    assert result.exit_code == 0
    assert "penstock.lock is of an older program" in result.stdout


def test_an_edit_that_orphans_state_fails_with_the_lines_that_keep_it(penstock, edited) -> None:
    path = edited(FILTERED)
    locked = {
        operator["name"]: operator["id"] for operator in json.loads(Path("penstock.lock").read_text())["operators"]
    }
    result = penstock("check", "counts.py")
    assert result.exit_code == 1
    line = 1 + path.read_text().splitlines().index('    .process(Count()).name("count")  # counts')
    assert f'counts.py:{line}  process(…).set_uid_hash("{locked["count"]}")' in result.stdout
    assert "'Filter' is new, and 'count' reads it" in result.stdout
    assert penstock("check", "--allow-non-restored-state", "counts.py").exit_code == 0


def test_fix_writes_them_and_the_check_passes(penstock, edited) -> None:
    path = edited(FILTERED)
    before = path.read_text()
    result = penstock("check", "--fix", "counts.py")
    assert result.exit_code == 0, result.stderr
    locked = {
        operator["name"]: operator["id"] for operator in json.loads(Path("penstock.lock").read_text())["operators"]
    }
    call = f'.set_uid_hash("{locked["count"]}")'
    assert path.read_text() == before.replace("\n    .process(Count())", f"\n    .process(Count())\n    {call}")
    assert call in result.stderr
    assert penstock("check", "counts.py").exit_code == 0
    assert penstock("check", "--fix", "counts.py").stderr == ""


def advised(printed: str, behind: str) -> list[str]:
    """The words of the command that an advice names."""
    (line,) = (line for line in printed.splitlines() if behind in line)
    return shlex.split(line.partition(behind)[2].partition(";")[0])[1:]


def test_an_advice_repeats_the_options_that_were_given(penstock, edited) -> None:
    edited(FILTERED)
    Path("penstock.lock").rename("my lock")
    options = ["--lock", "my lock", "--flink", "1.11", "counts.py", "--", "--fix", "later.py"]
    result = penstock("check", *options)
    fixing = advised(result.stdout, "or have these lines written: ")
    assert fixing == ["check", "--fix", *options]
    accepting = advised(penstock("lock", *options).stdout, "not needed any more: ")
    assert accepting == ["lock", "--accept-loss", *options]
    assert penstock(*fixing).exit_code == 0
    output = penstock("check", *options).stdout
    assert "no state is lost" in output
    writing = advised(output, "write it again: ")
    assert writing == ["lock", *options]
    assert penstock(*writing).exit_code == 0
    assert "older" not in penstock("check", *options).stdout


def test_an_advice_has_no_options_that_its_command_lacks(penstock, edited) -> None:
    edited(FILTERED)
    Path("penstock.lock").unlink()
    result = penstock("check", "--allow-non-restored-state", "--lock", "there", "counts.py")
    assert result.exit_code == 2
    assert advised(" ".join(result.stderr.split()), "as it runs now: ") == ["lock", "--lock", "there", "counts.py"]


def test_fix_puts_uids_back(penstock, edited) -> None:
    named = LINES.replace('.name("count")', '.name("count").uid("counter")')
    path = edited(named.replace('"counter"', "'other'"), before=named)
    assert penstock("check", "--fix", "counts.py").exit_code == 0
    assert path.read_text().count('.name("count").uid("counter")') == 1


def test_fix_gives_who_has_taken_an_id_a_uid_of_its_own(penstock, edited) -> None:
    first = 'env.from_collection([1], type_info=Types.INT()).name("new").print()\n'
    path = edited(LINES, before=LINES)
    path.write_text(path.read_text().replace("words = env", f"{first}words = env"))
    result = penstock("check", "counts.py")
    assert result.exit_code == 1
    assert "would go to 'Source: new'" in result.stdout
    result = penstock("check", "--fix", "counts.py")
    assert result.exit_code == 0, result.stdout + result.stderr
    assert '.from_collection([1], type_info=Types.INT()).uid("source-new")' in path.read_text()


def test_fix_says_what_it_cannot_write(penstock, edited) -> None:
    lines = "for _ in range(2):\n    words.key_by(lambda word: word).process(Count()).print()\nenv.execute()\n"
    edited(lines.replace("words.key_by", "words.map(str).key_by"), before=lines)
    result = penstock("check", "--fix", "counts.py")
    assert result.exit_code == 1
    assert "not written" in result.stderr
    assert "its line is run more than once" in result.stderr


@pytest.mark.parametrize("form", ["json", "markdown", "github"])
def test_other_formats(penstock, edited, form: str) -> None:
    edited(FILTERED)
    result = penstock("check", "--format", form, "counts.py")
    assert result.exit_code == 1
    assert result.stdout == penstock("diff", "--format", form, "penstock.lock", "counts.py").stdout
    if form == "json":
        document = json.loads(result.stdout)
        assert document["counts"] == {"kept": 1, "moved": 3, "added": 1, "removed": 0}
        assert document["problems"][0]["file"].endswith("counts.py")
    elif form == "github":
        assert result.stdout.startswith("::error file=counts.py,line=")
    else:
        assert "| moved | count |" in result.stdout


def test_without_a_lock_or_with_that_of_another_program(penstock, edited, program) -> None:
    edited(LINES)
    program(HEAD + LINES, "others.py")
    result = penstock("check", "others.py")
    assert result.exit_code == 2
    assert "another program, 'counts.py'" in result.stderr
    Path("penstock.lock").unlink()
    result = penstock("check", "counts.py")
    assert result.exit_code == 2
    assert "penstock lock counts.py" in result.stderr
    Path("penstock.lock").write_text("<<<<<<<\n")
    assert penstock("check", "counts.py").exit_code == 2
    result = penstock("lock", "counts.py")
    assert result.exit_code == 2
    assert "penstock lock --accept-loss" in result.stderr
    assert "written again" in penstock("lock", "--accept-loss", "counts.py").stdout
    assert penstock("check", "counts.py").exit_code == 0


@pytest.mark.parametrize("explicit", [False, True])
def test_the_lock_of_another_program_is_never_overwritten(penstock, edited, program, explicit: bool) -> None:
    edited(LINES)
    before = Path("penstock.lock").read_bytes()
    program(HEAD + LINES, "others.py")
    for options in ((), ("--accept-loss",)):
        result = penstock("lock", *options, *(["--lock", "penstock.lock"] if explicit else []), "others.py")
        assert result.exit_code == 2
        assert "'penstock.lock' is the lock file of another program, 'counts.py'" in result.stderr
        assert "penstock lock --lock others.lock others.py" in result.stderr
        assert Path("penstock.lock").read_bytes() == before
    assert penstock("lock", "--lock", "others.lock", "others.py").exit_code == 0


@pytest.mark.parametrize("text", ["print()\n", '{"spec": {}}', "[]"])
def test_a_file_that_is_not_a_lock_is_never_overwritten(penstock, edited, text: str) -> None:
    edited(LINES)
    Path("notes").write_text(text)
    result = penstock("lock", "--accept-loss", "--lock", "notes", "counts.py")
    assert result.exit_code == 2
    assert "'notes' is not a lock file" in result.stderr
    assert Path("notes").read_text() == text


def test_a_lock_asks_before_it_gives_up_state(penstock, edited) -> None:
    edited(FILTERED)
    before = Path("penstock.lock").read_bytes()
    result = penstock("lock", "counts.py")
    assert result.exit_code == 1
    assert "lost: 'count' has state" in result.stdout
    assert ".set_uid_hash(" in result.stdout
    assert "penstock lock --accept-loss counts.py" in result.stdout
    assert Path("penstock.lock").read_bytes() == before
    result = penstock("lock", "--accept-loss", "counts.py")
    assert result.exit_code == 0
    assert "accepted: lost: 'count' has state" in result.stderr
    assert penstock("check", "counts.py").exit_code == 0


def test_a_savepoint_is_what_counts_where_one_is_given(penstock, edited, program) -> None:
    edited(LINES)
    done = penstock("run", "--local", "--checkpoint-directory", "job", "counts.py")
    assert done.exit_code == 0, done.stderr
    assert penstock("check", "--from-savepoint", "job", "counts.py").exit_code == 0
    assert penstock("diff", "job", "counts.py").exit_code == 0
    program(HEAD + FILTERED, "counts.py")
    with_lock = penstock("check", "--from-savepoint", "job", "counts.py")
    assert with_lock.exit_code == 1
    assert "'Filter' is new" in with_lock.stdout
    Path("penstock.lock").unlink()
    alone = penstock("check", "--from-savepoint", "job", "counts.py")
    assert alone.exit_code == 1
    assert "set_uid_hash" in alone.stdout
    assert "'Filter' is new" not in alone.stdout
    assert penstock("diff", "job", "job").exit_code == 0


def test_diff_of_two_programs_with_helpers_of_one_name(penstock, tmp_path, monkeypatch) -> None:
    for folder, uid in (("old", "a"), ("new", "b")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "helpers.py").write_text(f"UID = {uid!r}\n")
        (tmp_path / folder / "counts.py").write_text(
            "from helpers import UID\n"
            "from penstock.datastream import StreamExecutionEnvironment\n"
            "env = StreamExecutionEnvironment.get_execution_environment()\n"
            "env.from_collection([1]).uid(UID).print()\nprint('noise')\nenv.execute()\n"
        )
    monkeypatch.chdir(tmp_path)
    result = penstock("diff", "old/counts.py", "new/counts.py")
    assert result.exit_code == 1
    assert "the uid of 'Source: Collection Source' is 'b', and was 'a'" in result.stdout


def test_diff_reads_plans_and_descriptions(penstock, program, tmp_path) -> None:
    path = program(HEAD + LINES, "counts.py")
    plan = tmp_path / "plan.json"
    plan.write_text(penstock("explain", "--json", str(path)).stdout)
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps(json.loads(plan.read_text())["spec"]))
    for old in (plan, spec):
        result = penstock("diff", "--format", "json", str(old), str(path))
        assert result.exit_code == 0, result.stdout + result.stderr
        assert json.loads(result.stdout)["counts"] == {"kept": 4, "moved": 0, "added": 0, "removed": 0}


@pytest.mark.parametrize("flink", ["1.11", "2.3"])
@pytest.mark.parametrize("options", [("--json",), ("--format", "json")])
def test_a_program_equals_its_own_plan(penstock, program, tmp_path, flink: str, options: tuple[str, ...]) -> None:
    path = program(HEAD + LINES, "counts.py")
    plan, copy = tmp_path / "plan.json", tmp_path / "copy.json"
    plan.write_text(penstock("explain", *options, "--flink", flink, str(path)).stdout)
    copy.write_text(plan.read_text())
    for old, new in ((plan, path), (path, plan), (plan, copy), (plan, plan)):
        result = penstock("diff", *(("--flink", flink) if path in (old, new) else ()), str(old), str(new))
        assert (result.exit_code, result.stderr) == (0, ""), result.stdout
        assert "->" not in result.stdout
        assert result.stdout.splitlines()[-1] == "No state is lost."


def test_a_plan_of_an_unknown_flink_is_refused(penstock, program, tmp_path) -> None:
    path = program(HEAD + LINES, "counts.py")
    document = json.loads(penstock("explain", "--json", str(path)).stdout)
    plan = tmp_path / "plan.json"  # as earlier versions wrote one
    plan.write_text(json.dumps({"spec": document["spec"], "result": {"flink": "1.110.0"}}))
    result = penstock("diff", str(path), str(plan))
    assert result.exit_code == 2
    assert "it was planned as Flink 1.110.0, and known are 1.11 and 2.3" in " ".join(result.stderr.split())


@pytest.mark.parametrize("form", ["flink-stream", "flink-job"])
def test_a_plan_in_flinks_own_format_is_refused(penstock, program, tmp_path, form: str) -> None:
    path = program(HEAD + LINES, "counts.py")
    plan = tmp_path / "plan.json"
    plan.write_text(penstock("explain", "--format", form, str(path)).stdout)
    result = penstock("diff", str(path), str(plan))
    assert result.exit_code == 2
    assert "a plan in Flink's own format" in " ".join(result.stderr.split())


@pytest.mark.parametrize("text", ["", "[1]", '{"a": 1}', "no json"])
def test_diff_of_what_is_nothing(penstock, program, tmp_path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    result = penstock("diff", str(path), str(program(HEAD + LINES)))
    assert result.exit_code == 2
    assert "cannot be compared" in " ".join(result.stderr.split())
    assert penstock("diff", str(tmp_path / "nowhere"), str(path)).exit_code == 2


def test_a_program_that_fails_is_no_difference(penstock, edited) -> None:
    edited("raise ValueError('broken')\n")
    for command in (("check", "counts.py"), ("diff", "penstock.lock", "counts.py"), ("lock", "counts.py")):
        result = penstock(*command)
        assert result.exit_code == 2, command
        assert "broken" in result.stderr


def test_a_lock_file_that_is_named_beside_a_savepoint_is_there(penstock, program, tmp_path) -> None:
    path = program(HEAD + LINES, "counts.py")
    result = penstock("check", "--from-savepoint", str(tmp_path), "--lock", str(tmp_path / "none.lock"), str(path))
    assert result.exit_code == 2
    assert "There is no lock file" in result.stderr
