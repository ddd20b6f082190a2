"""Recordings of atomic snapshots: rows of a table, keys of a store, segments of an object."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, Unpack

from .journal import Target
from .operation import Command, Of, Query
from .recorder import Fields, Recorder, Writer, monotonic
from .segments import Declaration, Segment, Segments
from .values import Value, checked

Values: TypeAlias = Mapping[str, Value] | Mapping[int, Value] | Sequence[Value]
"""Values by segment, or one value for each declared segment, in order."""


class SnapshotRecorder(Recorder):
    """Records updates of one segment each, and scans of all or some segments.

    `segments` are names with initial values (`{"x": 0, "y": 0}`), names (initially 0), or their
    number; without it, names are taken as they come.

    An exception of one of the types `failures` means that an operation had no effect. `clock`
    replaces the monotonic clock of the system.
    """

    def __init__(
        self,
        target: Target,
        segments: Declaration = None,
        *,
        failures: tuple[type[BaseException], ...] = (),
        clock: Callable[[], int] | None = None,
    ) -> None:
        self._segments = Segments(segments)
        header: dict[str, object] = {"segments": self._segments.declared}
        if self._segments.initial:
            header["initial"] = self._segments.initial
        header["writers"] = "many"
        super().__init__(target, header, failures, monotonic(clock))

    def update(
        self,
        segment: Segment,
        value: Value,
        **of: Unpack[Of],
    ) -> Command:
        """An update of one segment, of a client and an object (`Of`)."""
        self._segments.check(segment)
        value = checked(value, f"update of {segment!r}")

        def invocation() -> Fields:
            self._segments.note(segment)
            return {"operation": "update", "segment": segment, "value": value}

        return Command(self, invocation, of)

    def scan(self, **of: Unpack[Of]) -> Query[Values]:
        """A scan of all segments or of some: those that `returned` names."""
        return Query(self, lambda: {"operation": "scan"}, self._result, of)

    def _result(self, values: Values) -> Writer:
        if isinstance(values, (str, bytes)) or not isinstance(values, (Mapping, Sequence)):
            raise TypeError(f'{values!r}: a scan returns values by segment, such as {{"x": 5}}')
        if isinstance(values, Mapping):
            by_segment: dict[Segment, Value] = {segment: value for segment, value in values.items()}
        else:
            by_segment = self._segments.of_all(values)
        for segment, value in by_segment.items():
            self._segments.check(segment)
            by_segment[segment] = checked(value, f"scan of {segment!r}")

        def result() -> Fields:
            for segment in by_segment:
                self._segments.note(segment)
            return {"values": {str(segment): value for segment, value in by_segment.items()}}

        return result
