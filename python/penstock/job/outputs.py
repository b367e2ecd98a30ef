"""The paths that the text sinks of a job write to: no two in each other's way."""

from __future__ import annotations

import os
from pathlib import Path

from penstock.errors import InvalidProgramError


class Outputs:
    """The paths of text sinks: none is another's, or inside another's. O(depth of the path) each."""

    def __init__(self) -> None:
        self._sinks: dict[Path, str] = {}
        self._folders: dict[Path, str] = {}  # all that contain an output, and a sink that writes there

    def add(self, path: str, name: str) -> None:
        """Take one more.

        Raises:
            InvalidProgramError: it is taken already, also under another spelling, or by a folder above or below.
        """
        real = Path(os.path.realpath(path))
        for place in (real, *real.parents):
            if place in self._sinks:
                self._refuse(self._sinks[place], name, path)
        if real in self._folders:
            self._refuse(self._folders[real], name, path)
        self._sinks[real] = name
        self._folders.update(dict.fromkeys(real.parents, name))

    def _refuse(self, first: str, second: str, path: str) -> None:
        raise InvalidProgramError(
            f"The sinks {first!r} and {second!r} both write to {path!r}, or one inside the folder of the other. Give "
            "each its own path, or unite the streams before one sink."
        )
