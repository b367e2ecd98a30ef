"""Bases of test cases (``pyflink.testing.test_case_utils``): each test has an environment of two subtasks."""

from __future__ import annotations

import shutil
import tempfile
import unittest
from collections.abc import Iterable
from typing import Any, ClassVar

from penstock.common import RuntimeExecutionMode
from penstock.pyflink.deviations import StreamExecutionEnvironment

__all__ = [
    "PyFlinkBatchTestCase",
    "PyFlinkITTestCase",
    "PyFlinkStreamingTestCase",
    "PyFlinkTestCase",
    "PyFlinkUTTestCase",
]


class PyFlinkTestCase(unittest.TestCase):
    """A test case with a temporary folder."""

    tempdir: ClassVar[str]  # the folder, which is gone after the last test of the class

    @classmethod
    def setUpClass(cls) -> None:
        cls.tempdir = tempfile.mkdtemp()

    @classmethod
    def tearDownClass(cls) -> None:
        shutil.rmtree(cls.tempdir, ignore_errors=True)

    @classmethod
    def assert_equals(cls, actual: Iterable[Any], expected: Iterable[Any]) -> None:
        """Both hold the same, in any order."""
        results, wanted = sorted(actual), sorted(expected)
        assert results == wanted, f"{results} is not {wanted}"

    @classmethod
    def to_py_list(cls, actual: Iterable[Any]) -> list[Any]:
        """A list of Java's as one of Python's."""
        return list(actual)


class PyFlinkITTestCase(PyFlinkTestCase):
    """A test case with environments."""

    mode: ClassVar[RuntimeExecutionMode] = RuntimeExecutionMode.STREAMING  # in which they run
    env: StreamExecutionEnvironment  # that of the test

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.env = cls._environment()

    @classmethod
    def _environment(cls) -> StreamExecutionEnvironment:
        return StreamExecutionEnvironment.get_execution_environment().set_runtime_mode(cls.mode).set_parallelism(2)

    def setUp(self) -> None:
        self.env = self._environment()


PyFlinkUTTestCase = PyFlinkStreamingTestCase = PyFlinkITTestCase


class PyFlinkBatchTestCase(PyFlinkITTestCase):
    """As :class:`PyFlinkITTestCase`, in BATCH mode."""

    mode = RuntimeExecutionMode.BATCH
