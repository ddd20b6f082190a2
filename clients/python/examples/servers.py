"""Private servers for the examples, each in a temporary directory on a free port of loopback.

Debian's packages: `redis-server`, `postgresql`.
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

PATIENCE = 60.0
"""Seconds that a server may take to start."""


class NotInstalledError(Exception):
    """A server's programs are not on this machine."""


class Server:
    """A server that is killed, and its directory removed, when the context ends."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="snapshot-"))
        self.port = _free_port()
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self._prepare()
            self.start()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._remove()

    def start(self) -> None:
        """Starts the server and waits until it accepts connections."""
        deadline = time.monotonic() + PATIENCE
        while not self._is_up():
            # One that finds helpers of a killed server ends at once.
            if self._child is None or self._child.poll() is not None:
                self._child = self._spawn()
            if time.monotonic() > deadline:
                raise TimeoutError(f"the server did not start: {self._log().read_text()}")
            time.sleep(0.05)

    def kill(self) -> None:
        """Kills all processes of the server without notice."""
        if self._child is not None:
            helpers = _children(self._child.pid)
            self._child.kill()
            for helper in helpers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(helper, signal.SIGKILL)
            self._child.wait()
            self._child = None

    def _remove(self) -> None:
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _log(self) -> Path:
        return self.directory / "log"

    def _command(self) -> list[str]:
        raise NotImplementedError

    def _user(self) -> str | None:
        """The user to run as, if it is not the present one."""
        return None

    def _prepare(self) -> None:
        """Does what is needed before the first start."""

    def _is_up(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    def _spawn(self) -> subprocess.Popen[bytes]:
        with self._log().open("ab") as log:
            return subprocess.Popen(
                self._command(), stdout=log, stderr=log, cwd=self.directory, user=self._user()
            )


class Redis(Server):
    """A Redis server that acknowledges an operation only once it is on disk."""

    def _command(self) -> list[str]:
        server = shutil.which("redis-server")
        if server is None:
            raise NotInstalledError("redis-server is not installed")
        durable = ["--save", "", "--appendonly", "yes", "--appendfsync", "always"]
        return [server, "--bind", "127.0.0.1", "--port", str(self.port), *durable]

    def _is_up(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(b"PING\r\n")
                # Otherwise it is still loading.
                return connection.recv(64).startswith(b"+PONG")
        except OSError:
            return False


class Postgres(Server):
    """A PostgreSQL server. Only processes are killed, never the machine, so it does without `fsync`."""

    @property
    def url(self) -> str:
        """The address of its database, with its superuser."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def _program(self, name: str) -> str:
        # Debian keeps the server's programs off the path.
        places = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=_version, reverse=True)
        program = shutil.which(name) or shutil.which(name, path=os.pathsep.join(places))
        if program is None:
            raise NotInstalledError(f"PostgreSQL's {name} is not installed")
        return program

    def _user(self) -> str | None:
        # It refuses to run as root.
        return "postgres" if os.geteuid() == 0 else None

    def _data(self) -> Path:
        return self.directory / "data"

    def _prepare(self) -> None:
        initdb = self._program("initdb")
        if user := self._user():
            shutil.chown(self.directory, user)
        options = ["--auth=trust", "--username=postgres", "--no-sync", "--encoding=UTF8"]
        with self._log().open("ab") as log:
            subprocess.run(
                [initdb, *options, "--locale=C", "--pgdata", str(self._data())],
                check=True,
                cwd=self.directory,
                stdout=log,
                stderr=log,
                user=user,
            )

    def _command(self) -> list[str]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": self.directory,
            "autovacuum": "off",
            "fsync": "off",
        }
        options = [f"--{name}={value}" for name, value in settings.items()]
        return [self._program("postgres"), "-D", str(self._data()), *options]

    def _is_up(self) -> bool:
        ready = [self._program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(ready, check=False).returncode == 0


def _children(process: int) -> list[int]:
    """Returns the children of a process, on Linux; elsewhere they end by themselves, later."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name of a program may have blanks and brackets.
            parent = Path(path).read_text().rpartition(")")[2].split()[1]
            if int(parent) == process:
                found.append(int(Path(path).parent.name))
    return found


def _version(place: str) -> int:
    number = Path(place).parent.name
    return int(number) if number.isdigit() else 0


def _free_port() -> int:
    with socket.socket() as unbound:
        unbound.bind(("127.0.0.1", 0))
        port: int = unbound.getsockname()[1]
        return port
