"""Processes of a recording: one per thread, asyncio task, or given name.

A process has at most one open operation per object. A later thread or task goes on under the name
of one that has ended, so a recording has as many names as clients at a time. That orders operations
only as time did, so no verdict depends on it.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections import deque
from collections.abc import Hashable

from .errors import RecordingError

MOST = 1 << 20
"""Readers refuse more."""


class Process:
    """A process: its name, that of its thread or task, and the keys of its open operations."""

    __slots__ = ("is_told", "label", "name", "open")

    def __init__(self, name: str, label: str) -> None:
        self.name = name
        self.label = label
        self.open: set[Hashable] = set()
        self.is_told = name == label
        """True unless a line of the recording is to tell the name of its thread or task."""


class Processes:
    """All processes of a recording. Its callers hold the recorder's lock."""

    def __init__(self) -> None:
        self._named: dict[str, Process] = {}
        self._running: weakref.WeakKeyDictionary[object, Process] = weakref.WeakKeyDictionary()
        # Finalizers run anywhere, also while the lock is held: they only append.
        self._ended: deque[Process] = deque()
        self._names: set[str] = set()

    def current(self, name: str | None) -> Process:
        """Returns the process called `name`; without a name, that of the asyncio task that runs,
        else of the thread."""
        if name is not None:
            process = self._named.get(name)
            if process is None:
                process = self._named[name] = Process(self._fresh(name), name)
            return process
        owner = _owner()
        process = self._running.get(owner)
        if process is None:
            label = owner.get_name() if isinstance(owner, asyncio.Task) else owner.name
            process = Process(self._free(label), label)
            self._running[owner] = process
            weakref.finalize(owner, self._ended.append, process).atexit = False
        return process

    def _free(self, label: str) -> str:
        """Returns the name of a process that has ended, else a new one."""
        while self._ended:
            process = self._ended.popleft()
            # An operation that was never left is pending for ever.
            if not process.open:
                return process.name
        return self._fresh(label)

    def _fresh(self, label: str) -> str:
        """Returns this name, with a number behind it if another process has it."""
        if len(self._names) == MOST:
            raise RecordingError(f"a recording has at most {MOST} processes")
        name, number = label, 1
        while name in self._names:
            number += 1
            name = f"{label}#{number}"
        self._names.add(name)
        return name


def _owner() -> asyncio.Task[object] | threading.Thread:
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    return threading.current_thread() if task is None else task
