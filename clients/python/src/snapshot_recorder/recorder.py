"""What recorders of all objects share: the lock, the order of lines, and open operations."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Mapping
from types import TracebackType
from typing import Self, TypeAlias

from .errors import RecordingError
from .journal import Journal, Target
from .processes import Process, Processes

Fields: TypeAlias = Mapping[str, object]
"""Fields of a line."""

Writer: TypeAlias = Callable[[], Fields]
"""Makes the fields of a line, under the lock."""


class Recorder:
    """A recording of one execution, for threads and asyncio tasks alike.

    The line of an invocation is written, under one lock, before the call begins, and the line of
    its response after it returned. So the order of lines is an order of time: if an operation
    responded before another one was invoked, their lines say so.
    """

    def __init__(
        self,
        target: Target,
        header: Fields,
        failures: tuple[type[BaseException], ...],
        clock: Callable[[], int],
    ) -> None:
        self._lock = threading.Lock()
        self._processes = Processes()
        self._failures = failures
        self._is_keyed: bool | None = None
        self._journal = Journal(target, clock)
        self._journal.append({"snapshot-history": 1, **header, "processes": []})

    def close(self) -> None:
        """Ends the recording. Operations that are open stay pending."""
        with self._lock:
            self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _invoke(
        self,
        invocation: Writer,
        name: str | None,
        key: Hashable,
    ) -> Process:
        with self._lock:
            process = self._processes.current(name)
            if key in process.open:
                raise RecordingError(
                    f"{process.name!r} has an open operation; one that is concurrent to it needs "
                    'a thread, a task or a name of its own: process="client-2"'
                )
            if self._is_keyed is None:
                self._is_keyed = key is not None
            if self._is_keyed != (key is not None):
                raise RecordingError("all operations of a recording have a key, or none has")
            fields = invocation()
            # A process that goes on under the name of one that has ended tells its own.
            comment = {} if process.is_told else {"process": process.label}
            start = {"process": process.name, "event": "invoke"}
            self._journal.append_at_once(_line(key, {**start, **fields}, comment))
            process.is_told = True
            process.open.add(key)
            return process

    def _respond(
        self,
        process: Process,
        key: Hashable,
        outcome: str,
        result: Writer,
        reason: str | None,
    ) -> None:
        with self._lock:
            fields = result()
            comment: dict[str, object] = {}
            if reason is not None:
                comment["reason"] = reason.encode(errors="backslashreplace").decode()
            # The process is free, whatever happens to its line: without it, the operation is
            # pending in the recording, and the recording has ended.
            process.open.discard(key)
            start = {"process": process.name, "event": outcome}
            self._journal.append_response(_line(key, {**start, **fields}, comment))


def monotonic(clock: Callable[[], int] | None) -> Callable[[], int]:
    """Returns the given clock, else the monotonic one of the system, in nanoseconds."""
    if clock is not None:
        return clock
    if not time.get_clock_info("monotonic").monotonic:
        raise RecordingError("this system has no monotonic clock: pass one as `clock`")
    return time.monotonic_ns


def _line(key: Hashable, fields: Fields, comment: Fields) -> Fields:
    keyed = {} if key is None else {"key": key}
    return {**keyed, **fields, "comment": comment} if comment else {**keyed, **fields}
