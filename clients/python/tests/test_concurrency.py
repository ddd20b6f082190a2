"""Threads and asyncio tasks: what is atomic is never accused, what is not is found."""

from __future__ import annotations

import asyncio
import gc
import random
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from snapshot_recorder import SnapshotRecorder


class Store:
    """Registers, read at one instant or one by one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values = {"x": 0, "y": 0, "z": 0}
        self.keys = list(self._values)

    def write(self, key: str, value: int) -> None:
        with self._lock:
            self._values[key] = value

    def read(self) -> dict[str, int]:
        with self._lock:
            return dict(self._values)


@pytest.fixture
def switching() -> Iterator[None]:
    """Switches threads after almost every instruction."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.usefixtures("switching")
def test_threads_on_an_atomic_store(path: Path, lines, judge, seed) -> None:
    store = Store()

    def client(number: int) -> None:
        chance = random.Random(10 * seed + number)
        for turn in range(60):
            if chance.random() < 0.5:
                key, value = chance.choice(store.keys), number * 1000 + turn + 1
                with recorder.update(key, value):
                    store.write(key, value)
            else:
                with recorder.scan() as scan:
                    scan.returned(store.read())
            if chance.random() < 0.3:
                threading.Event().wait(1e-6)

    with SnapshotRecorder(path, dict.fromkeys(store.keys, 0)) as recorder:
        threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    events = lines()[1:]
    assert len(events) == 8 * 60 * 2
    times = [event["time"] for event in events]
    assert times == sorted(times)
    code, report = judge(path)
    assert (code, "480 operations, 8 processes" in report) == (0, True), report


def test_a_scan_of_threads_that_reads_one_by_one(path: Path, judge) -> None:
    store = Store()
    first, second = threading.Event(), threading.Event()

    def reader() -> None:
        with recorder.scan() as scan:
            x = store.read()["x"]
            first.set()
            assert second.wait(10)
            scan.returned({"x": x, "y": store.read()["y"]})

    with SnapshotRecorder(path, dict.fromkeys(store.keys, 0)) as recorder:
        thread = threading.Thread(target=reader, name="reader")
        thread.start()
        assert first.wait(10)
        for key in ("x", "y"):
            with recorder.update(key, 5):
                store.write(key, 5)
        second.set()
        thread.join()
    code, report = judge(path)
    assert code == 1
    assert "S1 = scan by reader" in report, report


@pytest.mark.parametrize("is_atomic", [True, False])
def test_tasks(path: Path, judge, is_atomic) -> None:
    store = Store()

    async def writer(number: int) -> None:
        for turn in range(20):
            key, value = store.keys[turn % 3], 1000 * number + turn + 1
            with recorder.update(key, value):
                await asyncio.sleep(0)
                store.write(key, value)

    async def reader() -> None:
        for _ in range(20):
            with recorder.scan() as scan:
                await asyncio.sleep(0)
                found = store.read()
                if not is_atomic:
                    for key in reversed(store.keys):
                        found[key] = store.read()[key]
                        await asyncio.sleep(0)
                scan.returned(found)

    async def all_clients() -> None:
        await asyncio.gather(*(writer(number) for number in range(3)), *(reader() for _ in "ab"))

    with SnapshotRecorder(path, dict.fromkeys(store.keys, 0)) as recorder:
        asyncio.run(all_clients())
    code, report = judge(path)
    assert code == (0 if is_atomic else 1), report


def test_a_thread_that_ends_within_an_operation_keeps_its_name(path: Path, lines, judge) -> None:
    with SnapshotRecorder(path) as recorder:
        for value in range(3):
            update = recorder.update("x", value)
            thread = threading.Thread(target=update.__enter__)
            thread.start()
            thread.join()
            del thread
            gc.collect()
    assert len({line["process"] for line in lines()[1:]}) == 3
    assert judge(path)[0] == 0
