"""PyFlink's public names: the table ``names.tsv``, a line per name, which ``tests/pyflink/record_names.py`` writes."""

from __future__ import annotations

import pkgutil
from functools import cache
from typing import NamedTuple

FILE = "names.tsv"
PACKAGE = "penstock.pyflink"

BESIDE = {
    "pyflink.datastream": ("AsyncBatchFunction",),  # of the development branch (2.4), as the next
    "pyflink.datastream.functions": ("AsyncBatchFunction",),
    "pyflink.datastream.state_backend": ("_from_j_state_backend",),
    "pyflink.find_flink_home": ("_find_flink_home", "_find_flink_source_root"),
    "pyflink.pyflink_gateway_server": (
        "get_log_dir",
        "launch_gateway_server_process",
        "on_windows",
        "prepare_environment_variables",
    ),
    "pyflink.testing": (),
    "pyflink.testing.test_case_utils": (
        "PyFlinkBatchTestCase",
        "PyFlinkITTestCase",
        "PyFlinkStreamingTestCase",
        "PyFlinkTestCase",
        "PyFlinkUTTestCase",
    ),
}
"""Names that programs and PyFlink's own tests import and the table leaves out, by module."""
ABSENT = (
    "pyflink.dataset",
    "pyflink.datastream.formats.protobuf",
    "pyflink.fn_execution",
    "pyflink.ml",
    "pyflink.pyflink_callback_server",
    "pyflink.serializers",
    "pyflink.shell",
    "pyflink.table",
)
"""Modules of PyFlink, and of packages beside it, whose names the table does not have: every name can be imported."""


class Name(NamedTuple):
    """A name of PyFlink."""

    versions: str  # that have it, such as ``1.20+2.3``. Parameters that changed make two lines
    module: str  # where it is
    path: str  # in the module: ``Class``, ``Class.method``, ``Class.Inner.method``, ``function``
    kind: str  # class, method, …; ``import``: from elsewhere; ``refused``: a method that raises an error here
    parameters: str  # names of parameters, bases of a class, where an import comes from
    priority: str = ""  # by use in public programs: P0, P1, P2, or X; empty if unknown
    uses: str = ""  # how many of 292 public programs use it; empty if unknown


@cache
def read() -> tuple[Name, ...]:
    """All names, in the order of the table: of lines that differ by version only, the newest is the last."""
    data = pkgutil.get_data(PACKAGE, FILE)
    assert data is not None
    return tuple(Name(*line.split("\t")) for line in data.decode().splitlines()[1:])


@cache
def modules() -> dict[str, dict[str, Name]]:
    """The top-level names of every module, and the packages between them, which may have none."""
    names = read()
    known = {name.module for name in names}
    tree: dict[str, dict[str, Name]] = {}
    for name in names:
        parts = name.module.split(".")
        for length in range(2, len(parts) + 1):
            tree.setdefault(".".join(parts[:length]), {})
        is_module = name.kind == "import" and name.parameters in known
        if "." not in name.path and not is_module:
            tree[name.module][name.path] = name
    return dict(sorted(tree.items()))


@cache
def definitions() -> dict[str, Name]:
    """The line of the module that defines a name, by the name: no two modules of PyFlink define the same."""
    return {name.path: name for names in modules().values() for name in names.values() if name.kind != "import"}


def members(owner: Name) -> dict[str, Name]:
    """The entries of the table inside a class, in classes inside it too, by path."""
    begin = f"{owner.path}."
    return {name.path: name for name in read() if name.module == owner.module and name.path.startswith(begin)}


def is_absent(module: str) -> bool:
    """Whether a module is PyFlink's, and nothing is known of its names."""
    return any(f"{module}.".startswith(f"{absent}.") for absent in ABSENT)


def inside(package: str) -> list[str]:
    """The names of the modules right inside a package, in order of the alphabet."""
    begin = f"{package}."
    below = {name.removeprefix(begin) for name in (*modules(), *BESIDE) if name.startswith(begin)}
    return sorted(name for name in below if "." not in name)
