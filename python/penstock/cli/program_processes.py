"""``lint`` and ``check`` of several programs: each runs in a process of its own, so that modules of one name
do not meet, and what the processes print becomes one output."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import click

FORMAT = 1  # version of the JSON documents about several programs


class Printed(NamedTuple):
    """The standard output of the process of one program, and its exit status."""

    file: str
    status: int
    text: str


def run_each(command: click.Command, ctx: click.Context, files: Sequence[str]) -> int:
    """Run ``lint`` or ``check`` for several programs, each in a process, one after the other, and print what is found.
    Returns the worst exit status."""
    form: str = ctx.params["form"]
    findings = command.name == "lint"
    options = [*words_given(ctx, command), *(["--format", "json"] if findings else [])]
    printed: list[Printed] = []
    for file in files:
        words = [*options, "--", file, "--", *ctx.params["arguments"]]
        process = [sys.executable, "-m", "penstock.cli", str(command.name), *words]
        done = subprocess.run(process, stdout=subprocess.PIPE, check=False)
        printed.append(Printed(file, abs(done.returncode), done.stdout.decode(errors="replace")))
    click.echo(_findings(printed, form) if findings else _verdicts(printed, form), nl=False)
    return max(program.status for program in printed)


def _findings(printed: Sequence[Printed], form: str) -> str:
    """The findings of ``lint`` in all programs, as if they were one."""
    from penstock.lint.finding import Finding, as_github, as_json, as_text

    read = {program.file: _document(program) for program in printed}
    findings = [Finding(**one) for document in read.values() if document is not None for one in document["findings"]]
    failed = [file for file, document in read.items() if document is None]
    if form == "json":
        document: dict[str, Any] = json.loads(as_json(findings))
        return json.dumps({**document, "failed": failed}, indent=2) + "\n"
    text = {"text": as_text, "github": as_github}[form](findings)
    if form == "text" and failed:
        text += f" Not looked at, as they failed: {', '.join(failed)}."
    return f"{text}\n" if text else ""


def _verdicts(printed: Sequence[Printed], form: str) -> str:
    """The verdict of ``check`` on each program; its other formats are lines, which can follow each other."""
    if form == "markdown":
        return "\n".join(f"## `{program.file}`\n\n{program.text}" for program in printed)
    if form == "github":  # annotations have the file; the verdict below them does not
        lines = ((program.file, line) for program in printed for line in program.text.splitlines())
        return "".join(f"{line}\n" if line.startswith("::") else f"{file}: {line}\n" for file, line in lines)
    if form == "text":
        return "".join(program.text for program in printed)
    programs = [{"program": run.file, "status": run.status, "result": _document(run)} for run in printed]
    return json.dumps({"format": FORMAT, "programs": programs}, indent=1) + "\n"


def _document(printed: Printed) -> dict[str, Any] | None:
    """The JSON that a process has printed; None if it has failed."""
    try:
        return json.loads(printed.text)
    except ValueError:
        return None


def same_program(name: str, *options: str) -> str:
    """A command line for the program of the command that runs, as advice that can be copied: the command ``name`` with
    these options, and with what was given to this one, as far as the other command takes it."""
    ctx = click.get_current_context()
    group: Any = ctx.find_root().command
    words = [word for word in words_given(ctx, group.get_command(ctx, name)) if word not in options]
    return shlex.join(["penstock", name, *options, *words, *program_words(ctx)])


def program_words(ctx: click.Context) -> list[str]:
    """FILE and ARGS of the command that runs, as words of a command line for any command."""
    arguments: tuple[str, ...] = ctx.params["arguments"]
    return [ctx.params["file"], *(["--"] if arguments else []), *arguments]


def words_given(ctx: click.Context, command: click.Command) -> list[str]:
    """The options that stand on the command line, as its words, as far as a command takes them."""
    words: list[str] = []
    theirs = {name for parameter in command.params for name in parameter.opts}
    for parameter in ctx.command.params:
        if not isinstance(parameter, click.Option) or not parameter.expose_value or parameter.name is None:
            continue
        name, value = parameter.opts[-1], ctx.params[parameter.name]
        if name not in theirs or ctx.get_parameter_source(parameter.name) is not click.core.ParameterSource.COMMANDLINE:
            continue
        if parameter.is_flag:
            words.append(name)
        else:
            words += [word for one in (value if parameter.multiple else [value]) for word in (name, str(one))]
    return words
