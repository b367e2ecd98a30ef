"""``penstock lint``: what is wrong with programs, and the uids that ``--fix`` writes into them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import options
from penstock.cli.program import Captured, Planning
from penstock.cli.program_processes import program_words, same_program, words_given
from penstock.cli.report import guard

if TYPE_CHECKING:
    from penstock.analysis.model import OperatorModel
    from penstock.lint import Finding
    from penstock.plan import Pipeline


def write_uids(pipeline: Pipeline, findings: Sequence[Finding], lock: Path) -> bool:
    """Write uids for the operators that were found to lack one; whether there were any. What is written, and what
    cannot be, goes to standard error. The lock file need not be there."""
    from penstock.analysis.builder import model_of
    from penstock.compare.texts import place, shown
    from penstock.lint import RULES
    from penstock.lock.fixer import fix
    from penstock.lock.pins import own_uids

    nodes = {finding.node for finding in findings if RULES[finding.code].needs_uid and finding.node is not None}
    # the IDs in the lock file, and whether there may be state under them
    locked = {operator.operator_id: operator.stateful is not False for operator in _operators(lock)}
    done = fix(own_uids(model_of(pipeline, states=False).operators, nodes, locked))
    for pin in done.written:
        click.echo(f"written: {place(pin.site)}  {pin.text}  ({shown(pin.operator)})", err=True)
    for pin, why in done.left:
        click.echo(f"not written: {shown(pin.operator)}: {pin.text}: {why}", err=True)
    if done.written and not locked:
        click.echo(
            "If the program has run before, its state is under the IDs that these operators had: compare with it by "
            f"{same_program('check', '--from-savepoint', 'PLACE')}",
            err=True,
        )
    return bool(done.written)


def _operators(lock: Path) -> tuple[OperatorModel, ...]:
    """The operators in a lock file; none if it is not there."""
    if not lock.is_file():
        return ()
    from penstock.lock.format import model_of_lock

    return model_of_lock(lock.read_text(encoding="utf-8"), str(lock)).operators


_TOLD = "uids: "  # before what the second run tells; a program may print what it likes before that


def _codes(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Codes with commas between, of an option that may be given several times."""
    return tuple(code.strip() for text in value for code in text.split(",") if code.strip())


def _rules(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Print all rules, a line each; those that have to be selected with a star."""
    if value:
        from penstock.lint import RULES

        for code, rule in RULES.items():
            click.echo(f"{code}{' ' if rule.default else '*'} {rule.summary()}")
        context.exit()


def _explain(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """Print the page of a rule, as Markdown."""
    if value is not None:
        from penstock.lint import RULES

        if value not in RULES:
            raise click.BadParameter(f"there is no rule {value}. Give one of those that --rules prints.")
        click.echo(RULES[value].page().rstrip())
        context.exit()


@click.command("lint", options.FilesCommand)
@click.option(
    "--select", multiple=True, callback=_codes, help="Codes, or beginnings of codes, instead of the defaults."
)
@click.option("--extend-select", multiple=True, callback=_codes, help="More codes.")
@click.option("--ignore", multiple=True, callback=_codes, help="Codes that do not count.")
@options.written_as(("text", "json", "github"), "How to tell.")
@click.option("--lock", type=click.Path(exists=True, dir_okay=False), help="A lock file.  [default: penstock.lock]")
@click.option("--fix", is_flag=True, help="Write the uids that are missing into the program.")
@click.option("--once", is_flag=True, help="Do not run the program a second time to compare its uids.")
@options.planned(options.of_jobs, options.as_flink, options.means_pyflink)
@click.option(
    "--explain",
    metavar="CODE",
    callback=_explain,
    expose_value=False,
    is_eager=True,
    help="Print a rule's page, and end.",
)
@click.option(
    "--rules", is_flag=True, callback=_rules, expose_value=False, is_eager=True, help="Print all rules, and end."
)
@options.full_traceback("on failure")
@options.program
def command(
    select: tuple[str, ...],
    extend_select: tuple[str, ...],
    ignore: tuple[str, ...],
    form: str,
    lock: str | None,
    fix: bool,
    once: bool,
    planning: Planning,
    full_traceback: bool,
    file: str,
) -> None:
    """Say what is wrong with the program FILE, or will be, without running a job.

    The program runs with its arguments ARGS until its first env.execute(), or that of --job, twice; what it prints goes
    to standard error. Which rules count says [tool.penstock.lint] of the nearest pyproject.toml; a comment such as
    `# penstock: ignore[PS001]` in the lines of a call suppresses what is found there. The exit status is 1 if something
    is found.

    Examples:
      penstock lint counts.py
      penstock lint counts.py --window 20                options after FILE are the program's
      penstock lint jobs/*.py                           several programs
      penstock lint --select ALL --ignore PS4 counts.py  every rule but those of sources and sinks
      penstock lint --format github counts.py            beside the lines of a pull request
      penstock lint --job all etl.py                     a program with several jobs
      penstock lint --fix counts.py                      write the uids that are missing
      penstock lint --explain PS301
      penstock lint --rules
    """
    with guard(file, full_traceback=full_traceback):
        from penstock.lint import Known, find_configuration, finding, lint_jobs

        place = Path(lock) if lock is not None else Path(file).resolve().parent / "penstock.lock"
        configuration = find_configuration(Path(file)).with_options(select, extend_select, ignore)
        captured = planning.plans(file)
        run_again = not once and configuration.selects("PS004")
        uids = _uids_again(captured, [file, *astuple(planning)]) if run_again else None
        uids = uids or [None] * len(captured.pipelines)
        groups = {operator.operator_id: operator.effective_max_parallelism for operator in _operators(place)} or None
        jobs = [(pipeline, Known(again, groups)) for pipeline, again in zip(captured.pipelines, uids, strict=True)]
        findings = lint_jobs(jobs, configuration, file=file, whole=captured.whole)
        if fix and len(jobs) > 1:
            raise click.UsageError(f"--fix writes into one job at a time, and {file} has several: give --job NAME|N.")
        if fix and write_uids(captured.pipelines[0], findings, place):
            ctx = click.get_current_context()
            again = [word for word in words_given(ctx, ctx.command) if word != "--fix"]
            command_line = [sys.executable, "-m", "penstock.cli", "lint", *again, *program_words(ctx)]
            run = subprocess.run(command_line, stdout=subprocess.PIPE, text=True)
            click.echo(run.stdout, nl=False)
            sys.exit(run.returncode)
        text = {"text": _as_text(captured), "json": finding.as_json, "github": finding.as_github}[form](findings)
        if text:
            click.echo(text)
    if findings:
        sys.exit(1)


def _as_text(captured: Captured) -> Callable[[Sequence[Finding]], str]:
    from penstock.lint import finding

    if captured.whole:
        return finding.as_text
    first, *others = captured.pipelines
    where = f"the first {len(others) + 1} jobs" if others else f"the job {first.name!r}"
    return lambda findings: finding.as_text(findings, where)


def _uids_again(captured: Captured, program: list[Any]) -> list[dict[int, str | None] | None] | None:
    """The uids by node of the same jobs, planned in a process of its own with another seed for hashes of texts and
    on another day; None where there are none, or the second run fails. Where it fails on another day, such as at a
    certificate that has expired by then, the clock is left alone.
    """
    if all(node.uid is None for pipeline in captured.pipelines for node in pipeline.stream_graph.nodes):
        return None
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    for ahead in (True, False):
        run = subprocess.run(
            [sys.executable, "-c", f"from {__name__} import tell_uids; tell_uids()", json.dumps([ahead, *program])],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        try:
            uids: list[Any] = [dict(nodes) for nodes in json.loads(run.stdout.rpartition(_TOLD)[2])]
        except (ValueError, TypeError):
            continue
        if len(uids) == len(captured.pipelines):
            return uids
    click.echo("The second run of the program failed, so its uids were not compared (PS004).", err=True)
    return None


def tell_uids() -> None:
    """Print the uids by node of the jobs that the argument names: the process of the second run."""
    ahead, file, *planning = json.loads(sys.argv[1])
    if ahead:
        import penstock.datastream  # noqa: F401  # our own modules keep the true classes
        from penstock.cli.clock_ahead import set_ahead

        set_ahead()
    pipelines = Planning(*planning).plans(file).pipelines
    print(_TOLD + json.dumps([[(node.id, node.uid) for node in pipeline.stream_graph.nodes] for pipeline in pipelines]))
