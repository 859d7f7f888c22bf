"""Real brokers of Debian's packages on loopback, as many nodes as a cluster has, in a folder of their own."""

import contextlib
import os
import signal
import socket
import subprocess
import time

import paho.mqtt.client as mqtt

from waiting import Finding, free_port, until

STARTS = 180.0  # seconds in which a node must serve: Erlang on two busy cores needs half a minute
COOKIE = "a-word-that-only-this-test-knows"


class Cluster:
    """Nodes that start, are killed and return, each on the same ports and with the same files."""

    name, count = "", 3
    # The user `some` may write only below allowed/. RabbitMQ wants a password.
    some = ("some", "some")
    has_subject = False

    def __init__(self, folder: str, root: str = "") -> None:
        """With `root`, the programs are those of this root of another Debian."""
        self.folder, self.root = os.path.join(folder, self.name.lower()), root
        os.makedirs(self.folder)
        self.ports = [free_port() for _ in range(self.count)]
        self.nodes: list[subprocess.Popen | None] = [None] * self.count
        if root:
            os.makedirs(root + self.folder)
        self.prepare()

    @property
    def urls(self) -> list[str]:
        return [f"mqtt://127.0.0.1:{port}" for port in self.ports]

    def prepare(self) -> None:
        """Writes what the nodes need."""

    def command(self, node: int) -> tuple[list[str], dict[str, str]]:
        """What starts a node, with its variables."""
        raise NotImplementedError

    def spawn(self, words: list[str], variables: dict[str, str], log: str) -> subprocess.Popen:
        """Starts a program in a group of its own, so that a kill reaches all that it started."""
        if self.root:
            # The mounts end with the program.
            script = 'mount -t proc proc "$0/proc"; mount --bind "$1" "$0$1"; root=$0; shift; exec chroot "$root" "$@"'
            words = ["unshare", "--mount", "bash", "-c", script, self.root, self.folder, *words]
        with open(os.path.join(self.folder, log), "ab") as file:
            return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True,
                                    env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": self.folder, "LANG": "C.UTF-8", **variables})

    def start(self) -> None:
        for node in range(self.count):
            self.revive(node)
        for node in range(self.count):
            self.wait(node)

    def revive(self, node: int) -> None:
        self.nodes[node] = self.spawn(*self.command(node), f"node-{node}.log")

    def wait(self, node: int) -> None:
        """Waits until a node lets clients in: one of a cluster listens before that."""
        process = self.nodes[node]
        until(lambda: process.poll() is not None or self.is_open(node) and self.answers(node), STARTS, f"{self.name} {node} lets nobody in", step=0.2)
        if process.poll() is not None:
            with open(os.path.join(self.folder, f"node-{node}.log"), errors="replace") as file:
                raise Finding(f"{self.name} {node} ended: {''.join(file.readlines()[-5:])}")

    def answers(self, node: int) -> bool:
        codes = []
        # Another name each time: a slow broker may still be busy with the one before.
        client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, f"probe-{time.time_ns()}", protocol=mqtt.MQTTv311)
        client.on_connect = lambda _client, _data, _flags, code, _properties: codes.append(code)
        with contextlib.suppress(OSError):
            client.connect("127.0.0.1", self.ports[node])
            end = time.monotonic() + 10
            while not codes and time.monotonic() < end and client.loop(0.5) == mqtt.MQTT_ERR_SUCCESS:
                pass
            client.disconnect()
        return codes == ["Success"]

    def is_open(self, node: int) -> bool:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.ports[node]), 1).close()
            return True
        return False

    def kill(self, node: int, number: int = signal.SIGKILL) -> None:
        process = self.nodes[node]
        if process is not None and process.poll() is None:
            os.killpg(process.pid, number)
            process.wait(10)
            # What the process started may end a moment later.
            until(lambda: not self.is_open(node), 10, f"{self.name} {node} still listens")

    def stop(self) -> None:
        for node in range(self.count):
            self.kill(node)

    def text(self, name: str, lines: list[str]) -> str:
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")
        return path


class Mosquitto(Cluster):
    name, count = "mosquitto", 1

    def prepare(self) -> None:
        access = self.text("acl", ["topic readwrite #", "user some", "topic readwrite allowed/#", "topic read #"])
        self.path = self.text("mosquitto.conf", [
            f"listener {self.ports[0]} 127.0.0.1", "allow_anonymous true", f"acl_file {access}", "user root",
            f"persistence true\npersistence_location {self.folder}/\nautosave_interval 1", "max_queued_messages 0", "max_inflight_messages 100"])

    def command(self, node: int) -> tuple[list[str], dict[str, str]]:
        return ["mosquitto", "-c", self.path], {}


class NATS(Cluster):
    name, has_subject = "NATS", True

    def prepare(self) -> None:
        self.clients, self.routes = ([free_port() for _ in range(self.count)] for _ in range(2))
        routes = ", ".join(f'"nats://127.0.0.1:{port}"' for port in self.routes)
        for node in range(self.count):
            self.text(f"node-{node}.conf", [
                f"server_name: node-{node}", f"listen: 127.0.0.1:{self.clients[node]}",
                f'jetstream {{ store_dir: "{self.folder}/{node}", max_mem: 256MB, max_file: 4GB }}',
                f"cluster {{ name: c, listen: 127.0.0.1:{self.routes[node]}, routes: [{routes}], no_advertise: true }}",
                f"mqtt {{ listen: 127.0.0.1:{self.ports[node]}, stream_replicas: 3, consumer_replicas: 3 }}",
                "accounts { A: { jetstream: enabled, users: [ {user: all, password: all},",
                '  {user: some, password: some, permissions: {publish: {deny: "denied.>"}}} ] } }', "no_auth_user: all"])

    def command(self, node: int) -> tuple[list[str], dict[str, str]]:
        return ["nats-server", "-c", f"{self.folder}/node-{node}.conf"], {}

    @property
    def client_urls(self) -> str:
        return ",".join(f"nats://127.0.0.1:{port}" for port in self.clients)


class RabbitMQ(Cluster):
    name = "RabbitMQ"
    BIN = "/usr/lib/rabbitmq/bin"

    def prepare(self) -> None:
        self.epmd_port = free_port()
        self.internal, self.distribution = ([free_port() for _ in range(self.count)] for _ in range(2))
        cookie = self.text(".erlang.cookie", [COOKIE])
        os.chmod(cookie, 0o400)
        self.text("plugins", ["[rabbitmq_mqtt]."])
        for node in range(self.count):
            self.text(f"node-{node}.conf", [
                "listeners.tcp = none", f"mqtt.listeners.tcp.1 = 127.0.0.1:{self.ports[node]}", "mqtt.durable_queue_type = quorum",
                "distribution.listener.interface = 127.0.0.1", "log.file = false", "log.console = true", "log.console.level = warning",
                "cluster_partition_handling = pause_minority", "vm_memory_high_watermark.absolute = 2GB",
                "cluster_formation.peer_discovery_backend = classic_config",
                *(f"cluster_formation.classic_config.nodes.{other + 1} = node{other}@localhost" for other in range(self.count))])
        self.epmd = None

    def variables(self, node: int) -> dict[str, str]:
        return {"RABBITMQ_NODENAME": f"node{node}@localhost", "RABBITMQ_NODE_PORT": str(self.internal[node]),
                "RABBITMQ_DIST_PORT": str(self.distribution[node]), "RABBITMQ_CONFIG_FILE": f"{self.folder}/node-{node}",
                "RABBITMQ_MNESIA_BASE": f"{self.folder}/{node}", "RABBITMQ_LOG_BASE": self.folder,
                "RABBITMQ_ENABLED_PLUGINS_FILE": f"{self.folder}/plugins", "RABBITMQ_PID_FILE": f"{self.folder}/node-{node}.pid",
                "ERL_EPMD_PORT": str(self.epmd_port), "ERL_EPMD_ADDRESS": "127.0.0.1",
                # Two cores are shared by three nodes: no thread waits busily.
                "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none"}

    def command(self, node: int) -> tuple[list[str], dict[str, str]]:
        return [f"{self.BIN}/rabbitmq-server"], self.variables(node)

    def start(self) -> None:
        # Otherwise the first node starts one that outlives the test.
        self.epmd = self.spawn(["epmd", "-port", str(self.epmd_port), "-address", "127.0.0.1"], {}, "epmd.log")
        if self.root:
            # Version 4 waits for the others of its list.
            super().start()
        else:
            # Version 3 may lose its list of MQTT clients when nodes of a busy machine start together.
            for node in range(self.count):
                self.revive(node)
                self.wait(node)
        self.control("add_user", *self.some)
        self.control("set_permissions", "some", ".*", ".*", ".*")
        self.control("set_topic_permissions", "some", "amq.topic", "^allowed", ".*")

    def control(self, *words: str) -> None:
        log = self.spawn([f"{self.BIN}/rabbitmqctl", *words], self.variables(0), "control.log")
        if log.wait(120) != 0:
            raise Finding(f"rabbitmqctl {words[0]} failed: see {self.folder}/control.log")

    def stop(self) -> None:
        super().stop()
        if self.epmd is not None:
            self.epmd.kill()
            self.epmd.wait()


ALL = {"mosquitto": Mosquitto, "nats": NATS, "rabbitmq": RabbitMQ}
