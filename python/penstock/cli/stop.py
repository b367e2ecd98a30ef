"""``penstock stop``: have a job end that runs in another process."""

from __future__ import annotations

import click

from penstock.cli.options import Command, refers, waits
from penstock.cli.report import guard

_DEFAULT = "\0"


@click.command("stop", Command)
@click.option(
    "--savepoint", is_flag=False, flag_value=_DEFAULT, metavar="[FOLDER]", help="End with a savepoint, in FOLDER."
)
@click.option(
    "--drain", is_flag=True, help="End the sources first: windows and timers of event time fire. The job is over then."
)
@refers(
    "Have the savepoint refer to the state in the checkpoint directory, which keeps it; else as the job's settings say."
)
@waits("the job's end")
@click.argument("job")
def command(savepoint: str | None, drain: bool, reference: bool | None, timeout: float, job: str) -> None:
    """Have a job end that runs in another process, in order: what its steps have made stands.

    JOB is its checkpoint directory, a path or URL. The command returns when the job has ended. If the savepoint cannot
    be taken, the job goes on, unless it was to be drained.

    Examples:
      penstock stop /data/jobs/counts                                  after the step that runs
      penstock stop /data/jobs/counts --savepoint /data/savepoints     with a savepoint
      penstock stop /data/jobs/counts --savepoint                      in state.savepoints.dir
      penstock stop /data/jobs/counts --drain                          when all windows have fired
    """
    from penstock.job.savepoint.commands import stop

    with guard():
        folder = None if savepoint == _DEFAULT else savepoint
        place = stop(job, folder, taken=savepoint is not None, drain=drain, seconds=timeout, reference=reference)
        click.echo("stopped" if place is None else place)
