"""``penstock watch``: a job of another process on a page."""

from __future__ import annotations

import time
import webbrowser

import click

from penstock.cli.options import ProgramCommand, opens_browser, planned, program_arguments, program_path
from penstock.cli.program import Planning
from penstock.cli.report import guard


@click.command("watch", ProgramCommand)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of the page.  [default: any that is free]")
@opens_browser
@planned()
@click.argument("folder", metavar="JOB")
@click.argument("file", required=False, type=program_path)
@program_arguments
def command(port: int, show: bool, planning: Planning, folder: str, file: str | None) -> None:
    """Show a job that runs in another process, on a page of this machine, until it is interrupted.

    JOB is its checkpoint directory, a path or URL; FILE is its program, which is planned and not run. The page shows
    records in and out per second, watermark lag and state of each chain as of the newest committed step.

    Examples:
      penstock watch /data/jobs/counts counts.py           the program's plan, with the job's numbers
      penstock watch --open s3://jobs/counts counts.py -v  options after FILE are the program's
      penstock watch /data/jobs/counts                     no edges: the folder has no plan
    """
    from penstock.analysis.builder import model_of
    from penstock.viewer.data import page_data
    from penstock.viewer.follower import JobFollower
    from penstock.viewer.page import Page
    from penstock.viewer.server import FEED, PageServer

    with guard(file):
        model = None if file is None else model_of(planning.plan(file))
        following = JobFollower(folder, model)
        page = Page(following.model.name, page_data(following.model, feed=FEED)).html()
        with PageServer(lambda: page, following.numbers, port) as server:
            click.echo(server.url)
            if show:
                webbrowser.open(server.url)
            while True:
                time.sleep(3600)
