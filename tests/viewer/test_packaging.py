"""What builds the package: it makes the page of ``penstock view`` or says why it is not there, and refuses a Python
that cannot run Penstock."""

from __future__ import annotations

import importlib.util
import re
import sys
import sysconfig
import types
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BACKEND = ROOT / ".ci" / "packaging" / "penstock_build.py"
NPM = """#!/bin/sh
echo "$@" >> {log}
case "$1" in run) {build};; esac
"""


@pytest.fixture
def backend(monkeypatch, tmp_path) -> Any:
    """The backend, of sources in a folder of its own without a page, and with a maturin that only notes its calls."""
    packed: list[str] = []
    names = ["build_editable", "get_requires_for_build_sdist"]
    names += ["prepare_metadata_for_build_editable", "prepare_metadata_for_build_wheel"]
    maturin = types.ModuleType("maturin")
    for name in names:
        setattr(maturin, name, None)
    for name in ("get_requires_for_build_wheel", "get_requires_for_build_editable"):
        setattr(maturin, name, lambda *_: ["puccinialin"])
    maturin.build_wheel = lambda folder, *more: packed.append("wheel") or "wheel"  # type: ignore[attr-defined]
    maturin.build_sdist = lambda folder, *more: packed.append("sdist") or "sdist"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "maturin", maturin)
    spec = importlib.util.spec_from_file_location("penstock_build", BACKEND)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "viewer").mkdir()
    (tmp_path / "viewer" / "package.json").write_text("{}")
    module.ROOT, module.SOURCES, module.PAGE = tmp_path, tmp_path / "viewer", tmp_path / "viewer.html"
    module.packed = packed
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return module


def with_npm(backend: Any, build: str) -> Path:
    """Node.js is there, and builds like this; the file that has its calls."""
    npm, log = backend.ROOT / "bin" / "npm", backend.ROOT / "npm.log"
    npm.parent.mkdir()
    npm.write_text(NPM.format(log=log, build=build))
    npm.chmod(0o755)
    return log


def test_the_build_makes_the_page(backend) -> None:
    log = with_npm(backend, f"echo page > {backend.PAGE}")
    assert backend.build_wheel("dist") == "wheel"
    assert backend.PAGE.read_text() == "page\n"
    assert [line.split()[0] for line in log.read_text().splitlines()] == ["ci", "run"]
    backend.build_sdist("dist")
    assert len(log.read_text().splitlines()) == 2  # it is there
    assert backend.packed == ["wheel", "sdist"]


def test_a_wheel_is_built_without_node_and_says_so(backend, capsys) -> None:
    assert backend.build_wheel("dist") == "wheel"
    output = capsys.readouterr().err
    assert "no page for `penstock view`" in output
    assert "npm" in output


def test_sources_are_not_packed_without_the_page(backend) -> None:
    with_npm(backend, "echo broken >&2; exit 3")
    with pytest.raises(SystemExit, match=r"ended with status 3: broken"):
        backend.build_sdist("dist")
    assert backend.packed == []


@pytest.mark.parametrize("hook", ["get_requires_for_build_wheel", "get_requires_for_build_editable"])
def test_free_threaded_python_is_refused_before_anything_is_built(backend, hook, monkeypatch) -> None:
    without = dict(sysconfig.get_config_vars(), Py_GIL_DISABLED=0)
    monkeypatch.setattr(sysconfig, "get_config_var", without.get)
    assert getattr(backend, hook)(None) == ["puccinialin"]
    without["Py_GIL_DISABLED"] = 1
    with pytest.raises(SystemExit, match=r"free-threaded Python, which .* \(3\.\d+t\) is.*Use the usual Python 3\."):
        getattr(backend, hook)(None)


def test_the_package_is_built_by_it() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    assert f'build-backend = "{BACKEND.stem}"' in project
    assert f'backend-path = ["{BACKEND.parent.relative_to(ROOT)}"]' in project
    included = re.findall(r'\{path = "(.*?)", format = (.*?)\}', project)
    assert ("python/penstock/viewer/viewer.html", '["sdist", "wheel"]') in included
    assert (str(BACKEND.relative_to(ROOT)), '"sdist"') in included
