"""What a run may be varied by without changing results: one entry per knob, and settings made of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from penstock.common.settings.settings import find

CHAINING, PARALLELISM = "chaining", "parallelism"
BUFFER, CODEC = "penstock.exchange.buffer-records", "penstock.exchange.codec"
FORM, NATIVE = "penstock.runtime.form", "penstock.runtime.native"
COMPILED = "penstock.native"
CHECK = "penstock.types.check"
STATE, MEMORY = "penstock.state.backend", "penstock.state.memory"
CLOCK = "clock"
"""No knob, but what some programs depend on all the same."""


def choices(key: str) -> tuple[str | None, ...]:
    """The values of a setting, out of the table of settings; None, which leaves it out, for the default."""
    setting: Any = find(key)
    default = setting.kind.text(setting.default)
    return (None, *(name for name in setting.kind.names if name != default))


KNOBS: dict[str, tuple[Any, ...]] = {
    CHAINING: (True, False),
    PARALLELISM: (1, 2, 3, 7),
    BUFFER: (None, 1, 100),
    FORM: choices(FORM),
    CODEC: choices(CODEC),
    NATIVE: choices(NATIVE),
    COMPILED: choices(COMPILED),
    CHECK: (None, "true"),
    STATE: (None, "disk"),
}
"""Values by knob, the default first; a name with a dot is a setting of the program's configuration, None leaves it
out. The parallelism is that of the environment: what a program sets for one operator stays."""

EXACT = frozenset({FORM, CODEC, NATIVE, COMPILED, CHECK, STATE})
"""Knobs that change nothing at all: neither an order, nor which subtask does something. The executor is another."""

Setting = Mapping[str, Any]
"""A value for each knob."""

DEFAULT: Setting = {CHAINING: True, PARALLELISM: None, **{k: v[0] for k, v in KNOBS.items() if "." in k}}
"""As a program runs by itself, at the parallelism that it asks for."""


def settings_of(setting: Setting) -> dict[str, str]:
    """The configuration of a program that is run with a setting. State on disk has next to no memory."""
    configuration = {knob: str(value) for knob, value in setting.items() if "." in knob and value is not None}
    return {**configuration, MEMORY: "1 kb"} if setting.get(STATE) == "disk" else configuration


def everything() -> Iterator[Setting]:
    return (dict(zip(KNOBS, values, strict=True)) for values in itertools.product(*KNOBS.values()))


def pairs_of(setting: Setting) -> set[Any]:
    """The pairs of values of two knobs that a setting has."""
    return set(itertools.combinations(setting.items(), 2))


def covering() -> list[Setting]:
    """A few combinations in which every pair of values of two knobs occurs: greedily, the one with most new pairs."""
    left = set().union(*map(pairs_of, everything()))
    chosen: list[Setting] = []
    while left:
        best = max(everything(), key=lambda setting: len(pairs_of(setting) & left))
        chosen.append(best)
        left -= pairs_of(best)
    return chosen
