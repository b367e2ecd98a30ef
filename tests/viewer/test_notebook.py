"""Plans in JupyterLab itself, and in the pages of nbconvert, in a headless Chromium: what a notebook's reader sees."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import penstock

pytestmark = pytest.mark.slow

VIEWER = Path(__file__).parents[2] / "viewer"
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = """
from penstock.datastream import StreamExecutionEnvironment
from penstock.viewer import view
env = StreamExecutionEnvironment.get_execution_environment(executor="local")
numbers = env.from_collection([1, 2, 3]).map(lambda number: number % 2).name("Odd or even")
numbers.key_by(lambda number: number).reduce(lambda left, right: left + right).name("Sums").print()
env.explain()
"""
CELLS = [PROGRAM, "view(env)", "print('far below\\n' * 60)", "env.view()"]


def missing() -> str:
    """What the test needs and is not there; "" if nothing."""
    if find_spec("jupyterlab") is None:
        return "JupyterLab is not installed: pip install jupyterlab"
    if shutil.which("node") is None or not (VIEWER / "node_modules" / "playwright-core").exists():
        return "there is no Node.js with playwright-core: cd viewer && npm ci"
    if not os.environ.get("CHROMIUM") and not any(map(shutil.which, CHROMIUMS)):
        return "there is no Chromium on the PATH, and CHROMIUM names none"
    built = Path(penstock.__file__).parent / "viewer" / "viewer.html"
    return "" if built.exists() else "the viewer is not built: make viewer"


_NOT_RUN: dict[str, Any] = {"metadata": {}, "outputs": [], "execution_count": None}


def notebook(cells: list[str]) -> str:
    """A notebook that has not been run."""
    return json.dumps(
        {
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"c{at}",
                    "metadata": {},
                    "source": cell,
                    "outputs": [],
                    "execution_count": None,
                }
                for at, cell in enumerate(cells)
            ],
            "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


@contextmanager
def lab(folder: Path) -> Generator[str, None, None]:
    """A JupyterLab of that folder; its address, but for the token."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = folder / "home"
    home.mkdir()
    folders = {f"JUPYTER_{name}_DIR": str(home / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    options = {"port": port, "open_browser": False, "ip": "127.0.0.1", "root_dir": folder, "allow_root": True}
    flags = [f"--ServerApp.{name}={value}" for name, value in options.items()]
    command = [sys.executable, "-m", "jupyterlab", *flags, "--IdentityProvider.token=secret"]
    with (folder / "lab.log").open("w") as log:
        server = subprocess.Popen(
            command, env={**os.environ, **folders, "HOME": str(home)}, stdout=log, stderr=log, start_new_session=True
        )
        try:
            address = f"http://127.0.0.1:{port}"
            until = time.monotonic() + 60
            while not _answers(f"{address}/api?token=secret"):
                assert server.poll() is None, (folder / "lab.log").read_text()
                assert time.monotonic() < until, (folder / "lab.log").read_text()
                time.sleep(0.2)
            yield address
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)
                server.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def look(address: str, cells: int) -> dict[str, Any]:
    """What is seen of a notebook with two plans."""
    command = ["node", "test/browser/notebook.mjs", address, str(cells), "2"]
    pictures = filter(None, [os.environ.get("PICTURES")])
    run = subprocess.run([*command, *pictures], cwd=VIEWER, capture_output=True, text=True, timeout=240, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def check(seen: dict[str, Any]) -> None:
    """Both plans are drawn, and the text of the explanation is shown as lines."""
    assert re.search(r'Plan of job "Flink Streaming Job" as Flink 1.11$', seen["text"], re.MULTILINE), seen["text"]
    assert re.search(r"^ +2 +Odd or even ", seen["text"], re.MULTILINE)
    for plan in seen["plans"]:
        assert plan["seen"] == plan["cards"] > 0, "all cards are in view"
        assert plan["colours"] > 10, "they are drawn"


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_plans_are_seen_in_jupyterlab(tmp_path: Path) -> None:
    (tmp_path / "plan.ipynb").write_text(notebook(CELLS))
    with lab(tmp_path) as address:
        check(look(f"{address}/lab/tree/plan.ipynb?token=secret", len(CELLS)))


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_plans_are_seen_in_the_page_that_nbconvert_writes(tmp_path: Path) -> None:
    (tmp_path / "plan.ipynb").write_text(notebook(CELLS))
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "html", "plan.ipynb"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert run.returncode == 0, run.stderr
    check(look((tmp_path / "plan.html").as_uri(), 0))
