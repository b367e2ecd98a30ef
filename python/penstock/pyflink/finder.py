"""Leads imports of ``pyflink`` to :mod:`penstock.pyflink`: the same module objects under both names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

from penstock.errors import ConfigurationError

PYFLINK, HERE = "pyflink", "penstock.pyflink"
OWN = frozenset({"advice", "deviating", "finder", "install", "java", "missing", "placeholders", "variables"})
"""Modules that PyFlink does not have."""
TABLES = "penstock.pyflink.table"
"""One module for all of the Table API's: nothing in them is there but types of columns."""


class PyFlinkFinder(MetaPathFinder, Loader):
    """Finds ``pyflink.x`` at ``penstock.pyflink.x``."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The place of a module of PyFlink, None for others and for those that are not there."""
        top, _, rest = fullname.partition(".")
        if top != PYFLINK:
            return None
        if rest.partition(".")[0] in OWN:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        found = find_spec(_here(fullname))
        if found is None:
            return None
        return ModuleSpec(fullname, self, is_package=found.submodule_search_locations is not None)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module, which is loaded under its own name."""
        module = importlib.import_module(_here(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to run; what the import system has written over is put back."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def _here(name: str) -> str:
    """Where a module of PyFlink is with us."""
    here = HERE + name.removeprefix(PYFLINK)
    return TABLES if here.startswith(f"{TABLES}.") else here


def installed() -> bool:
    """Whether ``pyflink`` means :mod:`penstock.pyflink` in this process."""
    return any(isinstance(each, PyFlinkFinder) for each in sys.meta_path)


def install() -> None:
    """Let ``pyflink`` mean :mod:`penstock.pyflink` in this process, also where the real one is installed. Once is
    enough; a second time does nothing.

    Raises:
        ConfigurationError: the real PyFlink has been imported already.
    """
    if installed():
        return
    loaded = sys.modules.get(PYFLINK)
    if loaded is not None:
        raise ConfigurationError(
            f"The real PyFlink is loaded already ({getattr(loaded, '__file__', None)}), and a process has one. Write "
            "`import penstock.pyflink.install` before the first import of pyflink, or run the program by "
            "`penstock run --pyflink`."
        )
    sys.meta_path.insert(0, PyFlinkFinder())
