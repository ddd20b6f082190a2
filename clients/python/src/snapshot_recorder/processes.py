"""Processes of a recording: one per thread, asyncio task, or given name.

A process has at most one open operation per object. The number of a thread or task that has ended
is given to a later one. That orders operations only as time did, so no verdict depends on it.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections import deque
from collections.abc import Hashable

from .errors import RecordingError

MOST = 1 << 20
"""Readers refuse higher numbers."""


class Process:
    """A process: its number, its name, and the keys of its open operations."""

    __slots__ = ("is_named", "name", "number", "open")

    def __init__(self, number: int, name: str) -> None:
        self.number = number
        self.name = name
        self.open: set[Hashable] = set()
        self.is_named = False
        """True once a line of the recording tells its name."""


class Processes:
    """All processes of a recording. Its callers hold the recorder's lock."""

    def __init__(self) -> None:
        self._named: dict[str, Process] = {}
        self._running: weakref.WeakKeyDictionary[object, Process] = weakref.WeakKeyDictionary()
        # Finalizers run anywhere, also while the lock is held: they only append.
        self._ended: deque[Process] = deque()
        self._count = 0

    def current(self, name: str | None) -> Process:
        """Returns the process called `name`; without a name, that of the asyncio task that runs,
        else of the thread."""
        if name is not None:
            process = self._named.get(name)
            if process is None:
                process = self._named[name] = Process(self._number(), name)
            return process
        owner = _owner()
        process = self._running.get(owner)
        if process is None:
            label = owner.get_name() if isinstance(owner, asyncio.Task) else owner.name
            process = Process(self._number(), label)
            self._running[owner] = process
            weakref.finalize(owner, self._ended.append, process).atexit = False
        return process

    def _number(self) -> int:
        """Returns the number of a process that has ended, else the next one."""
        while self._ended:
            process = self._ended.popleft()
            # An operation that was never left is pending for ever.
            if not process.open:
                return process.number
        if self._count == MOST:
            raise RecordingError(f"a recording has at most {MOST} processes")
        self._count += 1
        return self._count - 1


def _owner() -> asyncio.Task[object] | threading.Thread:
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    return threading.current_thread() if task is None else task
