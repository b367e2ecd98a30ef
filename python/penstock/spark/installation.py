"""The Spark that is installed: whether the module ``pyspark`` can start one, and whether it is that of the Spark which
it would start. Without these checks Spark fails later, in Java's words or in protobuf's."""

from __future__ import annotations

import hashlib
import logging
import os
import re
from base64 import urlsafe_b64encode
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from penstock.errors import ConfigurationError

_LOG = logging.getLogger("penstock")

DATABRICKS = "databricks-connect"
"""The package that brings a module ``pyspark`` of its own, without a package of that name."""

_MODULE = "pyspark/__init__.py"

_VERSIONS = (
    ("RELEASE", re.compile(r"^Spark (\d\S*)")),
    ("python/pyspark/version.py", re.compile(r"__version__.*?[\"'](\d[^\"']*)")),
)
_JAR = re.compile(r"spark-core_[\d.]+-(\d.*)\.jar")


def check_installed(pyspark: Any, *, local: bool) -> None:
    """Refuse a module that can start no Spark where a Spark is to be started, ``local``, and not a session of Spark
    Connect; and two packages that bring the module. Warn of these where what is asked for can work."""
    folder = os.path.dirname(pyspark.__file__ or "")
    _check_doubled(pyspark, local)
    if local and is_databricks(pyspark):
        raise ConfigurationError(
            f"The module pyspark in {folder!r} is that of {DATABRICKS} {_version(DATABRICKS)}, which starts no Spark. "
            "Give the program its session, get_execution_environment(spark=DatabricksSession.builder.getOrCreate()); "
            "or, for a Spark of this machine, make an environment without it, and pip install 'penstock[spark]' there."
        )
    if local and not hasattr(pyspark, "SparkContext"):
        raise ConfigurationError(
            f"The module pyspark {pyspark.__version__} in {folder!r} is the client of Spark Connect alone, the package "
            "pyspark-client, which starts no Spark. Give a server, --master sc://host:15002; or replace the package: "
            "pip uninstall pyspark-client, then pip install 'penstock[spark]'."
        )


def is_databricks(pyspark: Any) -> bool:
    """Whether the module is that of databricks-connect, as that package has installed it."""
    file = os.path.realpath(pyspark.__file__ or "")
    package = _package(DATABRICKS)
    if package is None or os.path.realpath(str(package.locate_file(_MODULE))) != file:
        return False
    recorded = next((entry.hash for entry in package.files or () if str(entry) == _MODULE), None)
    return recorded is not None and recorded.value == _record_hash(file)


def _record_hash(file: str) -> str:
    """The hash of a file as pip records it."""
    return urlsafe_b64encode(hashlib.sha256(Path(file).read_bytes()).digest()).rstrip(b"=").decode()


def _package(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _version(name: str) -> str | None:
    package = _package(name)
    return None if package is None else package.version


def _check_doubled(pyspark: Any, local: bool) -> None:
    """Refuse pyspark and databricks-connect beside each other, where the last of them to be installed starts no Spark;
    else warn, as the module's files are those of both."""
    sparks, databricks = _version("pyspark"), _version(DATABRICKS)
    if sparks is None or databricks is None:
        return
    theirs = is_databricks(pyspark)
    last = DATABRICKS if theirs else f"pyspark {sparks}"
    both = (
        f"The packages pyspark {sparks} and {DATABRICKS} {databricks} are installed, and each brings the module "
        f"pyspark, whose files are now those of {last} and some of the other's."
    )
    fix = (
        f"Uninstall both, pip uninstall pyspark {DATABRICKS}, and install one: pip install 'penstock[spark]' for a "
        f"Spark of this machine or of a cluster, or pip install {DATABRICKS} penstock for Databricks."
    )
    if local and theirs:
        raise ConfigurationError(f"{both} That of {DATABRICKS} starts no Spark. {fix}")
    _warn_once(f"{both} A session of the other cannot be started, and one of this may fail. {fix}")


@cache
def _warn_once(message: str) -> None:
    _LOG.warning("%s", message)


def check_home(pyspark: Any) -> None:
    """Refuse a SPARK_HOME that has no Spark, or one that the module does not fit: the module starts what is there, as
    long as spark-submit has not started the program. A difference in the third number is only warned of."""
    home = os.environ.get("SPARK_HOME")
    if home is None:
        return
    if not os.path.isfile(os.path.join(home, "bin", "spark-submit")):
        raise ConfigurationError(
            f"SPARK_HOME is {home!r}, and there is no program bin/spark-submit in it. Correct SPARK_HOME, or unset it "
            f"to start the Spark that came with PySpark {pyspark.__version__}."
        )
    theirs = spark_version(Path(home))
    if theirs is None or _numbers(theirs) == _numbers(pyspark.__version__):
        return
    major, minor, *_ = _numbers(theirs)
    what = (
        f"SPARK_HOME is {home!r}, a Spark {theirs}, and the module pyspark, in "
        f"{os.path.dirname(pyspark.__file__ or '')!r}, is {pyspark.__version__}."
    )
    fix = (
        f"Use the module of that Spark: start the program by {os.path.join(home, 'bin', 'spark-submit')}, or pip "
        f"install 'pyspark=={major}.{minor}.*', and on a platform (Databricks, EMR, Dataproc) pip uninstall pyspark. "
        "Or unset SPARK_HOME to start the Spark that came with the module."
    )
    if (major, minor) != _numbers(pyspark.__version__)[:2]:
        raise ConfigurationError(f"{what} The two do not understand each other. {fix}")
    _warn_once(f"{what} Such a difference usually does no harm. {fix}")


def spark_version(home: Path) -> str | None:
    """The version of the Spark in a folder, by its jars, release note or own module; None if they do not say."""
    for jar in home.glob("jars/spark-core_*.jar"):
        if named := _JAR.fullmatch(jar.name):
            return named[1]
    for name, pattern in _VERSIONS:
        try:
            named = pattern.search((home / name).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            continue
        if named:
            return named[1]
    return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])
