"""What happens before Spark is there. None of these tests starts one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from penstock.errors import ConfigurationError
from penstock.spark.session import check_java


def test_a_missing_java_is_explained(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigurationError, match="Java 17"):
        check_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ConfigurationError, match="JAVA_HOME"):
        check_java()


def test_importing_the_executors_loads_neither_spark_nor_arrow():
    code = (
        "import sys, penstock.spark, penstock.local, penstock.runtime.operators;"
        "assert not {'pyspark', 'pyarrow', 'pandas', 'penstock._native'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_runtime_imports_nothing_above_it():
    code = (
        "import sys, penstock.runtime.task, penstock.runtime.results;"
        "bad = [m for m in sys.modules if m.startswith(('penstock.plan', 'penstock.datastream', 'penstock.spark', "
        "'penstock._native'))];assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
