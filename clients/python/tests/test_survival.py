"""Recordings of programs that are killed, forked, or out of disk space."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from snapshot_recorder import RecordingError, SnapshotRecorder

SOURCES = str(Path(__file__).parent.parent / "src")

KILLED = """
import sys, threading
from snapshot_recorder import SnapshotRecorder
lock = threading.Lock()
def client(number):
    turn = 0
    while True:
        turn += 1
        with recorder.update("x", number * 1_000_000 + turn):
            with lock:
                print("begun", number * 1_000_000 + turn, flush=True)
        with lock:
            print("ended", number * 1_000_000 + turn, flush=True)
recorder = SnapshotRecorder(sys.argv[1])
for number in range(3):
    threading.Thread(target=client, args=(number,)).start()
"""


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": SOURCES}
    command = [sys.executable, "-S", "-c", script, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def test_all_that_a_killed_program_did_is_in_its_recording(path: Path, lines, judge) -> None:
    child = start(KILLED, str(path))
    assert child.stdout is not None
    told = [child.stdout.readline().split() for _ in range(400)]
    child.send_signal(signal.SIGKILL)
    told += [
        line.split()
        for line in child.stdout.read().splitlines(keepends=True)
        if line.endswith("\n")
    ]
    child.wait()
    values: dict[int, int] = {}
    begun, ended = set(), set()
    for line in lines()[1:]:
        if line["event"] == "invoke":
            values[line["process"]] = line["value"]
            begun.add(line["value"])
        else:
            ended.add(values[line["process"]])
    for word, value in told:
        assert int(value) in (begun if word == "begun" else ended), word
    assert judge(path)[0] == 0


def test_a_fork_must_make_a_recorder_of_its_own(path: Path, lines) -> None:
    script = """
import os, sys
from snapshot_recorder import RecordingError, SnapshotRecorder
with SnapshotRecorder(sys.argv[1]) as recorder:
    child = os.fork()
    try:
        with recorder.update("x", 5):
            pass
    except RecordingError as error:
        print(error, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
    child = start(script, str(path))
    assert "not to one that was forked" in child.communicate()[0]
    assert [line.get("event") for line in lines()] == [None, "invoke", "ok"]


def test_a_full_disk_leaves_whole_lines_and_ends_the_recording(path: Path, lines, judge) -> None:
    script = """
import resource, sys
from snapshot_recorder import RecordingError, SnapshotRecorder
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
recorder = SnapshotRecorder(sys.argv[1])
for value in range(100):
    try:
        with recorder.update("x", value):
            calls = value + 1
    except OSError:
        break
try:
    with recorder.update("x", -1):
        calls = 1000
except RecordingError as error:
    print(calls, error, flush=True)
"""
    child = start(script, str(path))
    calls, error = child.communicate()[0].split(maxsplit=1)
    assert "the recording ended when a line could not be written" in error
    begun = sum(line.get("event") == "invoke" for line in lines())
    assert begun == int(calls) > 3
    assert 900 < path.stat().st_size <= 1000
    assert judge(path)[0] == 0


def test_a_stream_that_breaks_ends_the_recording() -> None:
    class Broken(io.BytesIO):
        def write(self, line: bytes) -> int:  # type: ignore[override]
            if len(self.getvalue()) > 100:
                raise BrokenPipeError
            return super().write(line)

    recorder = SnapshotRecorder(Broken())
    with pytest.raises(BrokenPipeError), recorder.update("x", "a" * 50):
        pass
    with pytest.raises(RecordingError, match="BrokenPipeError"), recorder.update("x", 5):
        pass


@pytest.mark.parametrize(("later", "code"), [([5], 0), ([5, 0], 1)])
def test_the_monitor_reads_along(program, later, code) -> None:
    monitor = subprocess.Popen(
        [program, "monitor"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=False
    )
    assert monitor.stdin is not None
    with SnapshotRecorder(monitor.stdin, ["x", "y"]) as recorder:
        with recorder.update("x", 5):
            pass
        for value in later:
            with recorder.scan() as scan:
                scan.returned({"x": value})
    if code == 0:
        monitor.stdin.close()
    # It ends at the first event that no order explains, while the stream is open.
    assert monitor.wait(30) == code
    monitor.stdin.close()
    assert monitor.stdout is not None
    monitor.stdout.close()
