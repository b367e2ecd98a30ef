"""Makes PyFlink's modules when they are imported, and lets ``pyflink`` mean :mod:`penstock.pyflink`.

The path of ``penstock.pyflink`` has an entry that stands for the table of names: :class:`NamesFinder` finds PyFlink's
modules there. After :func:`install`, :class:`PyFlinkFinder` leads ``pyflink.x`` to the module ``penstock.pyflink.x``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder, PathEntryFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from penstock.errors import ConfigurationError
from penstock.pyflink.advice import advice
from penstock.pyflink.names import BESIDE, inside, is_absent, modules

PYFLINK, HERE = "pyflink", "penstock.pyflink"
WRITTEN = frozenset({"pyflink", "pyflink.version"})  # the modules of PyFlink's that are files here
_ENTRY = "<PyFlink's names>."


def entry(package: str) -> str:
    """The entry in the path of a package for the modules that are made."""
    return _ENTRY + package


def names_of(path_entry: str) -> NamesFinder:
    """The finder for an entry of a path, as ``sys.path_hooks`` asks for it."""
    if not path_entry.startswith(_ENTRY):
        raise ImportError(path_entry)
    return NamesFinder(path_entry.removeprefix(_ENTRY))


class NamesFinder(PathEntryFinder, Loader):
    """Finds and makes the modules of a package of PyFlink's."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(self, fullname: str, target: ModuleType | None = None) -> ModuleSpec | None:
        """How a module is made, None if PyFlink has none of this name."""
        theirs = _pyflink_name(fullname)
        if theirs not in modules() and theirs not in BESIDE and not is_absent(theirs):
            return None
        spec = ModuleSpec(fullname, self, origin="names.tsv", is_package=is_absent(theirs) or bool(inside(theirs)))
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(entry(theirs))
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """A module whose names are made when they are asked for, if they are not known; else one like any other."""
        return AbsentModule(spec.name) if is_absent(_pyflink_name(spec.name)) else None

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its names."""
        from penstock.pyflink.contents import contents

        theirs = _pyflink_name(module.__name__)
        module.__doc__ = f"The names of PyFlink's ``{theirs}``."
        if not isinstance(module, AbsentModule):
            names = contents(theirs)
            vars(module).update(names, __all__=[name for name in names if not name.startswith("_")])

    def iter_modules(self, prefix: str = "") -> Iterator[tuple[str, bool]]:
        """The modules of the package, as :func:`pkgutil.iter_modules` asks for them."""
        for name in inside(self._package):
            yield prefix + name, bool(inside(f"{self._package}.{name}"))


class AbsentModule(ModuleType):
    """A module of PyFlink that Penstock does not have: every name can be imported, and refuses to be used; types of
    columns, which formats of files take, are those of Penstock."""

    def __getattr__(self, name: str) -> Any:
        from penstock.pyflink.contents import absent_value

        if name.startswith("_"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = absent_value(name, _pyflink_name(self.__name__))
        setattr(self, name, value)
        return value


class Py4JFinder(MetaPathFinder):
    """Is asked last, and says how to get py4j, which programs have from apache-flink."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for other modules; a ModuleNotFoundError for py4j."""
        if fullname == "py4j":
            raise ModuleNotFoundError(
                "No module named 'py4j'. Apache Flink's package brings it, and so does PySpark: pip install "
                "'penstock[spark]', or pip install py4j to catch its Py4JJavaError without Spark.",
                name=fullname,
            )
        return None


class PyFlinkFinder(MetaPathFinder, Loader):
    """Finds ``pyflink.x`` at ``penstock.pyflink.x``."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The place of a module of PyFlink, None for modules that are not PyFlink's."""
        if fullname.partition(".")[0] != PYFLINK:
            return None
        ours = _our_name(fullname)
        spec = find_spec(ours) if fullname in WRITTEN else NamesFinder(PYFLINK).find_spec(ours)
        if spec is None:
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: PyFlink has none of this name that Penstock knows. {advice(fullname)}.",
                name=fullname,
            )
        return ModuleSpec(fullname, self, is_package=spec.submodule_search_locations is not None)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module, which is loaded under its own name."""
        module = importlib.import_module(_our_name(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to run; what the import system has written over is put back."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def _our_name(name: str) -> str:
    """Where a module of PyFlink is with us."""
    return HERE + name.removeprefix(PYFLINK)


def _pyflink_name(name: str) -> str:
    """The module of PyFlink that one of ours stands for."""
    return PYFLINK + name.removeprefix(HERE)


def installed() -> bool:
    """Whether ``pyflink`` means :mod:`penstock.pyflink` in this process."""
    return any(isinstance(finder, PyFlinkFinder) for finder in sys.meta_path)


def install() -> None:
    """Let ``pyflink`` mean :mod:`penstock.pyflink` in this process, also where the real one is installed."""
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
    sys.meta_path.append(Py4JFinder())
