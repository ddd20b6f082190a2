"""Segments of a snapshot: names, or numbers if only their number was declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from .errors import RecordingError
from .values import Value, checked

Segment: TypeAlias = str | int
"""The name of a segment; its number, if only the number of segments was declared."""

Declaration: TypeAlias = Mapping[str, Value] | Sequence[str] | int | None
"""Names with initial values; names; a number of segments; or nothing: names as they come."""

MOST = 1 << 16
"""Readers refuse higher numbers."""


class Segments:
    """Numbers of segments. Its callers hold the recorder's lock."""

    def __init__(self, declared: Declaration) -> None:
        self.initial: list[Value] = []
        """Initial values, if they were declared."""
        self._names: dict[str, None] = {}
        """The names so far, in the order of their declaration or first occurrence."""
        self._count: int | None = None
        if isinstance(declared, str):
            raise TypeError(f'segments are names, not one text: ["{declared}"]')
        if isinstance(declared, int):
            self._count = declared
        elif declared is not None:
            for name in declared:
                self._declare(name)
            self._count = len(self._names)
            if isinstance(declared, Mapping):
                self.initial = [
                    checked(value, f"the initial value of {name!r}")
                    for name, value in declared.items()
                ]
        if self._count is not None and not 1 <= self._count <= MOST:
            raise ValueError(f"a snapshot has 1 to {MOST} segments, not {self._count}")

    def _declare(self, name: object) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{name!r}: a segment's name is a text")
        if name in self._names:
            raise ValueError(f"segment {name!r} is declared twice")
        self._names[name] = None

    @property
    def declared(self) -> int | list[str]:
        """What a header says: the number of segments, or the declared names."""
        if self._count is not None and not self._names:
            return self._count
        return [] if self._count is None else list(self._names)

    def check(self, segment: object) -> None:
        """Raises unless `segment` is declared or, without a declaration, can be a name."""
        if self._count is not None and not self._names:
            if not isinstance(segment, int) or isinstance(segment, bool):
                raise TypeError(f"segment {segment!r}: segments were declared by their number")
            if not 0 <= segment < self._count:
                raise RecordingError(f"segment {segment}: there are {self._count}, from 0")
        elif not isinstance(segment, str):
            raise TypeError(f"segment {segment!r}: a segment's name is a text")
        elif self._count is not None and segment not in self._names:
            names = list(self._names)
            raise RecordingError(f"segment {segment!r} is none of those declared: {names}")

    def note(self, segment: Segment) -> None:
        """Takes a checked segment that a line is about to name."""
        if isinstance(segment, str) and segment not in self._names:
            if len(self._names) == MOST:
                raise RecordingError(f"a snapshot has at most {MOST} segments")
            self._names[segment] = None

    def of_all(self, values: Sequence[Value]) -> dict[Segment, Value]:
        """Returns the values by segment, one for each that was declared."""
        if self._count is None:
            raise RecordingError('name the segments of a scan: returned({"x": 5})')
        if len(values) != self._count:
            raise RecordingError(f"{len(values)} values for {self._count} segments")
        names: Sequence[Segment] = list(self._names) or range(self._count)
        return dict(zip(names, values, strict=True))
