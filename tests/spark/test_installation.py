"""Whether the module pyspark and the Spark that it would start belong together. None of these tests starts one."""

from __future__ import annotations

import logging
import os
import types
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from importlib.metadata import FileHash, PackageNotFoundError, PackagePath
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession

from penstock.errors import ConfigurationError
from penstock.spark import installation, session
from penstock.spark.inside_pyspark import version

Packages = Callable[..., Any]
FOLDER = "/environment/pyspark"


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Packages]:
    """Installs packages, in order: each brings the module, over that of the one before. Gives the module."""

    def install(*installed: str, **names: object) -> Any:
        folder, known = tmp_path / "site-packages", {}
        for package in installed:
            name, _, version = package.partition(" ")
            text = f"# the module of {package}\n"
            if name != "the platform's":
                entry = PackagePath("pyspark/__init__.py")
                entry.hash = FileHash(
                    f"sha256={urlsafe_b64encode(sha256(text.encode()).digest()).decode().rstrip('=')}"
                )
                known[name] = types.SimpleNamespace(version=version, files=[entry], locate_file=folder.joinpath)
            else:
                folder = tmp_path / "platform"
            (folder / "pyspark").mkdir(parents=True, exist_ok=True)
            (folder / "pyspark" / "__init__.py").write_text(text)

        def distribution(name: str) -> Any:
            if name not in known:
                raise PackageNotFoundError(name)
            return known[name]

        monkeypatch.setattr(installation, "distribution", distribution)
        return module(installed[-1].rpartition(" ")[2], str(folder / "pyspark"), **names)

    installation._warn_once.cache_clear()
    yield install
    installation._warn_once.cache_clear()


def module(version: str, folder: str = FOLDER, **names: object) -> Any:
    """A module pyspark of a version, with a Spark."""
    return types.SimpleNamespace(
        __version__=version, __file__=os.path.join(folder, "__init__.py"), **{"SparkContext": 1, **names}
    )


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The messages of warnings."""
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize(
    "installed",
    [
        ["pyspark 4.3.0"],
        ["the platform's 3.5.6+amzn.0"],
        ["databricks-connect 16.4.2", "the platform's 3.5.2"],  # which is before it on the path
    ],
    ids=", ".join,
)
def test_one_module_is_fine(
    packages: Packages, caplog: pytest.LogCaptureFixture, installed: list[str], local: bool
) -> None:
    pyspark = packages(*installed)
    installation.check_installed(pyspark, local=local)
    assert not installation.is_databricks(pyspark)
    assert warnings(caplog) == []


def test_databricks_connect_alone_starts_no_spark(packages: Packages, caplog: pytest.LogCaptureFixture) -> None:
    pyspark = packages("databricks-connect 16.4.2")
    assert installation.is_databricks(pyspark)
    installation.check_installed(pyspark, local=False)
    assert warnings(caplog) == []
    with pytest.raises(ConfigurationError, match=r"databricks-connect 16\.4\.2, which starts no Spark.*spark=Data"):
        installation.check_installed(pyspark, local=True)


def test_two_packages_are_warned_of_where_pysparks_files_have_stayed(
    packages: Packages, caplog: pytest.LogCaptureFixture
) -> None:
    pyspark = packages("databricks-connect 18.1.0", "pyspark 4.1.0")
    for _ in range(2):
        installation.check_installed(pyspark, local=True)
    assert not installation.is_databricks(pyspark)
    (message,) = warnings(caplog)
    assert "pyspark 4.1.0 and databricks-connect 18.1.0 are installed" in message
    assert "now those of pyspark 4.1.0" in message
    assert "pip uninstall pyspark databricks-connect" in message


def test_and_refused_where_those_of_databricks_have(packages: Packages, caplog: pytest.LogCaptureFixture) -> None:
    pyspark = packages("pyspark 4.1.0", "databricks-connect 18.1.0")
    with pytest.raises(
        ConfigurationError,
        match=r"now those of databricks-connect.*That of databricks-connect starts no Spark\. Uninstall both",
    ):
        installation.check_installed(pyspark, local=True)
    installation.check_installed(pyspark, local=False)
    assert installation.is_databricks(pyspark)
    assert len(warnings(caplog)) == 1


def test_the_client_of_spark_connect_starts_no_spark(packages: Packages) -> None:
    client = packages("pyspark-client 4.3.0")
    del client.SparkContext
    installation.check_installed(client, local=False)
    with pytest.raises(ConfigurationError, match=r"pyspark-client, which starts no Spark.*--master sc://"):
        installation.check_installed(client, local=True)


def test_nobody_is_advised_to_install_pyspark_beside_databricks_connect(
    packages: Packages, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyspark = packages("databricks-connect 16.4.2")
    pyspark.__version__ = "3.5.2"
    monkeypatch.setattr(session, "pyspark", lambda what: pyspark)
    monkeypatch.setattr(session, "_opened", lambda *arguments: "a session")
    assert session.open_session("sc://host", {}) == "a session"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Makes a Spark of some files, and lets SPARK_HOME be it."""

    def make(**files: str) -> Path:
        place = tmp_path / f"spark-{len(list(tmp_path.iterdir()))}"
        for name, text in {"bin/spark-submit": "", **files}.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        monkeypatch.setenv("SPARK_HOME", str(place))
        return place

    return make


RELEASE = "Spark 3.5.6 (git revision 303c18c7466) built for Hadoop 3.3.4\nBuild flags: -B\n"


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"RELEASE": RELEASE}, "3.5.6"),
        ({"jars/spark-core_2.12-3.5.6-amzn-0.jar": "", "jars/spark-sql_2.12-3.5.6-amzn-0.jar": ""}, "3.5.6-amzn-0"),
        ({"RELEASE": RELEASE, "jars/spark-core_2.13-4.3.0.jar": ""}, "4.3.0"),
        ({"python/pyspark/version.py": "# of Spark\n__version__: str = '4.0.1'\n"}, "4.0.1"),
        ({"python/pyspark/version.py": '__version__ = "3.5.0"\n'}, "3.5.0"),
        ({"RELEASE": "nothing", "jars/spark-core.jar": ""}, None),
        ({}, None),
    ],
)
def test_the_version_of_a_spark(home: Callable[..., Path], files: dict[str, str], version: str | None) -> None:
    assert installation.spark_version(home(**files)) == version


def test_the_spark_of_the_installed_package_fits() -> None:
    assert installation.spark_version(Path(pyspark.__file__).parent) == pyspark.__version__


def test_a_home_that_fits_is_fine(home: Callable[..., Path], caplog, monkeypatch: pytest.MonkeyPatch) -> None:
    home(**{"jars/spark-core_2.12-3.5.6-amzn-0.jar": ""})
    installation.check_home(module("3.5.6+amzn.0"))
    home(RELEASE=RELEASE)
    installation.check_home(module("3.5.6"))
    home()  # it does not say which it is
    installation.check_home(module("4.3.0"))
    monkeypatch.delenv("SPARK_HOME")
    installation.check_home(module("4.3.0"))
    assert warnings(caplog) == []


def test_a_home_of_another_version_is_refused(home: Callable[..., Path], caplog) -> None:
    place = home(RELEASE=RELEASE)
    with pytest.raises(ConfigurationError) as raised:
        installation.check_home(module("4.3.0"))
    message = str(raised.value)
    assert f"SPARK_HOME is {str(place)!r}, a Spark 3.5.6, and the module pyspark, in {FOLDER!r}, is 4.3.0" in message
    assert f"start the program by {place}/bin/spark-submit, or pip install 'pyspark==3.5.*'" in message
    assert "unset SPARK_HOME" in message
    installation.check_home(module("3.5.1"))
    assert "a Spark 3.5.6, and the module pyspark" in warnings(caplog)[0]


@pytest.mark.parametrize("place", ["", "/no/spark/there"])
def test_a_home_without_a_spark_is_refused(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setenv("SPARK_HOME", place)
    with pytest.raises(ConfigurationError, match=rf"SPARK_HOME is '{place}', and there is no program bin/spark-submit"):
        installation.check_home(module("4.3.0"))


@pytest.mark.skipif(version() < (4,), reason="a Spark 3.5.6 differs little from this one")
def test_only_a_spark_that_is_started_here_is_compared(home: Callable[..., Path], monkeypatch) -> None:
    """Below spark-submit the Spark runs already, and SPARK_HOME may be that of the machine that submits."""
    home(RELEASE=RELEASE)
    asked: list[bool] = []
    monkeypatch.setattr(session.inside_pyspark, "runs_here", lambda: False)
    monkeypatch.setattr(session.inside_pyspark, "submitted", lambda: asked.append(True) or len(asked) == 1)
    monkeypatch.setattr(session, "check_java", lambda: None)
    monkeypatch.setattr(session.inside_pyspark, "limit_results", lambda *arguments: None)
    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", lambda builder: "a session")
    assert session.open_session(None, {}) == "a session"
    with pytest.raises(ConfigurationError, match=r"a Spark 3\.5\.6"):
        session.open_session(None, {})
