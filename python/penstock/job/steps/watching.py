"""A job that is seen while it runs: what is there around its run, whoever runs it."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from penstock.common.settings import Settings
from penstock.job.steps.progress import Progress


@contextlib.contextmanager
def watched(progress: Progress, settings: Settings) -> Generator[None, None, None]:
    """Within the block the job runs: it is seen where the settings say, and in the end so is how it has ended.

    Args:
        progress: of the job.
        settings: of its program.

    Raises:
        ConfigurationError: no port is free for Prometheus, or its library is not there.
    """
    with contextlib.ExitStack() as open_until_the_end:
        if settings.prometheus_ports is not None:
            from penstock.job.steps.prometheus import exposed

            open_until_the_end.enter_context(exposed(progress, settings.prometheus_ports))
        try:
            yield
        except BaseException as error:
            progress.ended(error)
            raise
        progress.ended()
