"""``penstock rescale``: a job stops, and resumes with another parallelism."""

from __future__ import annotations

import click

from penstock.cli.options import ProgramCommand, program, waits
from penstock.cli.program import expecting_jobs, run_program
from penstock.cli.report import guard
from penstock.cli.run import executor_of


@click.command("rescale", ProgramCommand)
@click.option("--master", metavar="MASTER", help="Spark master to resume with.")
@click.option("--local", is_flag=True, help="Resume inside this process, without Spark.")
@click.option("--savepoint", metavar="FOLDER", help="Take a savepoint in between, to keep.")
@waits("the end of the job that runs")
@click.argument("job")
@click.argument("parallelism", type=click.IntRange(1))
@program
def command(
    master: str | None,
    local: bool,
    savepoint: str | None,
    timeout: float,
    job: str,
    parallelism: int,
    file: str,
    arguments: tuple[str, ...],
) -> None:
    """Stop the job with the checkpoint directory JOB, if it runs, and resume with PARALLELISM subtasks: run FILE with
    ARGS.

    Operators whose parallelism the program sets keep it. Nothing is lost or read twice: the job that runs ends its
    step, and the other one resumes from there.

    Examples:
      penstock rescale /data/jobs/counts 8 counts.py --topic words
      penstock rescale --savepoint /data/savepoints /data/jobs/counts 8 counts.py
      penstock rescale --local /data/jobs/counts 2 counts.py
    """
    from penstock.job.folder.files import Files
    from penstock.job.savepoint.commands import stop
    from penstock.storage.storage import real_place

    if local and master:
        raise click.UsageError("--local runs without Spark; --master is for Spark. Give one or the other.")
    with guard(file), expecting_jobs(file):
        if Files(real_place(job)).owners.living() is not None:
            place = stop(job, savepoint, taken=savepoint is not None, drain=False, seconds=timeout)
            click.echo("stopped" if place is None else place, err=True)
        settings = {"execution.checkpointing.dir": job, "parallelism.default": str(parallelism)}
        run_program(file, arguments, executor_of(master, local, {}), settings=settings)
