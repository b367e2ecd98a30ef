"""Which keys are Flink's: those of its configuration (1.11 to 2.3) that mean nothing here, by how they begin.

Of the families in which some keys do mean something, the others are listed whole, so that a key with a slip in it is
not taken for one of Flink's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

_KEYS = {
    "": """
    $internal. akka. blob. classloader. cleanup-strategy client. cluster. compiler. containerized. env. events.
    external-resource external-resources flink.hadoop. fs. heartbeat. high-availability historyserver. io. jmx.
    job-event. job. jobmanager. jobstore. kubernetes. local. mesos. pekko. plugin. process.
    queryable-state. resourcemanager. rest. s3. security. shuffle-service-factory. slot.
    slotmanager. slow-task-detector. sql-client. sql-gateway. state. table. task. taskmanager. traces. web. yarn.
    zookeeper.
    """,
    "metrics.": """
    fetcher internal job latency.granularity latency.history-size reporter reporters scope system-resource
    system-resource-probing-interval
    """,
    "execution.": """
    allow-client-job-configurations async-state attached batch batch-shuffle-mode batch-state-backend
    buffer-timeout.enabled checkpointing job-listeners job-status-changed-listeners program-config savepoint
    savepoint-restore-mode shutdown-on-application-finish shutdown-on-attached-exit sort-keyed-partition
    sort-partition sorted-inputs state-recovery submit-failed-job-on-application-error target
    """,
    "pipeline.": """
    auto-type-registration closure-cleaner-level
    default-kryo-serializers force-avro force-kryo force-kryo-avro generic-types
    jobvertex-parallelism-overrides operator-chaining.chain-operators-with-different-max-parallelism
    registered-kryo-types registered-pojo-types serialization-config vertex-description-mode
    vertex-name-include-index-prefix watermark-alignment
    """,
    "python.": """
    client execution-mode fn-execution logging map-state metric operator-chaining profile pythonpath state systemenv
    """,
    "restart-strategy.": "exponential-delay",
}
"""How keys go on, by how they begin."""

PREFIXES = tuple(begin + key for begin, keys in _KEYS.items() for key in keys.split())
"""All of them. One that ends in a word stands for the key itself and for those that go on after a dot or a hyphen."""


_FLINKS_JAR = re.compile(r"(py)?flink[-_][^/]*")


def is_flinks_jar(url: str) -> bool:
    """Whether a jar holds a connector or a format of Flink, or Flink itself, by its name."""
    return _FLINKS_JAR.fullmatch(url.rpartition("/")[2].lower()) is not None


def is_flinks(key: str) -> bool:
    """Whether a key is one of Flink's that mean nothing here."""
    return any(
        key.startswith(prefix) and (prefix.endswith(".") or key[len(prefix) : len(prefix) + 1] in ("", ".", "-"))
        for prefix in PREFIXES
    )


def class_paths(urls: Iterable[str]) -> list[str]:
    """The paths of ``file:`` URLs but for Flink's jars; other URLs as they are."""
    kept = (url for url in urls if not is_flinks_jar(url))
    return [urlsplit(url).path if url.startswith("file:") else url for url in kept]
