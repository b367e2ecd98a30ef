"""What is said of series: those that grow are found, those that only jump are not."""

from __future__ import annotations

from tests.soak.flat import BOUNDS, growths


def rows(**series):
    return [
        {
            "second": 5.0 * i,
            "version": 5 * i,
            "cpu_seconds": 0.05 * i,
            **{name: 100.0 for name in BOUNDS if name != "cpu_ms"},
            **{name: value(i) for name, value in series.items()},
        }
        for i in range(60)
    ]


def growing(growth_of):
    return {name for name, growth in growth_of.items() if growth.change > growth.bound}


def test_what_stays_is_flat():
    assert growing(growths(rows())) == set()


def test_what_grows_is_found():
    growth_of = growths(
        rows(python_mb=lambda i: 100 + i, files=lambda i: 10 + 0.2 * i, cpu_seconds=lambda i: 0.001 * i * i)
    )
    assert growing(growth_of) == {"python_mb", "files", "cpu_ms"}


def test_a_busy_moment_of_the_machine_is_no_growth():
    assert growing(growths(rows(step_ms=lambda i: 400.0 if 40 < i < 48 else 50.0))) == set()


def test_what_grows_only_in_the_beginning_is_flat():
    assert growing(growths(rows(jvm_mb=lambda i: min(300.0, 100.0 + 20 * i)))) == set()
