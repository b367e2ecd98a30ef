"""One body holds both forms of a chain to the same behaviour: every call and its order, what it was given, counts,
lifecycle, watermarks, failures."""

from __future__ import annotations

import traceback

import pytest

from penstock.errors import JobExecutionError
from penstock.local import LocalExecutor
from tests.runtime.chain import random_chains
from tests.runtime.chain.random_chains import TRACE, Plain, program, random_chain

SEEDS = range(150)


def ran(chain, form, p=1):
    """All that can be observed of a run."""
    TRACE.clear()
    executor, failure = LocalExecutor(), None
    try:
        executor.execute(program(chain, form, p).pipeline())
    except JobExecutionError as error:
        cause = error.__cause__
        frames = [
            (frame.name, frame.line)
            for frame in traceback.extract_tb(cause.__traceback__)
            if frame.filename == random_chains.__file__
        ]
        failure = error.operator, error.task, error.subtask, error.attempt, repr(cause), frames, shown(str(error))
    return list(TRACE), failure, [(report.task, report.counters) for report in executor.reports]


def shown(text):
    """What an error shows of the user's code."""
    return [line for line in text.splitlines() if "self.note" in line or "Failure" in line]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_chain_does_what_plain_python_does(seed):
    chain = random_chain(seed)
    plain = Plain(chain)
    TRACE.clear()
    plain.run()
    expected = list(TRACE)
    for form in ("fused", "listed"):
        trace, failure, reports = ran(chain, form)
        assert (trace, failure) == (expected, None), form
        counts = {counter.name: counter for _, counters in reports for counter in counters}
        assert {name: counter.records_in for name, counter in counts.items()} == plain.records_in, form
        assert {name: counter.records_out for name, counter in counts.items()} == plain.records_out, form


@pytest.mark.slow
@pytest.mark.parametrize("failing", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_forms_are_the_same(seed, failing):
    chain = random_chain(seed, failing)
    assert ran(chain, "fused", 2) == ran(chain, "listed", 2)


def test_chains_have_everything():
    nodes = [node for seed in SEEDS for _, node in random_chain(seed).nodes()]
    assert {node.kind for node in nodes} == set(random_chains.KINDS)
    assert any(node.side for node in nodes)
    failures = [ran(random_chain(seed, failing=True), "fused")[1] for seed in SEEDS]
    assert sum(failure is not None for failure in failures) > len(SEEDS) // 3
    assert any(len({n.side for n in node.readers}) == 2 for node in nodes)
