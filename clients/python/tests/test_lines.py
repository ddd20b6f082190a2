"""The lines of a recording: which, when, and in which order."""

from __future__ import annotations

import asyncio
import itertools
import threading
from pathlib import Path

import pytest

from snapshot_recorder import ClockError, RecordingError, SnapshotRecorder


def ticking(*times: int):
    return iter(times or itertools.count()).__next__


def test_lines_are_those_of_the_format(path: Path, judge) -> None:
    with SnapshotRecorder(path, {"x": 0, "y": "a"}, clock=ticking()) as recorder:
        with recorder.update("x", 5, process="web-1"):
            pass
        with recorder.scan(process="web-2") as scan:
            scan.returned({"y": "a"})
        with recorder.scan(process="web-2") as scan:
            scan.returned([5, "a"])
    assert path.read_text() == (
        '{"snapshot-history":1,"segments":["x","y"],"initial":[0,"a"],"writers":"many",'
        '"processes":[]}\n'
        '{"process":"web-1","event":"invoke","operation":"update","segment":"x","value":5,'
        '"time":0}\n'
        '{"process":"web-1","event":"ok","time":1}\n'
        '{"process":"web-2","event":"invoke","operation":"scan","time":2}\n'
        '{"process":"web-2","event":"ok","values":{"y":"a"},"time":3}\n'
        '{"process":"web-2","event":"invoke","operation":"scan","time":4}\n'
        '{"process":"web-2","event":"ok","values":{"x":5,"y":"a"},"time":5}\n'
    )
    assert judge(path)[0] == 0


def test_an_invocation_is_in_the_file_before_the_call_and_a_response_after_it(
    path: Path, lines
) -> None:
    with SnapshotRecorder(path) as recorder:
        with recorder.update("x", 5):
            assert [line.get("event") for line in lines()] == [None, "invoke"]
        assert [line.get("event") for line in lines()] == [None, "invoke", "ok"]
        with recorder.scan() as scan:
            scan.returned({"x": 5})
            assert lines()[-1]["event"] == "invoke"
        assert lines()[-1]["values"] == {"x": 5}


def test_names_are_taken_as_they_come(path: Path, lines, judge) -> None:
    with SnapshotRecorder(path) as recorder:
        with recorder.update("y", 5):
            pass
        with recorder.scan() as scan:
            scan.returned({"x": 0, "y": 5})
        with recorder.update("x", 6):
            pass
    assert lines()[0]["segments"] == []
    assert lines()[4]["values"] == {"x": 0, "y": 5}
    assert lines()[5]["segment"] == "x"
    assert judge(path)[0] == 0


@pytest.mark.parametrize("declared", [None, ["0", "a b", "\u05e9\x1b"]])
def test_reports_have_the_names(path: Path, judge, declared) -> None:
    with SnapshotRecorder(path, declared) as recorder:
        with recorder.scan(process="7") as scan:
            scan.returned({"0": 0})
        with recorder.update("a b", 1, process='say "hi"'):
            pass
        with recorder.scan(process="7") as scan:
            scan.returned({"a b": 0, "\u05e9\x1b": 0})
    code, report = judge(path)
    assert code == 1
    assert 'update(1) of "a b" by "say \\"hi\\""' in report
    assert 'scan by process 7, returned 0 for "a b"' in report


def test_processes_of_one_name_are_told_apart(path: Path, lines, judge) -> None:
    with SnapshotRecorder(path) as recorder, recorder.update("x", 1):
        thread = threading.Thread(
            target=lambda: recorder.update("x", 2).__enter__(), name=threading.current_thread().name
        )
        thread.start()
        thread.join()
        with recorder.update("x", 3, process=thread.name):
            pass
    name = thread.name
    assert [line["process"] for line in lines()[1:]] == [name, f"{name}#2", *[f"{name}#3"] * 2, name]
    assert judge(path)[0] == 0


def test_segments_by_number(path: Path, lines, judge) -> None:
    with SnapshotRecorder(path, 2) as recorder:
        with recorder.update(1, 5):
            pass
        with recorder.scan() as scan:
            scan.returned([0, 5])
        with pytest.raises(TypeError, match="by their number"):
            recorder.update("x", 5)
        with pytest.raises(RecordingError, match="there are 2, from 0"):
            recorder.update(2, 5)
    assert lines()[4]["values"] == {"0": 0, "1": 5}
    assert judge(path)[0] == 0


def test_objects_by_key(path: Path, lines, judge) -> None:
    with SnapshotRecorder(path, ["x"]) as recorder:
        # One operation at a time per process and object.
        with recorder.update("x", 5, object="cart"), recorder.update("x", 6, object=17):
            pass
        with pytest.raises(RecordingError, match="have a key"), recorder.update("x", 7):
            pass
        with recorder.scan(object="cart") as scan:
            scan.returned({"x": 6})
    assert [line.get("key") for line in lines()] == [None, "cart", 17, 17, "cart", "cart", "cart"]
    code, report = judge(path)
    assert code == 1
    assert '"cart"' in report


@pytest.mark.parametrize(
    ("declared", "error"),
    [
        ("xy", TypeError),
        (["x", "x"], ValueError),
        ([5], TypeError),
        ([], ValueError),
        (0, ValueError),
        (1 << 17, ValueError),
        ({"x": None}, TypeError),
    ],
)
def test_declarations_that_no_recording_has(path: Path, declared, error) -> None:
    with pytest.raises(error):
        SnapshotRecorder(path, declared)
    assert not path.exists()


def test_undeclared_segments_are_refused_before_anything_happens(path: Path, lines) -> None:
    with SnapshotRecorder(path, ["x"]) as recorder:
        with pytest.raises(RecordingError, match="'z' is none of those declared"):
            recorder.update("z", 5)
        with pytest.raises(RecordingError), recorder.scan() as scan:
            scan.returned({"z": 5})
        with pytest.raises(RecordingError, match="2 values for 1 segments"):
            with recorder.scan() as scan:
                scan.returned([1, 2])
    assert [line.get("event") for line in lines()[1:]] == ["invoke", "unknown"] * 2


@pytest.mark.parametrize(
    ("value", "cure"),
    [
        (None, "name the initial value"),
        (True, "record 0 or 1"),
        (1.5, "str"),
        (b"x", "decode it"),
        ([1], "a text that stands for it"),
        (1 << 63, r"record str\(value\)"),
        (-(1 << 63) - 1, r"record str\(value\)"),
        ("\ud800", r"record repr\(value\)"),
    ],
)
def test_values_that_no_recording_has(path: Path, lines, value, cure) -> None:
    with SnapshotRecorder(path) as recorder:
        with pytest.raises((TypeError, ValueError), match=cure):
            recorder.update("x", value)
        with pytest.raises((TypeError, ValueError), match=cure), recorder.scan() as scan:
            scan.returned({"x": value})
    assert [line.get("event") for line in lines()] == [None, "invoke", "unknown"]


def test_extreme_values(path: Path, lines, judge) -> None:
    values = [2**63 - 1, -(2**63), "", '"\\\n\x00\u2028', "é𝄞", "null", "5"]
    with SnapshotRecorder(path, ["x"]) as recorder:
        for value in values:
            with recorder.update("x", value):
                pass
            with recorder.scan() as scan:
                scan.returned({"x": value})
    assert [line["value"] for line in lines() if "value" in line] == values
    assert judge(path)[0] == 0


def test_a_line_that_readers_refuse_is_not_written(path: Path, lines) -> None:
    with SnapshotRecorder(path) as recorder:
        with pytest.raises(ValueError, match="readers take at most"):
            with recorder.update("x", "a" * (8 << 20)):
                raise AssertionError("the call must not begin")
        with recorder.update("x", "a"):
            pass
    assert len(lines()) == 3
    assert lines()[1]["segment"] == "x"


def test_a_clock_that_goes_backwards_is_an_error(path: Path, lines) -> None:
    with SnapshotRecorder(path, clock=ticking(5, 4, 7, 6, 6)) as recorder:
        with pytest.raises(ClockError), recorder.update("x", 1):
            pass
        # The call returned: only its time is not known.
        with pytest.raises(ClockError), recorder.update("x", 2):
            pass
        # The next call would begin before the last event: it does not begin.
        with pytest.raises(ClockError), recorder.update("x", 3):
            raise AssertionError("the call must not begin")
    assert [line.get("time") for line in lines()] == [None, 5, None, 7, None]
    assert [line.get("event") for line in lines()[1:]] == ["invoke", "ok"] * 2
    with SnapshotRecorder(path, clock=ticking(5, 5)) as recorder, recorder.update("x", 1):
        pass
    assert [line.get("time") for line in lines()] == [None, 5, 5]


def test_a_thread_has_one_operation_at_a_time(path: Path, lines) -> None:
    with SnapshotRecorder(path) as recorder, recorder.update("x", 1):
        with pytest.raises(RecordingError, match="has an open operation"):
            with recorder.update("x", 2):
                pass
        with recorder.update("x", 3, process="helper"):
            pass
    own = threading.current_thread().name
    assert [line["process"] for line in lines()[1:]] == [own, "helper", "helper", own]


def test_a_mistyped_keyword_is_refused(path: Path) -> None:
    with SnapshotRecorder(path) as recorder:
        with pytest.raises(TypeError, match="an operation has no 'proces'"):
            recorder.update("x", 1, proces="web-1")  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="the key"):
            recorder.scan(object=1.5)  # type: ignore[arg-type]


def test_an_operation_happens_once(path: Path) -> None:
    with SnapshotRecorder(path) as recorder:
        update = recorder.update("x", 1)
        with update:
            pass
        with pytest.raises(RecordingError, match="happens once"), update:
            pass


def test_a_closed_recorder_records_nothing(path: Path, lines) -> None:
    with SnapshotRecorder(path) as recorder:
        update = recorder.update("x", 1)
        update.__enter__()
    with pytest.raises(RecordingError, match="is closed"):
        update.__exit__(None, None, None)
    with pytest.raises(RecordingError, match="is closed"), recorder.update("x", 1):
        pass
    recorder.close()
    assert len(lines()) == 2


def test_names_of_tasks_that_ended_are_given_to_later_ones(path: Path, lines, judge) -> None:
    async def client(recorder: SnapshotRecorder, value: int) -> None:
        with recorder.update("x", value):
            await asyncio.sleep(0)

    async def all_clients(recorder: SnapshotRecorder) -> None:
        for turn in range(50):
            await asyncio.gather(*(client(recorder, 3 * turn + part) for part in range(3)))

    with SnapshotRecorder(path) as recorder:
        asyncio.run(all_clients(recorder))
    events = lines()[1:]
    assert len(events) == 300
    used = {event["process"] for event in events}
    assert len(used) <= 6
    told = {event["comment"]["process"] for event in events if "comment" in event}
    assert len(used | told) == 150
    assert judge(path)[0] == 0
