"""A Kafka broker of the tests' own: its jars from Maven Central, kept in the user's cache, and one JVM."""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

from tests.running import answers, free_ports

VERSION = "4.3.1"
POM = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>penstock.tests</groupId><artifactId>broker</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{VERSION}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
"""
PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={data}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
log.retention.ms=-1
"""
RESOLVE_SECONDS, START_SECONDS = 300, 60


def jars() -> Path:
    """The folder of the broker's jars; fetched when they are not there.

    Raises:
        LookupError: they cannot be had; the reason is its text.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "penstock-tests", f"kafka-{VERSION}")
    found = cache / "jars"
    if found.is_dir():
        return found
    maven = shutil.which("mvn")
    if maven is None or shutil.which("java") is None:
        raise LookupError("no Maven or no Java here to get a Kafka broker with")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        Path(folder, "broker.xml").write_text(POM)
        goal = ["dependency:copy-dependencies", "-DoutputDirectory=jars", "-DincludeScope=runtime"]
        command = [maven, "-q", "-B", "-f", "broker.xml", *goal]
        try:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=RESOLVE_SECONDS)
        except (subprocess.SubprocessError, OSError) as error:
            raise LookupError(f"Maven could not get a Kafka broker: {error}") from error
        with contextlib.suppress(OSError):  # another process was quicker
            os.rename(Path(folder, "jars"), found)
    return found


@contextlib.contextmanager
def running(folder: Path) -> Iterator[str]:
    """A broker, as long as the block lasts; its address.

    Args:
        folder: for its data, empty.

    Raises:
        LookupError: it cannot be had here.
    """
    java = [
        "java", "-Xms128m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
        f"-Dorg.slf4j.simpleLogger.logFile={folder / 'broker.log'}", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        "-cp", f"{jars()}/*",
    ]  # fmt: skip
    port, controller = free_ports(2)
    properties = folder / "server.properties"
    properties.write_text(PROPERTIES.format(port=port, controller=controller, data=folder / "data"))
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    format_data = [*java, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(properties)]
    subprocess.run(format_data, check=True, capture_output=True, timeout=START_SECONDS)
    broker = subprocess.Popen([*java, "kafka.Kafka", str(properties)], start_new_session=True)
    try:
        if not answers(broker, port, START_SECONDS):
            log = folder / "broker.log"
            raise AssertionError(f"the broker did not start: {log.read_text()[-2000:] if log.exists() else 'no log'}")
        yield f"127.0.0.1:{port}"
    finally:
        broker.terminate()
        broker.wait(timeout=START_SECONDS)
