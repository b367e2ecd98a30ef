"""HDFS and YARN of the tests' own: Hadoop's mini cluster in one JVM, and its nodes in processes that can be killed."""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from tests.maven import jars
from tests.running import free_ports
from tests.soak.processes import below

VERSION = "3.5.0"
ARTIFACTS = (
    f"org.apache.hadoop:hadoop-minicluster:{VERSION}",
    "org.junit.jupiter:junit-jupiter-api:5.13.4",  # of which its main class has some calls
    "org.mockito:mockito-core:4.11.0",
)
JAVA = ("java", "-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
START_SECONDS = 300
SITE = {
    "dfs.replication": "2",
    "dfs.namenode.fs-limits.min-block-size": "1024",
    "hadoop.security.token.service.use_ip": "true",
    "yarn.minicluster.fixed.ports": "true",
    "yarn.nm.liveness-monitor.expiry-interval-ms": "6000",  # a node is lost as soon as it is silent for so long
    "yarn.resourcemanager.nm.heartbeat-interval-ms": "500",
    "yarn.scheduler.minimum-allocation-mb": "256",
    "yarn.scheduler.capacity.maximum-am-resource-percent": "1.0",
    "yarn.nodemanager.resource.memory-mb": "2048",
    "yarn.nodemanager.resource.cpu-vcores": "4",
    "yarn.nodemanager.pmem-check-enabled": "false",
    "yarn.nodemanager.vmem-check-enabled": "false",
    "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99.9",
    "yarn.nodemanager.env-whitelist": "JAVA_HOME,HADOOP_CONF_DIR,PATH",
    "yarn.nodemanager.delete.debug-delay-sec": "600",  # logs stay until they are read
}


class Hadoop:
    """A NameNode, two DataNodes and a ResourceManager in a process of its own, and nodes of YARN in others.

    Attributes:
        hdfs: the URL of HDFS.
        settings: a folder for ``HADOOP_CONF_DIR``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._jars = folder, f"{jars(f'hadoop-{VERSION}', *ARTIFACTS)}/*"
        self.settings = folder / "settings"
        self._nodes: dict[str, subprocess.Popen[bytes]] = {}
        self._master: subprocess.Popen[bytes] | None = None
        port, tracker, scheduler, clients, admin, web, history, history_web = free_ports(8)
        self.hdfs, self._web, self._ports = f"hdfs://127.0.0.1:{port}", f"http://127.0.0.1:{web}", (port, clients)
        self._site = SITE | {
            "fs.defaultFS": self.hdfs,
            "hadoop.tmp.dir": str(folder / "tmp"),
            "yarn.resourcemanager.hostname": "127.0.0.1",
            "yarn.resourcemanager.resource-tracker.address": f"127.0.0.1:{tracker}",
            "yarn.resourcemanager.scheduler.address": f"127.0.0.1:{scheduler}",
            "yarn.resourcemanager.address": f"127.0.0.1:{clients}",
            "yarn.resourcemanager.admin.address": f"127.0.0.1:{admin}",
            "yarn.resourcemanager.webapp.address": f"127.0.0.1:{web}",
            "mapreduce.jobhistory.address": f"127.0.0.1:{history}",
            "mapreduce.jobhistory.webapp.address": f"127.0.0.1:{history_web}",
        }

    def start(self) -> None:
        """Begin HDFS and the ResourceManager."""
        self.settings.mkdir(parents=True)
        write_site(self.settings, self._site)
        details = self._folder / "details.json"
        names, clients = map(str, self._ports)
        arguments = ["-format", "-nnport", names, "-rmport", clients, "-datanodes", "2", "-nodemanagers", "0"]
        arguments += ["-writeDetails", str(details)]
        for key, value in self._site.items():
            arguments += ["-D", f"{key}={value}"]
        main = "org.apache.hadoop.mapreduce.MiniHadoopClusterManager"
        self._master = self._java("master", "-Xmx512m", main, *arguments)
        wait_for(lambda: details.exists() and details.stat().st_size > 0, "the mini cluster", self._master, self.log)

    def _java(self, name: str, memory: str, *command: str, settings: Path | None = None) -> subprocess.Popen[bytes]:
        home = self._folder / name
        home.mkdir(exist_ok=True)
        with open(home / "log", "ab") as log:
            return subprocess.Popen(
                [*JAVA, memory, "-cp", f"{settings}:{self._jars}" if settings else self._jars, *command],
                cwd=home,
                env=os.environ | {"HADOOP_CONF_DIR": str(self.settings)},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def log(self) -> str:
        return "".join(path.read_text()[-3000:] for path in sorted(self._folder.glob("*/log")))

    def start_node(self, host: str) -> None:
        """Begin a NodeManager that is another host for YARN, as 127.0.0.2 is; it has the same disk."""
        settings, (address, localizer, web) = self._folder / host / "settings", free_ports(3)
        settings.mkdir(parents=True, exist_ok=True)
        places = {
            "yarn.nodemanager.address": f"{host}:{address}",
            "yarn.nodemanager.localizer.address": f"{host}:{localizer}",
            "yarn.nodemanager.webapp.address": f"{host}:{web}",
            "yarn.nodemanager.local-dirs": str(self._folder / host / "local"),
            "yarn.nodemanager.log-dirs": str(self._folder / host / "logs"),
        }
        write_site(settings, self._site | places)
        main = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"
        self._nodes[host] = self._java(host, "-Xmx256m", main, settings=settings)
        wait_for(lambda: host in self.running(), f"the node {host}", self._nodes[host], self.log)

    def have_node(self, host: str) -> None:
        """Begin a node, unless it runs."""
        if host not in self._nodes:
            self.start_node(host)

    def lose_node(self, host: str) -> None:
        """Kill a node and everything that runs on it, as a power cut does."""
        node = self._nodes.pop(host)
        os.kill(node.pid, signal.SIGSTOP)  # it must not begin what it sees dying
        for process in below(node.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        node.kill()
        node.wait()

    def running(self) -> set[str]:
        """The hosts of nodes that the ResourceManager counts on."""
        nodes = (self.ask("nodes").get("nodes") or {}).get("node", [])
        return {node["nodeHostName"] for node in nodes if node["state"] == "RUNNING"}

    def ask(self, path: str) -> Any:
        """What the ResourceManager's REST answers."""
        with urllib.request.urlopen(f"{self._web}/ws/v1/cluster/{path}", timeout=60) as answer:
            return json.load(answer)

    def applications(self) -> set[str]:
        return {app["id"] for app in (self.ask("apps")["apps"] or {}).get("app", [])}

    def kill(self, application: str) -> None:
        """End an application, if it has not ended."""
        url = f"{self._web}/ws/v1/cluster/apps/{application}/state?user.name={getpass.getuser()}"
        data, headers = json.dumps({"state": "KILLED"}).encode(), {"Content-Type": "application/json"}
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(urllib.request.Request(url, data, headers, method="PUT"), timeout=60).close()

    def processes(self, container: str) -> list[int]:
        """Those that run in a container, the first of them first."""
        nodes = [process for node in self._nodes.values() for process in below(node.pid)]
        (first,) = [process for process in nodes if runs_java_of(process, container)]
        return below(first)

    def logs(self, application: str) -> str:
        """What the containers of an application have written."""
        paths = sorted(self._folder.glob(f"*/logs/{application}/*/*"))
        return "\n".join(f"--- {path}\n{path.read_text(errors='replace')}" for path in paths)

    def stop(self) -> None:
        for host in list(self._nodes):
            self.lose_node(host)
        if self._master is not None:
            self._master.kill()
            self._master.wait()


def runs_java_of(process: int, container: str) -> bool:
    """Whether a process is the JVM that YARN has started in a container."""
    try:
        variables = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
        program = Path(f"/proc/{process}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return program == "java" and f"CONTAINER_ID={container}".encode() in variables


def write_site(folder: Path, site: Mapping[str, str]) -> None:
    """Settings as Hadoop reads them: each of its files comes behind the defaults of its part."""
    for name, chosen in (("core-site.xml", lambda key: not key.startswith("yarn.")), ("yarn-site.xml", None)):
        lines = ["<configuration>"]
        for key, value in site.items():
            if chosen is None or chosen(key):
                lines.append(f"  <property><name>{key}</name><value>{escape(value)}</value></property>")
        (folder / name).write_text("\n".join([*lines, "</configuration>", ""]))


def wait_for(
    done: Callable[[], Any], what: str, process: subprocess.Popen[bytes] | None = None, log: Callable[[], str] = str
) -> Any:
    """Ask until the answer is true, and return it."""
    until = time.monotonic() + START_SECONDS
    while not (answer := done()):
        if time.monotonic() > until or (process is not None and process.poll() is not None):
            raise AssertionError(f"waited in vain for {what}: {log()}")
        time.sleep(0.2)
    return answer


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Hadoop]:
    """HDFS and a ResourceManager, as long as the block lasts."""
    hadoop = Hadoop(folder)
    try:
        hadoop.start()
        yield hadoop
    finally:
        hadoop.stop()
