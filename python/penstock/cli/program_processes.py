"""What ``lint`` and ``check`` do with several programs: each runs in a process of its own, so that modules of one name
do not meet, and what the processes print becomes one output."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from penstock.cli.options import words_given

FORMAT = 1
"""Version of the JSON documents about several programs."""


class Printed(NamedTuple):
    """What the process of one program has printed on standard output, and the status with which it has ended."""

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
    return max(each.status for each in printed)


def _findings(printed: Sequence[Printed], form: str) -> str:
    """What ``lint`` has found in all programs, as if they were one."""
    from penstock.lint.finding import Finding, as_github, as_json, as_text

    read = {each.file: _document(each) for each in printed}
    found = [Finding(**one) for document in read.values() if document is not None for one in document["findings"]]
    failed = [file for file, document in read.items() if document is None]
    if form == "json":
        document: dict[str, Any] = json.loads(as_json(found))
        return json.dumps({**document, "failed": failed}, indent=2) + "\n"
    told = {"text": as_text, "github": as_github}[form](found)
    if form == "text" and failed:
        told += f" Not looked at, as they failed: {', '.join(failed)}."
    return f"{told}\n" if told else ""


def _verdicts(printed: Sequence[Printed], form: str) -> str:
    """What ``check`` says of each program; its other formats are made of lines, which can stand below each other."""
    if form == "markdown":
        return "\n".join(f"## `{each.file}`\n\n{each.text}" for each in printed)
    if form == "github":  # annotations have the file; the verdict below them does not
        lines = ((each.file, line) for each in printed for line in each.text.splitlines())
        return "".join(f"{line}\n" if line.startswith("::") else f"{file}: {line}\n" for file, line in lines)
    if form == "text":
        return "".join(each.text for each in printed)
    programs = [{"program": each.file, "status": each.status, "result": _document(each)} for each in printed]
    return json.dumps({"format": FORMAT, "programs": programs}, indent=1) + "\n"


def _document(printed: Printed) -> dict[str, Any] | None:
    """The JSON that a process has printed; None if it has failed."""
    try:
        return json.loads(printed.text)
    except ValueError:
        return None
