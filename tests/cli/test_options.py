"""Options before FILE are the command's, and what is behind FILE is the program's: the same rule for every command."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

import click
import pytest

from penstock.cli import group
from penstock.cli.options import FilesCommand, ProgramCommand


def commands(folder: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in folder.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


ALL = dict(commands(group))
TAKING_FILE = {
    ("run",): (),
    ("explain",): (),
    ("lint",): (),
    ("check",): (),
    ("lock",): (),
    ("view",): (),
    ("watch",): ("JOB",),
    ("rescale",): ("JOB", "2"),
    ("savepoint", "check"): ("SAVEPOINT",),
    ("savepoint", "import"): ("FLINK",),
}
"""What stands before FILE."""


def own_options() -> list[tuple[tuple[str, ...], str]]:
    result: list[tuple[tuple[str, ...], str]] = []
    for path in TAKING_FILE:
        for option in ALL[path].get_params(click.Context(ALL[path])):
            if isinstance(option, click.Option):
                result += [(path, name) for name in (*option.opts, *option.secondary_opts)]
    return result


def arguments(command: click.Command) -> set[str | None]:
    return {parameter.name for parameter in command.params if isinstance(parameter, click.Argument)}


def test_every_command_that_takes_a_program_follows_the_rule():
    taking = {path for path, command in ALL.items() if "file" in arguments(command)}
    assert taking == set(TAKING_FILE)
    assert all(isinstance(ALL[path], ProgramCommand) for path in taking)
    assert {path for path in taking if isinstance(ALL[path], FilesCommand)} == {("lint",), ("check",)}


@pytest.mark.parametrize("path", [path for path in ALL if path not in TAKING_FILE], ids=" ".join)
def test_every_other_command_takes_its_options_anywhere(path):
    assert ALL[path].allow_interspersed_args


@pytest.mark.parametrize(("path", "option"), own_options())
def test_an_option_behind_the_file_is_refused_with_the_right_order(penstock, program, path, option):
    """For every option of every command; with ``--`` it goes to the program."""
    file, before = program("raise SystemExit('never')"), TAKING_FILE[path]
    for form in (option, f"{option}=1"):
        if form.startswith("--") or form == option:
            result = penstock(*path, *before, file, "first", form, "1")
            assert result.exit_code == 2, (form, result.output)
            assert f"{form} is an option of 'penstock {' '.join(path)}'" in result.stderr
            assert f"{file} -- first {form} 1" in result.stderr
            assert "never" not in result.output


def test_the_right_order_is_right(penstock, program):
    """What the message says to do instead does what was wanted."""
    file = program(
        "print(sys.argv[1:], file=sys.stderr)\n"
        "env.from_collection([1]).print(); env.execute()\n"
        "print(len(sys.argv), file=sys.stderr)"
    )
    wrong = penstock("run", "--progress", "none", file, "a b", "--parallelism", "2", "--local", "--", "--local")
    right, programs = [line.strip() for line in wrong.stderr.splitlines() if line.startswith("  penstock run")]
    assert right == f"penstock run --progress none --parallelism 2 {file} 'a b' --local -- --local"
    again = penstock(*shlex.split(right)[1:])  # one option a time
    right = next(line.strip() for line in again.stderr.splitlines() if line.startswith("  penstock run"))
    done = penstock(*shlex.split(right)[1:])
    assert (done.exit_code, done.stderr.splitlines()[-2:]) == (0, ["['a b', '--local']", "3"]), done.output
    done = penstock("run", "--local", *shlex.split(programs)[2:])
    assert done.stderr.splitlines()[-2:] == ["['a b', '--parallelism', '2', '--local', '--local']", "6"]


@pytest.mark.parametrize("path", TAKING_FILE, ids=" ".join)
def test_help_says_the_rule(penstock, path):
    shown = " ".join(penstock(*path, "--help").stdout.split())
    assert "Options stand before FILE, and ARGS are the program's." in shown
    assert "write -- behind FILE" in shown


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ([], []),
        (["--window", "20", "-x"], ["--window", "20", "-x"]),
        (["--", "--local", "--help"], ["--local", "--help"]),
        (["a", "--", "-p", "--", "b"], ["a", "-p", "--", "b"]),
        (["-port", "9999", "-1", "-"], ["-port", "9999", "-1", "-"]),
        (["other.py"], ["other.py"]),
    ],
)
def test_a_program_gets_its_own_arguments(penstock, program, words, arguments):
    file = program("print(sys.argv[1:])\nsys.exit()")
    assert penstock("run", file, *words).stdout == f"{arguments}\n"
    assert penstock("run", "--", file, *words).stdout == f"{arguments}\n"
    explained = program("print(sys.argv[1:])\nenv.from_collection([1]).print(); env.execute()")
    assert penstock("explain", explained, *words).stderr == f"{arguments}\n"


@pytest.mark.parametrize("wrong", [["--locl"], ["-x"], ["--master"]])
def test_a_wrong_option_before_the_file_is_a_usage_error(penstock, program, wrong):
    assert penstock("run", *wrong, program("sys.exit(0)")).exit_code == 2


def test_options_may_stand_between_the_job_and_the_file(penstock, program, tmp_path):
    file = program("env.from_collection([1]).print(); env.execute()")
    result = penstock("savepoint", "check", tmp_path / "absent", "--json", file)
    assert "SavepointError" in result.stderr


ENDLESS = """
from penstock.common import WatermarkStrategy
from penstock.datastream.connectors import DataGeneratorSource
source = DataGeneratorSource(lambda number: number, None)
env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers").print()
env.execute()
"""
GOOD = "env.from_collection([1]).uid('a').print(); env.execute()"


@pytest.fixture
def programs(program):
    """Three programs: one to find something in, one to find nothing in, one that fails."""
    files = program(ENDLESS, "bad.py"), program(GOOD, "good.py"), program("1 / 0", "broken.py")
    return [str(file) for file in files]


@pytest.mark.slow
def test_several_programs_are_linted(penstock, programs):
    bad, good, broken = programs
    result = penstock("lint", "--once", good, bad)
    assert result.exit_code == 1
    finding, total = result.stdout.splitlines()
    assert finding.startswith(f"{bad}:")
    assert total == "Found 1 thing."
    result = penstock("lint", "--once", "--ignore", "PS4", good, bad, "--window", "2")
    assert (result.exit_code, result.stdout) == (0, "Nothing found.\n")
    result = penstock("lint", "--once", good, broken)
    assert result.exit_code == 1
    assert result.stdout == f"Nothing found. Not looked at, as they failed: {broken}.\n"


@pytest.mark.slow
def test_several_programs_are_one_document(penstock, programs, monkeypatch):
    bad, good, broken = programs
    output = penstock("lint", "--once", "--format", "json", *programs)
    document = json.loads(output.stdout)
    assert [finding["file"] for finding in document["findings"]] == [bad]
    assert document["failed"] == [broken]
    github = penstock("lint", "--once", "--format", "github", bad, good)
    assert [line[:8] for line in github.stdout.splitlines()] == ["::error "]
    assert penstock("lint", good, "absent.py").exit_code == 2


@pytest.mark.slow
def test_several_programs_are_checked(penstock, program, tmp_path):
    files: list[str] = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        file = program(GOOD, f"{name}/job.py")
        assert penstock("lock", file).exit_code == 0
        files.append(str(file))
    result = penstock("check", *files)
    assert result.exit_code == 0
    assert result.stdout == "".join(f"{file}: no state is lost.\n" for file in files)
    github = penstock("check", "--format", "github", *files).stdout
    assert github == "".join(f"{file}: No state is lost.\n" for file in files)
    markdown = penstock("check", "--format", "markdown", *files).stdout
    assert [part.partition("\n")[0] for part in markdown.split("\n## ")] == [f"## `{files[0]}`", f"`{files[1]}`"]
    assert f"\n\n## `{files[1]}`\n" in markdown
    (tmp_path / "two" / "penstock.lock").unlink()
    result = penstock("check", "--format", "json", *files)
    assert result.exit_code == 2
    one, two = json.loads(result.stdout)["programs"]
    assert (one["program"], one["status"], one["result"]["safe"]) == (files[0], 0, True)
    assert (two["program"], two["status"], two["result"]) == (files[1], 2, None)
