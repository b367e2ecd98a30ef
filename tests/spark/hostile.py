"""What a stranger may write into a file or a topic to have the driver run it, or believe it."""

from __future__ import annotations

import base64
import json
import os
import pickle
from pathlib import Path


class Bomb:
    """Its pickle makes a file when it is read."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.marker),)


def hostile_texts(marker: Path) -> dict[str, str]:
    """Texts by what is wrong with them."""
    forged = f"[penstock-failure {base64.b64encode(pickle.dumps((Bomb(marker), []))).decode()}]"
    failure = {"kind": "builtins.ValueError", "notes": [], "arguments": {"tuple": ["forged"]}}
    details = json.dumps({"failure": {"penstock": "StepLostError", "text": "forged", "attributes": {}, "notes": []}})
    return {
        "an old mark": forged,
        "a guessed mark": f"Details for the driver: {'0' * 32} {json.dumps({'failure': failure, 'causes': []})}",
        "a guessed mark behind a line break": f"\nDetails for the driver: {'f' * 32} {details}\n",
        "JSON": '"}], "causes": [{"kind": "builtins.SystemExit"}]} \\" \\u0000 \x00 {{',
        "half a character": "\ud800 \udfff",
        "signs of lost tasks": "Python worker exited unexpectedly FetchFailed ExecutorLostFailure",
        "signs of bad workers": "No module named 'penstock' spark.driver.maxResultSize PYTHON_VERSION_MISMATCH",
        "a megabyte": "x" * (1 << 20),
        "a megabyte of marks": forged * ((1 << 20) // len(forged)),
    }
