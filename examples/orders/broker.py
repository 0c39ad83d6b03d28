"""A real Kafka broker of one process, from the jars that `make` fetches with Maven.

The broker is formatted once and keeps its folder, so it can be killed and started again.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from confluent_kafka import Consumer

_JAVA = ("java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_CLUSTER = "MkU3OEVBNTcwNTJENDM2Qg"
_PROPERTIES = """
process.roles=broker,controller
node.id=1
listeners=BROKER://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=BROKER://127.0.0.1:{port}
inter.broker.listener.name=BROKER
controller.listener.names=CONTROLLER
listener.security.protocol.map=BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
log.dirs={folder}/data
auto.create.topics.enable=false
num.network.threads=2
num.io.threads=2
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
transaction.abort.timed.out.transaction.cleanup.interval.ms=1000
log.retention.check.interval.ms=1000
log.initial.task.delay.ms=1000
"""
_READY_SECONDS = 60


class Broker:
    """One broker on a free port of this machine; `servers` is its address."""

    def __init__(self, jars: str, folder: Path) -> None:
        self._class_path = f"{jars}/*"
        self._folder = folder
        self._port, controller = _free_ports()
        self.servers = f"127.0.0.1:{self._port}"
        self._config = folder / "server.properties"
        self._config.write_text(_PROPERTIES.format(port=self._port, controller=controller, folder=folder))
        tool = ("kafka.tools.StorageTool", "format", "--standalone", "-t", _CLUSTER, "-c", str(self._config))
        subprocess.run([*_JAVA, "-cp", self._class_path, *tool], check=True, capture_output=True)
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self._folder / "broker.log").open("ab") as log:
            dies_with_us = ("setpriv", "--pdeathsig", "TERM") if shutil.which("setpriv") else ()
            self._process = subprocess.Popen(
                [*dies_with_us, *_JAVA, "-cp", self._class_path, "kafka.Kafka", str(self._config)],
                stdout=log, stderr=log,
            )  # fmt: skip
        until = time.monotonic() + _READY_SECONDS
        client = Consumer({"bootstrap.servers": self.servers, "group.id": "ready", "log_level": 2})
        while True:
            try:
                if client.list_topics(timeout=2).brokers:
                    break
            except Exception:
                if time.monotonic() > until or self._process.poll() is not None:
                    raise
        client.close()

    @property
    def runs(self) -> bool:
        """Whether its process is there."""
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """End it at once, without a chance to write anything."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """End it."""
        if self._process is not None and self.runs:
            self._process.terminate()
            self._process.wait(30)


def _free_ports() -> tuple[int, int]:
    """Two ports below the range from which clients get theirs: a client that reconnects could meet itself."""
    found: list[int] = []
    while len(found) < 2:
        port = random.Random(os.getpid() + time.time_ns()).randrange(20_000, 31_999)  # noqa: S311 - no secret
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
    return found[0], found[1]
