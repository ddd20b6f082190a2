"""Clients that write and read a few registers of a server at once, and record what they saw."""

from __future__ import annotations

import argparse
import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from servers import Server

from snapshot_recorder import SnapshotRecorder

KEYS = ("x", "y", "z")

S = TypeVar("S", bound=Server)


class Client(ABC):
    """A client with a connection of its own, which never repeats a call by itself."""

    @abstractmethod
    def write(self, key: str, value: int) -> None:
        """Writes one register."""

    @abstractmethod
    def read(self, keys: Sequence[str]) -> Mapping[str, int]:
        """Reads registers, each at first 0."""

    @abstractmethod
    def close(self) -> None:
        """Closes the connection."""


@dataclass(frozen=True)
class Load:
    """A load: clients, operations of each, and how often the server is killed meanwhile."""

    clients: int = 6
    operations: int = 200
    kills: int = 0
    seed: int = 1


def record(
    target: Path,
    server: Server,
    connect: Callable[[], Client],
    errors: tuple[type[Exception], ...],
    load: Load,
) -> int:
    """Runs a load against a server, records it, and returns the number of lost outcomes.

    `errors` are those of a lost connection.
    """
    lost: list[str] = []
    faults: list[Exception] = []
    started = threading.Semaphore(0)

    def run(number: int) -> None:
        chance = random.Random(load.seed * 1000 + number)
        client = _connected(connect, errors)
        try:
            for turn in range(load.operations):
                started.release()
                try:
                    if chance.random() < 0.5:
                        key, value = chance.choice(KEYS), (number + 1) * 1_000_000 + turn
                        with recorder.update(key, value):
                            client.write(key, value)
                    else:
                        with recorder.scan() as scan:
                            scan.returned(client.read(KEYS))
                except errors as error:
                    lost.append(str(error))
                    client = _connected(connect, errors)
        except Exception as error:  # noqa: BLE001
            faults.append(error)
        finally:
            client.close()

    with SnapshotRecorder(target, dict.fromkeys(KEYS, 0)) as recorder:
        clients = [
            threading.Thread(target=run, args=(number,), name=f"client-{number}")
            for number in range(load.clients)
        ]
        for thread in clients:
            thread.start()
        for _ in range(load.kills):
            # Kills come after equal parts of the load.
            for _ in range(load.clients * load.operations // (load.kills + 1)):
                started.acquire(timeout=60)
            server.kill()
            server.start()
        for thread in clients:
            thread.join()
    if faults:
        raise faults[0]
    return len(lost)


def main(
    name: str,
    kind: type[S],
    readings: Sequence[str],
    run: Callable[[S, str, Path, Load], int],
    target: str,
) -> None:
    """The command line of an example: records a load of a private server."""
    parser = argparse.ArgumentParser(description=f"Records clients of a private {name} server.")
    parser.add_argument("reading", choices=readings)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--target", type=Path, default=Path(target))
    options = parser.parse_args()
    with kind() as server:
        lost = run(server, options.reading, options.target, Load(kills=options.kills))
    print(f"{options.target}: {lost} outcomes unknown")


def _connected(connect: Callable[[], Client], errors: tuple[type[Exception], ...]) -> Client:
    deadline = time.monotonic() + 60
    while True:
        try:
            return connect()
        except errors:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
