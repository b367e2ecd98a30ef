"""``penstock run``: a program, on Spark or in this process."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from penstock.cli.options import ProgramCommand, as_flink, means_pyflink, program_arguments, program_file
from penstock.cli.program import Observer, expecting_jobs, run_program, unseen
from penstock.cli.report import guard
from penstock.common import JobExecutionResult

if TYPE_CHECKING:
    from penstock.datastream.environment.executors import Executor


@click.command(
    name="run",
    cls=ProgramCommand,
    epilog="""\b
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
""",
)
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
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="A setting of Spark, of Flink or of Penstock; may be given many times.",
)
@click.option(
    "-s",
    "--from-savepoint",
    metavar="PLACE",
    help="Begin a new job from a savepoint, or from JOB or JOB@VERSION: a checkpoint directory, or a version of it. "
    "Not from a savepoint of Apache Flink, which `penstock savepoint check` compares with a program.",
)
@click.option(
    "-n",
    "--allow-non-restored-state",
    is_flag=True,
    help="Leave behind state that no operator of the program takes, instead of refusing to go on.",
)
@click.option(
    "-p",
    "--parallelism",
    type=click.IntRange(1),
    metavar="N",
    help="Subtasks of operators for which the program does not say how many; state is dealt out anew.",
)
@click.option(
    "--reactive",
    is_flag=True,
    help="Give these operators as many subtasks as there are cores, also when there are more or fewer later.",
)
@click.option(
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
@click.option("--traceback", "full_traceback", is_flag=True, help="Show Python's whole traceback when the job fails.")
@program_file
@program_arguments
def command(
    master: str | None,
    local: bool,
    flink: str | None,
    pyflink: bool,
    settings: tuple[str, ...],
    metrics: bool,
    progress: str,
    watch: bool,
    full_traceback: bool,
    from_savepoint: str | None,
    allow_non_restored_state: bool,
    parallelism: int | None,
    reactive: bool,
    checkpoint_directory: str | None,
    job_folder: str | None,
    file: str,
    arguments: tuple[str, ...],
) -> None:
    """Run the program FILE with its arguments ARGS.

    It is `python FILE ARGS...`, but every env.execute() runs where the options say. Without --local that is Apache
    Spark; without any option the program's own configuration decides.
    """
    given = dict(_setting(text) for text in settings)
    config = {key: given.pop(key) for key in [*given] if key.startswith("spark.")}
    if job_folder is not None:
        if checkpoint_directory is not None:
            raise click.UsageError("--job-folder is the old name of --checkpoint-directory. Give the latter only.")
        click.echo("penstock: --job-folder is the old name of --checkpoint-directory: use that.", err=True)
        checkpoint_directory = job_folder
    state = _state(from_savepoint, allow_non_restored_state, parallelism, checkpoint_directory, reactive=reactive)
    _refuse_both(given, {**state, **({} if flink is None else {"penstock.flink": flink})}, master, local=local)
    if local and (master or config):
        raise click.UsageError(
            "--local runs without Spark; --master and --conf spark.… are for Spark. Give one or the other."
        )
    with guard(file, full_traceback=full_traceback), expecting_jobs(file):
        _check(given)
        watcher = _print_metrics if metrics else None
        run_program(
            file,
            arguments,
            executor_of(master, local, config),
            flink,
            watcher,
            settings={**given, **state},
            pyflink=pyflink,
            observer=_observer(progress, watch),
        )


def _state(
    place: str | None, allow: bool, parallelism: int | None, directory: str | None, *, reactive: bool
) -> dict[str, str]:
    """What the options say of state and parallelism, as settings."""
    if reactive and parallelism is not None:
        raise click.UsageError("--parallelism says a number of subtasks, --reactive takes what there is. Give one.")
    said = {
        "execution.savepoint.path": place,
        "execution.savepoint.ignore-unclaimed-state": "true" if allow else None,
        "parallelism.default": None if parallelism is None else str(parallelism),
        "execution.checkpointing.dir": directory,
        "scheduler-mode": "reactive" if reactive else None,
    }
    return {key: value for key, value in said.items() if value is not None}


def _observer(progress: str, watch: bool) -> Observer | None:
    """What shows jobs while they run."""
    shown = _in_terminal(progress)
    if not watch:
        return shown
    from penstock.cli.page_view import PageView, beside

    return beside(shown, PageView())


def _in_terminal(progress: str) -> Observer | None:
    if progress == "auto":
        progress = "live" if sys.stderr.isatty() else "none"
    if progress == "none":
        return unseen
    from penstock.cli.live import LiveView, PlainView

    return LiveView() if progress == "live" else PlainView()


def _print_metrics(result: JobExecutionResult) -> None:
    """On standard error: the output is the program's. In one piece, as the view of another job may be there."""
    from penstock.cli.render import drawn
    from penstock.display.tables import heading

    title = heading(f'Metrics of job "{result.job_name}", {result.net_runtime_ms:,} ms')
    sys.stderr.write(drawn(title, result.metrics, err=True))
    sys.stderr.flush()


def _setting(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not separator or not key:
        raise click.BadParameter(f"{text!r} is not KEY=VALUE, such as spark.driver.memory=4g", param_hint="--conf")
    return key, value


def _refuse_both(given: dict[str, str], said: dict[str, str], master: str | None, *, local: bool) -> None:
    """Refuse settings that another option sets, too."""
    from penstock.common.settings.settings import names_of

    chosen = {"penstock.executor": ""} if local or master else {}
    for key in given:
        if {*names_of(key)} & {*said, *chosen}:
            raise click.UsageError(f"--conf {key} and another option set the same. Give one of them.")


def _check(given: dict[str, str]) -> None:
    """Check settings as those of a configuration, and warn of those without effect.

    Raises:
        ConfigurationError: a key that begins like ours and is none, or a wrong value.
    """
    from penstock.common.settings.settings import Settings, retired, without_effect

    settings = Settings().updated(given, imposed=True)
    for sentence in (*retired(given, settings), *without_effect(given, settings)):
        click.echo(f"penstock: {sentence}. See docs/settings.md.", err=True)


def executor_of(master: str | None, local: bool, config: dict[str, str]) -> Executor | None:
    """The executor the options ask for; None when they ask for none."""
    from penstock.datastream.environment import executors

    if local:
        return executors.get("local")
    return executors.get("spark", master=master, config=config) if master or config else None
