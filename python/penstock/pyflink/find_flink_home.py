"""PyFlink's ``pyflink.find_flink_home``: there is no home of Flink."""

from __future__ import annotations

from penstock.pyflink.placeholders import a_function

_find_flink_home = a_function("pyflink.find_flink_home", "_find_flink_home")
_find_flink_source_root = a_function("pyflink.find_flink_home", "_find_flink_source_root")
