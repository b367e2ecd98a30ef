"""The keys of Flink's configuration (1.11 to 2.3) without a meaning here, by prefix. Where other keys of a family have
a meaning, they are listed in full, so that a misspelt key is not mistaken for one of Flink's."""

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
    client execution-mode fn-execution.bundle fn-execution.memory fn-execution.streaming logging map-state metric
    operator-chaining profile pythonpath state systemenv
    """,
    "restart-strategy.": "exponential-delay",
}
"""The rest of the keys, by their first part."""

PREFIXES = tuple(begin + key for begin, keys in _KEYS.items() for key in keys.split())
"""All prefixes. One without a dot at its end matches the key itself, and keys that continue with a dot or a hyphen."""

_FLINKS_JAR = re.compile(r"((py)?flink|kafka-clients)[-_][^/]*")
CHECKPOINT_DIRECTORY = "execution.checkpointing.dir"
STORAGES = ("execution.checkpointing.storage", "state.backend.fs.checkpointdir", "state.checkpoint-storage")
"""Flink's keys for the place of checkpoints, without effect here: the checkpoint directory is the place."""
STORES_KEYS = (
    "s3.access-key",
    "s3.access.key",
    "s3.endpoint",
    "s3.path.style.access",
    "s3.secret-key",
    "s3.secret.key",
)
"""Flink's keys for stores, without effect here: ``penstock.storage.options`` is used instead."""


def is_flinks_jar(url: str) -> bool:
    """Whether a jar, by its name, is Flink, one of its connectors or formats, or a library that only these need."""
    return _FLINKS_JAR.fullmatch(url.rpartition("/")[2].lower()) is not None


def is_flinks(key: str) -> bool:
    """Whether a key is one of Flink's without a meaning here."""
    return any(
        key.startswith(prefix) and (prefix.endswith(".") or key[len(prefix) : len(prefix) + 1] in ("", ".", "-"))
        for prefix in PREFIXES
    )


def class_paths(urls: Iterable[str]) -> list[str]:
    """The paths of ``file:`` URLs, and other URLs as they are, without Flink's jars."""
    kept = (url for url in urls if not is_flinks_jar(url))
    return [urlsplit(url).path if url.startswith("file:") else url for url in kept]
