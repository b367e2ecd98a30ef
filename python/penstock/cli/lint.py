"""``penstock lint``: what can be said against a program before it is deployed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from penstock.cli.options import as_flink, means_pyflink, program_arguments, program_file
from penstock.cli.program import capture_plan
from penstock.cli.report import guard

if TYPE_CHECKING:
    from penstock.lint import Known
    from penstock.plan import Pipeline

_FORMATS = ("text", "json", "github")
_TOLD = "uids: "
"""Before what the second run tells; a program may print what it likes before that."""


def _codes(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Codes with commas between, of an option that may be given several times."""
    return tuple(code.strip() for each in value for code in each.split(",") if code.strip())


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
        from penstock.lint.pages import page

        if value not in RULES:
            raise click.BadParameter(f"there is no rule {value}. Give one of those that --rules prints.")
        click.echo(page(RULES[value]).rstrip())
        context.exit()


@click.command(
    name="lint",
    context_settings={"allow_interspersed_args": False},
    epilog="""\b
Examples:
  penstock lint counts.py
  penstock lint counts.py --window 20                options after FILE are the program's
  penstock lint --select ALL --ignore PS4 counts.py  every rule but those of sources and sinks
  penstock lint --format github counts.py            beside the lines of a pull request
  penstock lint --explain PS301
  penstock lint --rules
""",
)
@click.option(
    "--select", multiple=True, callback=_codes, help="Codes, or beginnings of codes, instead of the defaults."
)
@click.option("--extend-select", multiple=True, callback=_codes, help="Codes besides.")
@click.option("--ignore", multiple=True, callback=_codes, help="Codes that do not count.")
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True, help="How to tell.")
@click.option("--lock", type=click.Path(exists=True, dir_okay=False), help="A lock file.  [default: penstock.lock]")
@click.option("--once", is_flag=True, help="Do not run the program a second time to compare its uids.")
@as_flink
@means_pyflink
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
@click.option("--traceback", "full_traceback", is_flag=True, help="Show Python's whole traceback on failure.")
@program_file
@program_arguments
def command(
    select: tuple[str, ...],
    extend_select: tuple[str, ...],
    ignore: tuple[str, ...],
    form: str,
    lock: str | None,
    once: bool,
    flink: str | None,
    pyflink: bool,
    full_traceback: bool,
    file: str,
    arguments: tuple[str, ...],
) -> None:
    """Say what is wrong with the program FILE, or will be, without running a job.

    The program runs with its arguments ARGS until its first env.execute(), twice; what it prints goes to standard
    error. Which rules count says [tool.penstock.lint] of the nearest pyproject.toml; a comment such as
    `# penstock: ignore[PS001]` in the lines of a call suppresses what is found there. The exit status is 1 if something
    is found.
    """
    with guard(file, full_traceback=full_traceback):
        from penstock.lint import find_configuration, formats, lint

        configuration = find_configuration(Path(file)).with_options(select, extend_select, ignore)
        pipeline = capture_plan(file, arguments, flink, pyflink=pyflink)
        run_again = not once and configuration.selects("PS004")
        uids = _uids_again(pipeline, [file, arguments, flink, pyflink]) if run_again else None
        known = _known(uids, lock, Path(file))
        findings = lint(pipeline, configuration, known=known, file=file)
        told = {"text": formats.as_text, "json": formats.as_json, "github": formats.as_github}[form](findings)
        if told:
            click.echo(told)
    if findings:
        sys.exit(1)


def _uids_again(pipeline: Pipeline, program: list[Any]) -> dict[int, str | None] | None:
    """The uids by node of the same program, planned in a process of its own with another seed for hashes of texts; None
    where there are none, or the second run fails."""
    if all(node.uid is None for node in pipeline.stream_graph.nodes):
        return None
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    run = subprocess.run(
        [sys.executable, "-c", f"from {__name__} import tell_uids; tell_uids()", json.dumps(program)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    try:
        return dict(json.loads(run.stdout.rpartition(_TOLD)[2]))
    except (ValueError, TypeError):
        click.echo("The second run of the program failed, so its uids were not compared (PS004).", err=True)
        return None


def tell_uids() -> None:
    """What the process of the second run does: print the uids by node of the program that its argument says."""
    file, arguments, flink, pyflink = json.loads(sys.argv[1])
    pipeline = capture_plan(file, arguments, flink, pyflink=pyflink)
    print(_TOLD + json.dumps([(node.id, node.uid) for node in pipeline.stream_graph.nodes]))


def _known(uids: dict[int, str | None] | None, lock: str | None, program: Path) -> Known:
    from penstock.lint import Known

    place = Path(lock) if lock is not None else program.resolve().parent / "penstock.lock"
    if not place.is_file():
        return Known(uids=uids)
    from penstock.lock.format import model_of_lock

    locked = model_of_lock(place.read_text(encoding="utf-8"), str(place))
    return Known(
        uids=uids, max_parallelisms={each.operator_id: each.effective_max_parallelism for each in locked.operators}
    )
