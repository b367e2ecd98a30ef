"""How much the long tests try, by Hypothesis profile: ``checks`` a sample, for `make check` and `make test`; ``sweep``,
or one with more examples, everything, for `make sweep`."""

from __future__ import annotations

from hypothesis import settings

SAMPLED = 10  # as tests/conftest.py has it
"""Random examples of a test in a sample."""
_EXAMPLES = settings().max_examples
SWEEP = _EXAMPLES > SAMPLED


def one_of(sample: int) -> int:
    """The step through a list of cases: in a sample one of so many is tried, in `make sweep` each."""
    return 1 if SWEEP else sample


def examples(count: int) -> int:
    """How many random examples a test takes where others take a hundred: a tenth in a sample, five times as many in
    `make sweep`."""
    return max(1, count * _EXAMPLES // 100)
