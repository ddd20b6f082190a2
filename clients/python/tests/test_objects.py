"""Recordings of other objects, right and wrong, by `check --object`."""

from __future__ import annotations

import threading
from collections import deque
from pathlib import Path

import pytest

from snapshot_recorder import (
    CasRegisterRecorder,
    MapRecorder,
    ObjectRecorder,
    QueueRecorder,
    RecordingError,
    RegisterRecorder,
)


@pytest.mark.parametrize(("read", "code"), [(5, 0), (0, 1)])
def test_a_register(path: Path, judge, read, code) -> None:
    with RegisterRecorder(path) as recorder:
        with recorder.write(5):
            pass
        with recorder.read() as reading:
            reading.returned(read)
    assert judge(path, "--object", "register")[0] == code


@pytest.mark.parametrize(("won", "code"), [([True, False], 0), ([True, True], 1), ([False] * 2, 1)])
def test_a_register_with_compare_and_set(path: Path, judge, won, code) -> None:
    with CasRegisterRecorder(path) as recorder:
        with recorder.cas(0, 5, process="a") as first, recorder.cas(0, 6, process="b") as second:
            first.returned(won[0])
            second.returned(won[1])
        with recorder.read() as reading:
            reading.returned(5)
    assert judge(path, "--object", "cas-register")[0] == code


@pytest.mark.parametrize(("taken", "code"), [(["a", "b", None], 0), (["b", "a", None], 1)])
def test_a_queue(path: Path, judge, taken, code) -> None:
    with QueueRecorder(path) as recorder:
        for value in "ab":
            with recorder.enqueue(value):
                pass
        for value in taken:
            with recorder.dequeue() as dequeue:
                dequeue.returned(value)
    assert judge(path, "--object", "queue")[0] == code


@pytest.mark.parametrize(("found", "code"), [(None, 0), (6, 1)])
def test_a_map(path: Path, judge, found, code) -> None:
    with MapRecorder(path) as recorder:
        with recorder.put("k", 5):
            pass
        with recorder.cas("k", 5, 6) as cas:
            cas.returned(True)
        with recorder.get("k") as get:
            get.returned(6)
        with recorder.delete("k"):
            pass
        with recorder.get("k") as get:
            get.returned(found)
    assert judge(path, "--object", "map")[0] == code


def test_an_object_by_the_names_of_its_operations(path: Path, judge) -> None:
    with ObjectRecorder(path, "counter-channel") as recorder:
        with recorder.query("send", 5, process="a") as send:
            with recorder.query("receive", process="b") as receive:
                send.returned(1)
                receive.returned([5, 1])
    assert judge(path, "--object", "counter-channel")[0] == 0
    with ObjectRecorder(path, "lock") as recorder:
        with recorder.command("acquire", "a"):
            pass
        with recorder.command("acquire", "b"):
            pass
    assert judge(path, "--object", "lock")[0] == 1


def test_results_that_no_object_has(path: Path) -> None:
    with MapRecorder(path) as recorder:
        with pytest.raises(TypeError, match="neither True nor False"):
            with recorder.cas("k", 5, 6) as cas:
                cas.returned(1)  # type: ignore[arg-type]
        with pytest.raises(TypeError), recorder.get("k") as get:
            get.returned(1.5)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="name the initial value"):
            recorder.put("k", None)  # type: ignore[arg-type]
        with pytest.raises(RecordingError), recorder.get("k"):
            pass


def test_threads_with_a_queue(path: Path, judge) -> None:
    queue: deque[int] = deque()

    def client(number: int) -> None:
        for turn in range(40):
            value = number * 1000 + turn
            with recorder.enqueue(value):
                queue.append(value)
            with recorder.dequeue() as dequeue:
                dequeue.returned(queue.popleft() if queue else None)

    with QueueRecorder(path) as recorder:
        threads = [threading.Thread(target=client, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    code, report = judge(path, "--object", "queue")
    assert (code, "320 operations" in report) == (0, True), report


def test_several_objects_in_one_recording(path: Path, judge) -> None:
    with MapRecorder(path) as recorder:
        # One operation at a time per process and object.
        with recorder.put("k", 5, object="a"), recorder.put("k", 6, object="b"):
            pass
        for object, found in [("a", 5), ("b", 5)]:
            with recorder.get("k", object=object) as get:
                get.returned(found)
    assert judge(path, "--object", "map", "--key", "a")[0] == 0
    code, report = judge(path, "--object", "map")
    assert code == 1
    assert '"b"' in report
