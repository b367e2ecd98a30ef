"""``python -m penstock`` is the same as ``penstock``."""

from __future__ import annotations

from penstock.cli import main

main()
