"""``penstock watch``: a job of another process on a page."""

from __future__ import annotations

import time
import webbrowser

import click

from penstock.cli.options import ProgramCommand, as_flink, means_pyflink, of_job, program_arguments
from penstock.cli.program import capture_plan
from penstock.cli.report import guard


@click.command(
    name="watch",
    cls=ProgramCommand,
    epilog="""\b
Examples:
  penstock watch /data/jobs/counts counts.py           the program's plan, with the job's numbers
  penstock watch --open s3://jobs/counts counts.py -v  options after FILE are the program's
  penstock watch /data/jobs/counts                     no edges: the folder has no plan
""",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of the page.  [default: any that is free]")
@click.option("--open", "show", is_flag=True, help="Open the page in the browser.")
@of_job
@as_flink
@means_pyflink
@click.argument("folder", metavar="JOB")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, readable=True))
@program_arguments
def command(
    port: int,
    show: bool,
    job: str | None,
    flink: str | None,
    pyflink: bool,
    folder: str,
    file: str | None,
    arguments: tuple[str, ...],
) -> None:
    """Show a job that runs in another process, on a page of this machine, until it is interrupted.

    JOB is its checkpoint directory, a path or URL; FILE is its program, which is planned and not run. The page shows
    records in and out per second, watermark lag and state of each chain as of the newest committed step.
    """
    from penstock.analysis.builder import model_of
    from penstock.viewer.data import page_data
    from penstock.viewer.follower import JobFollower
    from penstock.viewer.page import Page
    from penstock.viewer.server import FEED, PageServer

    with guard(file):
        model = None if file is None else model_of(capture_plan(file, arguments, flink, pyflink=pyflink, job=job))
        following = JobFollower(folder, model)
        page = Page(following.model.name, page_data(following.model, feed=FEED)).html()
        with PageServer(lambda: page, following.numbers, port) as server:
            click.echo(server.url)
            if show:
                webbrowser.open(server.url)
            while True:
                time.sleep(3600)
