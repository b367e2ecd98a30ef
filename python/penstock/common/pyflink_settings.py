"""The settings for what PyFlink does otherwise than Flink; programs written for PyFlink have them all.

A new one is a field here, with a line among the differences in ``docs/limits.md`` and a test in ``tests/pyflink``.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.common.setting import Flag, line


@dataclass(frozen=True)
class PyFlinkSettings:
    """Switches, all of them off unless a program is PyFlink's."""

    # fmt: off
    pyflink_cores: bool = line(
        "penstock.pyflink.cores", Flag(), False, "plan",
        "Whether operators that do not say how many subtasks they have get one for each core of the machine; in BATCH "
        "mode there is one, as Flink chooses for little data.",
    )
    pyflink_count_windows: bool = line(
        "penstock.pyflink.count-windows", Flag(), False, "plan",
        "Whether the first window of `count_window(size, slide)` has `size` records, as every later one.",
    )
    pyflink_floats: bool = line("penstock.pyflink.floats", Flag(), False, "runtime",
        "Whether a FLOAT has 32 bits behind a source of a collection, an exchange, and where it is collected.")
    pyflink_keyed_rows: bool = line(
        "penstock.pyflink.keyed-rows", Flag(), False, "plan",
        "Whether `execute_and_collect` of a keyed stream gives rows of key and record.",
    )
    pyflink_keys: bool = line(
        "penstock.pyflink.keys", Flag(), False, "plan",
        "Whether `key_by` sends keys to the subtasks that PyFlink sends them to, and takes all that can be pickled.",
    )
    pyflink_prints: bool = line(
        "penstock.pyflink.prints", Flag(), False, "executor",
        "Whether what functions print on Spark's executors is printed by the driver, before what sinks print.",
    )
    pyflink_rows: bool = line("penstock.pyflink.rows", Flag(), False, "runtime",
        "Whether what is declared as a row has the names of its type behind an exchange, printed and collected.")
    pyflink_side_outputs: bool = line("penstock.pyflink.side-outputs", Flag(), False, "runtime",
        "Whether `yield tag, value` is a record of the main output if nobody reads any side output of the operator.")
    pyflink_timestamps: bool = line("penstock.pyflink.timestamps", Flag(), False, "runtime",
        "Whether functions see -9223372036854775808 as the timestamp of a record without one.")
    pyflink_values: bool = line("penstock.pyflink.values", Flag(), False, "runtime",
        "Whether values become what their declared type holds, or are refused, where they cross to Java.")
    # fmt: on
