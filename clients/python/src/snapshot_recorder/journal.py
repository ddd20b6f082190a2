"""The file of a recording: one line per event, in the order in which they were appended.

A line reaches the operating system before `append` returns, in one unbuffered write, so a program
that is killed leaves the lines of all events that it has passed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import BinaryIO, TypeAlias

from .errors import ClockError, RecordingError

Target: TypeAlias = "str | os.PathLike[str] | BinaryIO"
"""A file to create or overwrite, or an open binary stream such as `sys.stdout.buffer`."""

MOST_BYTES = 8 << 20
"""Readers refuse longer lines."""


class Journal:
    """A recording that grows. Its callers hold one lock, which also orders the clock's times."""

    def __init__(self, target: Target, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._time: int | None = None
        self._process = os.getpid()
        self._ending: str | None = None
        self._stream: BinaryIO | None = None
        self._file = -1
        if isinstance(target, (str, os.PathLike)):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
            flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
            self._file = os.open(target, flags, 0o644)
        else:
            self._stream = target

    def append(self, fields: Mapping[str, object]) -> None:
        """Appends one line without a time."""
        self._write(_line(fields))

    def append_at_once(self, fields: Mapping[str, object]) -> None:
        """Appends the line of an invocation, with the time.

        Raises `ClockError` if the clock went backwards; nothing is written then.
        """
        time = self._now()
        if time is None:
            raise ClockError(_BACKWARDS)
        self._write(_line({**fields, "time": time}))

    def append_response(self, fields: Mapping[str, object]) -> None:
        """Appends the line of a response, with the time.

        Raises `ClockError` if the clock went backwards. The line is written then, without a time:
        the operation has ended.
        """
        time = self._now()
        self._write(_line(fields if time is None else {**fields, "time": time}))
        if time is None:
            raise ClockError(_BACKWARDS)

    def close(self) -> None:
        """Ends the recording. A stream stays open."""
        if self._ending is None:
            self._ending = "the recorder is closed"
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _now(self) -> int | None:
        """Returns the time, or `None` if it is before that of an earlier line."""
        time = self._clock()
        if self._time is not None and time < self._time:
            return None
        self._time = time
        return time

    def _write(self, line: bytes) -> None:
        if self._ending is not None:
            raise RecordingError(self._ending)
        if os.getpid() != self._process:
            raise RecordingError(
                "the recorder belongs to the process that made it, not to one that was forked: "
                "make a recorder for each, and record to files of their own"
            )
        written = 0
        try:
            if self._stream is not None:
                self._stream.write(line)
                self._stream.flush()
            else:
                while written < len(line):
                    written += os.write(self._file, line[written:])
        except BaseException as error:
            # The line may be torn, so nothing may follow it.
            self._ending = f"the recording ended when a line could not be written: {error!r}"
            self._cut(written)
            raise

    def _cut(self, torn: int) -> None:
        """Removes the last `torn` bytes, if the target is a file."""
        if self._file >= 0 and torn:
            try:
                os.ftruncate(self._file, os.fstat(self._file).st_size - torn)
            except OSError:
                pass


_BACKWARDS = "the clock went backwards; use a monotonic one, such as time.monotonic_ns"


def _line(fields: Mapping[str, object]) -> bytes:
    line = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    if len(line) > MOST_BYTES:
        raise ValueError(f"an event of {len(line)} bytes, but readers take at most {MOST_BYTES}")
    return line
