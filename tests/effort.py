"""How much the long tests try, by Hypothesis profile: ``quick`` a little, for `make check`; ``checks`` a sample, for
`make test`; ``sweep``, or one with more examples, everything, for `make sweep`."""

from __future__ import annotations

from hypothesis import settings

_EXAMPLES = settings().max_examples
QUICK, SWEEP = _EXAMPLES < 20, _EXAMPLES > 20


def one_of(test: int, quick: int) -> int:
    """The step through a list of cases: one of so many is tried, in `make sweep` each.

    Args:
        test: in `make test`.
        quick: in `make check`.
    """
    return 1 if SWEEP else quick if QUICK else test


def examples(count: int) -> int:
    """How many random examples a test takes where others take a hundred: a fifth of them in `make test`, an eighth in
    `make check`, five times as many in `make sweep`."""
    return max(1, count * _EXAMPLES // 100)
