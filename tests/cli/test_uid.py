"""``penstock uid``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import mmh3
import pytest


@pytest.mark.parametrize(
    ("text", "operator_id"), [("a", "897859f6655555855a890e51483ab5e6"), ("b", "eed1d3b157a9987ae9944e541e132efa")]
)
def test_known_ids(penstock, text, operator_id):
    result = penstock("uid", text)
    assert (result.exit_code, result.stdout) == (0, operator_id + "\n")


@pytest.mark.parametrize("text", ["word-counter", "source of orders", "Ünïcode 漢字 𝒳", "x" * 1000, ""])
def test_ids_are_murmur3_of_the_utf8_bytes(penstock, text):
    assert penstock("uid", text).stdout == mmh3.hash_bytes(text.encode()).hex() + "\n"


def test_bytes_that_are_no_text_are_a_usage_error(penstock):
    result = penstock("uid", "a\udcff")
    assert result.exit_code == 2
    assert "not text" in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_said_in_one_line():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "penstock.cli", "uid", "a"]
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.splitlines() == ["penstock: [Errno 28] No space left on device"]
