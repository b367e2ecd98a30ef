"""Chains of state files: their order, and how one of their files is opened."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator

from penstock.runtime.config.tasks import StateFile
from penstock.runtime.io.storage import join
from penstock.runtime.io.stores import storage_of
from penstock.runtime.state.files import LOG, SNAPSHOT, AboutOperator, StateReader, state_error

Chain = tuple[StateFile, ...]
"""A snapshot, and the logs after it; empty where there is no state."""

MOST_LOGS = 64
"""Logs after which some are written as one, as each has to be opened when state is loaded."""


def merged_from(chain: Chain, coming: int) -> int:
    """From which file of a chain on its logs become one with the next: all of them are no longer than those after them
    together, so that no byte is written again and again. The length of the chain if there are few.

    Args:
        chain: so far.
        coming: about how long the next one is.
    """
    start = len(chain)
    if start <= MOST_LOGS:
        return start
    while start > 1 and (start == len(chain) or chain[start - 1].bytes <= coming):
        start -= 1
        coming += chain[start].bytes
    return start


def check_order(folder: str, chain: Chain, about: AboutOperator) -> None:
    """See that a chain is one.

    Raises:
        StateError: it is not.
    """
    if chain and [file.kind for file in chain] != [SNAPSHOT, *[LOG] * (len(chain) - 1)]:
        raise state_error(join(folder, chain[0].name), about, "begins a chain that is no snapshot with logs after it")


@contextlib.contextmanager
def opened(folder: str, file: StateFile, about: AboutOperator, *, whole: bool) -> Iterator[StateReader]:
    """A file of a chain, fetched at once if all of it will be needed.

    Raises:
        StateError: it is missing, or not as long as it was.
    """
    path, storage = join(folder, file.name), storage_of(folder)
    try:
        with io.BytesIO(storage.get(path)) if whole else storage.read(path) as opened:
            size = opened.seek(0, io.SEEK_END)
            opened.seek(0)
            if size != file.bytes:
                raise state_error(path, about, f"should have {file.bytes} bytes and has {size}")
            yield StateReader(path, opened, size, about)
    except FileNotFoundError as error:
        raise state_error(path, about, "is not there") from error
    except OSError as error:
        raise state_error(path, about, f"cannot be read: {error}") from error
