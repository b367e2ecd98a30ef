"""Writes the pages that browser tests and pictures look at: ``python -m tests.viewer.pages FOLDER``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from penstock.analysis.model import ProgramModel
from penstock.viewer import Page, view
from penstock.viewer.data import page_data
from penstock.viewer.server import FEED
from tests.viewer.programs import hostile, layered, logged, orders


def live(model: ProgramModel) -> Page:
    """A page that asks for numbers, every tenth of a second."""
    return Page(model.name, page_data(model, feed={**FEED, "every": 100}))


def feed(model: ProgramModel) -> dict[str, Any]:
    """Numbers as a job of that plan would have them."""
    numbers: list[dict[str, Any]] = []
    for at, vertex in enumerate(model.vertices):
        busy, state = (0.12, 0.41, 0.93, 0.66, 0.25)[at % 5], at == 2
        numbers.append(
            {
                "id": vertex.id,
                "name": vertex.name,
                "in_rate": 41_200.0 / (at + 1),
                "out_rate": 310.0 * (at + 1),
                "busy": busy,
                "lag_ms": None if at == 3 else 1500 + 130 * at,
                "state_bytes": 8_493_466 if state else 0,
                "state_keys": 120_000 if state else 0,
                "tasks": {"RUNNING": vertex.parallelism},
                "records_behind": 1234 if at == len(model.vertices) - 1 else None,
            }
        )
    job = {"job": model.name, "status": "RUNNING", "seconds": 62.0, "version": 412, "step_ms": 150.0}
    rates = {"in_rate": 41_200.0, "out_rate": 310.0, "records_behind": 1234}
    return {**job, **rates, "bottleneck": f"{model.vertices[2].name} (2/4)", "vertices": numbers}


def write(folder: Path) -> None:
    """All pages, and the numbers of the live one."""
    folder.mkdir(parents=True, exist_ok=True)
    small = orders()
    for name, page in {
        "small": view(small),
        "hostile": view(hostile()),
        "layered-200": view(layered(200)),
        "layered-2000": view(layered(2000)),
        "layered-100000": view(layered(100_000)),
        "live": live(small),
        "native": view(logged()),
        "native-off": view(logged(off=True)),
        "diff": view(orders(edited=True), small),
    }.items():
        page.save(folder / f"{name}.html")
    (folder / "frame.html").write_text(f"<!doctype html><title>notebook</title>{view(small)._repr_html_()}")
    below = '<div style="height:5000px"></div>'
    (folder / "below.html").write_text(
        f"<!doctype html><title>below the fold</title>{below}{view(small)._repr_html_()}"
    )
    hidden = f'<div id="output" style="display:none">{view(small)._repr_html_()}</div>'
    (folder / "hidden.html").write_text(f"<!doctype html><title>collapsed</title>{hidden}")
    (folder / "feed.json").write_text(json.dumps(feed(small)))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
