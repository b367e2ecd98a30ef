"""A Kafka broker of the tests' own: its jars from Maven Central, kept in the user's cache, and one JVM."""

from __future__ import annotations

import base64
import contextlib
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

from tests.maven import jars
from tests.running import answers, free_ports

VERSION = "4.3.1"
ARTIFACTS = f"org.apache.kafka:kafka_2.13:{VERSION}", "org.slf4j:slf4j-simple:1.7.36"
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
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
"""
"""After a kill a broker is refused until its last session is over, nine seconds by default."""
START_SECONDS = 180


class Broker:
    """A broker in a process of its own; it can be stopped and started again with its data."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "broker.log"
        folder_of_jars = jars(f"kafka-{VERSION}", *ARTIFACTS)
        self._java = [
            "java", "-Xms128m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            f"-Dorg.slf4j.simpleLogger.logFile={self._log}", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-cp", f"{folder_of_jars}/*",
        ]  # fmt: skip
        self._port, controller = free_ports(2)
        self._properties = folder / "server.properties"
        text = PROPERTIES.format(port=self._port, controller=controller, data=folder / "data")
        self._properties.write_text(text)
        self.servers = f"127.0.0.1:{self._port}"
        cluster = base64.urlsafe_b64encode(b"\0" + uuid.uuid4().bytes[1:]).decode().rstrip("=")  # no "-" comes first
        format_data = ["kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(self._properties)]
        subprocess.run([*self._java, *format_data], check=True, capture_output=True, timeout=START_SECONDS)

    def start(self) -> None:
        command = [*self._java, "kafka.Kafka", str(self._properties)]
        self._process = subprocess.Popen(command, start_new_session=True)
        if not answers(self._process, self._port, START_SECONDS):
            log = self._log.read_text()[-2000:] if self._log.exists() else "no log"
            raise AssertionError(f"the broker did not start: {log}")

    def stop(self, kill: bool = False) -> None:
        self._process.kill() if kill else self._process.terminate()
        self._process.wait(timeout=START_SECONDS)

    def restart(self) -> None:
        """End it, and run it again with its data."""
        self.stop()
        self.start()


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Broker]:
    """A broker, as long as the block lasts."""
    broker = Broker(folder)
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()
