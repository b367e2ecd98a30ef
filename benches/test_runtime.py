"""What a record costs on its way through the runtime: outputs, channel selectors, codecs."""

from __future__ import annotations

import pytest

import output_kinds
from conftest import Record


@pytest.mark.parametrize("form", output_kinds.FORMS)
@pytest.mark.parametrize("kind", output_kinds.KINDS)
def test_outputs(record: Record, tiny: bool, kind: str, form: str) -> None:
    size, rounds = (300, 1) if tiny else (300_000, 5)
    seconds = output_kinds.measure(kind, form, size, rounds)
    assert min(seconds) >= 0
    record(phase="outputs", shape=kind, size=size, peer=form, seconds=seconds)
