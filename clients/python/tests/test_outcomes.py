"""Outcomes: a call that returned, one that had no effect, and one that nobody knows."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from snapshot_recorder import RecordingError, SnapshotRecorder


class RolledBackError(Exception):
    """A failure that certainly had no effect."""


@pytest.mark.parametrize(
    "error", [ConnectionError("reset"), TimeoutError(), KeyboardInterrupt(), SystemExit(1)]
)
def test_an_exception_leaves_the_outcome_unknown_and_is_raised(path: Path, lines, error) -> None:
    with SnapshotRecorder(path) as recorder:
        with pytest.raises(type(error)), recorder.update("x", 5):
            raise error
        with pytest.raises(type(error)), recorder.scan() as scan:
            scan.returned({"x": 5})
            raise error
    assert [line["event"] for line in lines()[1:]] == ["invoke", "unknown"] * 2
    assert "values" not in lines()[-1]
    assert lines()[-1]["comment"]["reason"] == f"{type(error).__name__}: {error}"


def test_failures_are_named_by_type_or_stated(path: Path, lines) -> None:
    with SnapshotRecorder(path, failures=(RolledBackError,)) as recorder:
        with pytest.raises(RolledBackError), recorder.update("x", 1):
            raise RolledBackError
        with recorder.update("x", 2) as update:
            update.failed("no such row")
        with pytest.raises(ConnectionError), recorder.update("x", 3) as update:
            update.failed()
            raise ConnectionError
        with recorder.scan() as scan:
            scan.failed()
        with recorder.update("x", 4) as update:
            update.unknown("time-out")
    assert [line["event"] for line in lines()[2::2]] == ["fail"] * 4 + ["unknown"]
    reasons = [line.get("comment", {}).get("reason") for line in lines()[2::2]]
    assert reasons == ["RolledBackError: ", "no such row", "ConnectionError: ", None, "time-out"]


def test_an_unknown_update_may_be_seen_or_not_but_not_seen_and_missed(path: Path, judge) -> None:
    for later, code in [([0, 0], 0), ([0, 5], 0), ([5, 5], 0), ([5, 0], 1), ([7], 1)]:
        with SnapshotRecorder(path, {"x": 0}) as recorder:
            with pytest.raises(TimeoutError), recorder.update("x", 5):
                raise TimeoutError
            for value in later:
                with recorder.scan() as scan:
                    scan.returned({"x": value})
        assert judge(path)[0] == code, later


def test_a_failed_update_is_never_seen(path: Path, judge) -> None:
    for later, code in [(0, 0), (5, 1)]:
        with SnapshotRecorder(path, {"x": 0}) as recorder:
            with recorder.update("x", 5) as update:
                update.failed()
            with recorder.scan() as scan:
                scan.returned({"x": later})
        assert judge(path)[0] == code, later


def test_a_scan_without_a_result_is_a_mistake(path: Path, lines) -> None:
    with SnapshotRecorder(path) as recorder:
        with pytest.raises(RecordingError, match="without `returned`"), recorder.scan():
            pass
        # The thread is free.
        with recorder.update("x", 5):
            pass
    assert [line["event"] for line in lines()[1:]] == ["invoke", "unknown", "invoke", "ok"]


def test_a_task_that_is_cancelled_loses_its_outcome(path: Path, lines) -> None:
    async def client(recorder: SnapshotRecorder) -> None:
        with recorder.update("x", 5):
            await asyncio.sleep(60)

    async def cancelling(recorder: SnapshotRecorder) -> None:
        task = asyncio.create_task(client(recorder))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with SnapshotRecorder(path) as recorder:
        asyncio.run(cancelling(recorder))
    assert [line["event"] for line in lines()[1:]] == ["invoke", "unknown"]
    assert lines()[2]["comment"]["reason"].startswith("CancelledError")


def test_a_reason_that_is_not_unicode_is_told_all_the_same(path: Path, lines) -> None:
    with SnapshotRecorder(path) as recorder, pytest.raises(OSError), recorder.update("x", 5):
        raise OSError("\ud800")
    assert lines()[2]["comment"]["reason"] == "OSError: \\ud800"
