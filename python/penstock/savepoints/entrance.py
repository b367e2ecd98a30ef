"""The entrance for both kinds of savepoints, ours and those of Apache Flink."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from penstock.savepoints.reader import Savepoint

if TYPE_CHECKING:
    from penstock.savepoints.flink_savepoint import SavepointOfFlink


def read(place: str | Path, *, unpickle: bool = False) -> Savepoint | SavepointOfFlink:
    """Read a savepoint, of Penstock or of Flink. Both have ``operators``, ``states``, ``read``, ``timers`` and
    ``to_spark``.

    Args:
        place: as of :class:`Savepoint`; of Flink a folder with ``_metadata``, that file, or a job's folder of
            checkpoints. A path or URL.
        unpickle: as of :class:`Savepoint`. In a savepoint of Flink it is of values that PyFlink has pickled only.

    Raises SavepointError: there is no savepoint, or it is damaged.
    """
    from penstock.flink.places import is_flinks  # here: the package of Flink's savepoints loads native code

    if is_flinks(str(place)):
        from penstock.savepoints.flink_savepoint import SavepointOfFlink

        return SavepointOfFlink(place, unpickle=unpickle)
    return Savepoint(place, unpickle=unpickle)
