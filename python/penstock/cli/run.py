"""``penstock run``: a program, on Spark or in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from penstock.cli.options import ProgramCommand, as_flink, full_traceback, means_pyflink, program
from penstock.cli.program import Observer, expecting_jobs, run_program, unseen
from penstock.cli.report import guard
from penstock.common import JobExecutionResult

if TYPE_CHECKING:
    from penstock.datastream.environment.executors import Executor


def _sets(key: str, *names: str, value: str | None = None, **attributes: Any) -> Callable[..., Any]:
    """An option that gives the program a setting; a flag gives it a fixed ``value``."""

    def keep(context: click.Context, parameter: click.Parameter, argument: object) -> None:
        if argument is not None and argument is not False:
            context.ensure_object(dict)[key] = value or str(argument)

    return click.option(*names, callback=keep, expose_value=False, is_flag=value is not None, **attributes)


@click.command("run", ProgramCommand)
@click.option(
    "--master",
    metavar="MASTER",
    help="Spark master, such as local[4], spark://host:7077 or sc://host:15002.  [default: local[*,4]]",
)
@click.option("--local", is_flag=True, help="Run inside this process, without Spark.")
@as_flink
@means_pyflink
@click.option(
    "--conf",
    "pairs",
    metavar="KEY=VALUE",
    multiple=True,
    help="A setting of Spark, of Flink or of Penstock; may be given many times.",
)
@_sets(
    "execution.savepoint.path",
    "-s",
    "--from-savepoint",
    metavar="PLACE",
    help="Begin a new job from a savepoint, also one of Apache Flink; or from JOB or JOB@VERSION: a checkpoint "
    "directory, or a version of it.",
)
@_sets(
    "execution.savepoint.ignore-unclaimed-state",
    "-n",
    "--allow-non-restored-state",
    value="true",
    help="Leave behind state that no operator of the program takes, instead of refusing to go on.",
)
@_sets(
    "parallelism.default",
    "-p",
    "--parallelism",
    type=click.IntRange(1),
    metavar="N",
    help="Subtasks of operators whose parallelism the program does not set; state is dealt out again.",
)
@_sets(
    "scheduler-mode",
    "--reactive",
    value="reactive",
    help="Give these operators as many subtasks as there are cores, also when there are more or fewer later.",
)
@_sets(
    "execution.checkpointing.dir",
    "--checkpoint-directory",
    metavar="PLACE",
    help="Keep the job's state here, a path or URL, and resume from it.",
)
@click.option("--job-folder", metavar="PLACE", hidden=True, help="The old name of --checkpoint-directory.")
@click.option("--metrics", is_flag=True, help="After each job, print what its operators have measured.")
@click.option(
    "--progress",
    type=click.Choice(["auto", "live", "plain", "none"]),
    default="auto",
    show_default=True,
    help="Show how jobs go, on standard error: a live view, a line every ten seconds, or nothing; auto is a live view "
    "if that is a terminal, and else nothing.",
)
@click.option("--watch", is_flag=True, help="Serve a page that shows each job while it runs; its address is printed.")
@full_traceback("when the job fails")
@program
@click.pass_context
def command(
    context: click.Context,
    master: str | None,
    local: bool,
    flink: str | None,
    pyflink: bool,
    pairs: tuple[str, ...],
    job_folder: str | None,
    metrics: bool,
    progress: str,
    watch: bool,
    full_traceback: bool,
    file: str,
    arguments: tuple[str, ...],
) -> None:
    """Run the program FILE with its arguments ARGS.

    It is `python FILE ARGS...`, but every env.execute() runs where the options say. Without --local that is Apache
    Spark; without any option the program's own configuration decides.

    Examples:
      penstock run word_count.py
      penstock run word_count.py --input book.txt        options after FILE are the program's
      penstock run --master 'local[4]' word_count.py     options before FILE are Penstock's
      penstock run --conf spark.driver.memory=4g word_count.py
      penstock run --conf penstock.files.shared-folders=/mnt/jobs word_count.py
      penstock run --master spark://host:7077 word_count.py
      penstock run --local word_count.py                 no Spark: for a first try
      penstock run --watch endless.py                    a page with the plan, and its numbers
      penstock run --metrics word_count.py               records in and out of every operator
      penstock run --pyflink word_count.py               a program that imports pyflink, as it is
      penstock run --from-savepoint /sp/1 --checkpoint-directory /jobs/new sums.py
      penstock run --from-savepoint /jobs/old@17 --checkpoint-directory /jobs/new sums.py
    """
    state: dict[str, str] = context.ensure_object(dict)
    if job_folder is not None:
        if "execution.checkpointing.dir" in state:
            raise click.UsageError("--job-folder is the old name of --checkpoint-directory. Give the latter only.")
        click.echo("penstock: --job-folder is the old name of --checkpoint-directory: use that.", err=True)
        state["execution.checkpointing.dir"] = job_folder
    if state.keys() >= {"parallelism.default", "scheduler-mode"}:
        raise click.UsageError("--parallelism sets a number of subtasks, --reactive takes one per core. Give one.")
    settings = _settings(pairs, {**state, "penstock.flink": flink, "penstock.executor": local or master})
    config = {key: settings.pop(key) for key in [*settings] if key.startswith("spark.")}
    if local and (master or config):
        raise click.UsageError(
            "--local runs without Spark; --master and --conf spark.… are for Spark. Give one or the other."
        )
    with guard(file, full_traceback=full_traceback), expecting_jobs(file):
        _check(settings)
        run_program(
            file,
            arguments,
            executor_of(master, local, config),
            flink,
            _print_metrics if metrics else None,
            settings={**settings, **state},
            pyflink=pyflink,
            observer=_observer(progress, watch),
        )


def _settings(pairs: Sequence[str], chosen: Mapping[str, object]) -> dict[str, str]:
    """The settings of --conf; other options must not set one of them, too."""
    from penstock.common.settings.settings import names_of

    for pair in pairs:
        if "=" not in pair or pair.startswith("="):
            raise click.BadParameter(f"{pair!r} is not KEY=VALUE, such as spark.driver.memory=4g", param_hint="--conf")
    settings = dict(pair.split("=", 1) for pair in pairs)
    for key in settings:
        if any(chosen.get(name) for name in names_of(key)):
            raise click.UsageError(f"--conf {key} and another option set the same thing. Give one of them.")
    return settings


def _observer(progress: str, watch: bool) -> Observer:
    if progress == "auto":
        progress = "live" if sys.stderr.isatty() else "none"
    shown: Observer = unseen
    if progress != "none":
        from penstock.cli.live import LiveView, PlainView

        shown = LiveView() if progress == "live" else PlainView()
    if not watch:
        return shown
    from penstock.cli.page_view import PageView, beside

    return beside(shown, PageView())


def _print_metrics(result: JobExecutionResult) -> None:
    """On standard error: the output is the program's. In one piece, as the view of another job may be there."""
    from penstock.cli.render import drawn
    from penstock.display.tables import heading

    title = heading(f'Metrics of job "{result.job_name}", {result.net_runtime_ms:,} ms')
    sys.stderr.write(drawn(title, result.metrics))
    sys.stderr.flush()


def _check(values: dict[str, str]) -> None:
    """Check settings as those of a configuration, and warn of those without effect."""
    from penstock.common.settings.settings import Settings, retired, without_effect

    settings = Settings().updated(values, imposed=True)
    for sentence in (*retired(values, settings), *without_effect(values, settings)):
        click.echo(f"penstock: {sentence}. See docs/settings.md.", err=True)


def executor_of(master: str | None, local: bool, config: dict[str, str]) -> Executor | None:
    """The executor the options ask for; None when they ask for none."""
    from penstock.datastream.environment import executors

    if local:
        return executors.get("local")
    return executors.get("spark", master=master, config=config) if master or config else None
