"""What user functions of a job in this process share with their test. Functions travel as bytes, with what they refer
to; so they find it by name, in a module that they refer to."""

from __future__ import annotations

import threading

GATES: dict[str, threading.Event] = {}


def gate(name: str) -> threading.Event:
    """The event of a name."""
    return GATES.setdefault(name, threading.Event())
