"""Recordings of other objects, for `snapshot-test check --object OBJECT`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Unpack

from .journal import Target
from .operation import Command, Of, Query
from .recorder import Fields, Recorder, Writer, monotonic
from .values import Result, Value, checked, checked_result


class ObjectRecorder(Recorder):
    """Records operations of any kind of object that `--object` knows, named as its page names them.

    Each operation may name its client and its object (`Of`).

    An exception of one of the types `failures` means that an operation had no effect. `clock`
    replaces the monotonic clock of the system.
    """

    def __init__(
        self,
        target: Target,
        kind: str,
        *,
        failures: tuple[type[BaseException], ...] = (),
        clock: Callable[[], int] | None = None,
    ) -> None:
        super().__init__(target, {"object": kind}, failures, monotonic(clock))

    def command(self, operation: str, *arguments: Value, **of: Unpack[Of]) -> Command:
        """An operation that returns nothing."""
        return Command(self, _invocation(operation, arguments), of)

    def query(
        self, operation: str, *arguments: Value, **of: Unpack[Of]
    ) -> Query[Result | Sequence[Result]]:
        """An operation with one result, or with a sequence of several; `None` is a missing one."""
        return Query(self, _invocation(operation, arguments), _result, of)

    def _value(self, operation: str, *arguments: Value, **of: Unpack[Of]) -> Query[Value]:
        return Query(self, _invocation(operation, arguments), _one(checked), of)

    def _optional(self, operation: str, *arguments: Value, **of: Unpack[Of]) -> Query[Value | None]:
        return Query(self, _invocation(operation, arguments), _one(_missing), of)

    def _truth(self, operation: str, *arguments: Value, **of: Unpack[Of]) -> Query[bool]:
        return Query(self, _invocation(operation, arguments), _one(_truth), of)


class _Named(ObjectRecorder):
    """A recorder of one kind of object, with a method for each operation."""

    _kind: ClassVar[str]

    def __init__(
        self,
        target: Target,
        *,
        failures: tuple[type[BaseException], ...] = (),
        clock: Callable[[], int] | None = None,
    ) -> None:
        super().__init__(target, self._kind, failures=failures, clock=clock)


class RegisterRecorder(_Named):
    """Records a register, at first 0."""

    _kind = "register"

    def write(self, value: Value, **of: Unpack[Of]) -> Command:
        """Writes a value."""
        return self.command("write", value, **of)

    def read(self, **of: Unpack[Of]) -> Query[Value]:
        """Returns the value."""
        return self._value("read", **of)


class CasRegisterRecorder(RegisterRecorder):
    """Records a register with compare-and-set, at first 0."""

    _kind = "cas-register"

    def cas(self, expected: Value, new: Value, **of: Unpack[Of]) -> Query[bool]:
        """Returns whether the value was `expected`, and is `new` now."""
        return self._truth("cas", expected, new, **of)


class QueueRecorder(_Named):
    """Records a queue, at first empty."""

    _kind = "queue"

    def enqueue(self, value: Value, **of: Unpack[Of]) -> Command:
        """Adds a value at the end."""
        return self.command("enqueue", value, **of)

    def dequeue(self, **of: Unpack[Of]) -> Query[Value | None]:
        """Removes and returns the first value; `None` if the queue is empty."""
        return self._optional("dequeue", **of)


class MapRecorder(_Named):
    """Records a map, at first empty: a key-value store."""

    _kind = "map"

    def get(self, key: Value, **of: Unpack[Of]) -> Query[Value | None]:
        """Returns the value of a key, or `None`."""
        return self._optional("get", key, **of)

    def put(self, key: Value, value: Value, **of: Unpack[Of]) -> Command:
        """Sets the value of a key."""
        return self.command("put", key, value, **of)

    def delete(self, key: Value, **of: Unpack[Of]) -> Command:
        """Removes a key, if it is there."""
        return self.command("delete", key, **of)

    def cas(self, key: Value, expected: Value, new: Value, **of: Unpack[Of]) -> Query[bool]:
        """Returns whether the value was `expected`, and is `new` now."""
        return self._truth("cas", key, expected, new, **of)


def _invocation(operation: str, arguments: Sequence[Value]) -> Writer:
    values = [checked(value, operation) for value in arguments]
    fields = {"operation": operation, **_values(values)}
    return lambda: fields


def _values(values: Sequence[Result]) -> Fields:
    if len(values) == 1:
        return {"value": values[0]}
    return {"values": list(values)} if values else {}


def _result(value: Result | Sequence[Result]) -> Writer:
    several = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    values: Sequence[object] = value if several else [value]  # type: ignore[assignment]
    fields = _values([checked_result(value, "the result") for value in values])
    return lambda: fields


def _one(
    check: Callable[[object, str], Result],
) -> Callable[[object], Writer]:
    def result(value: object) -> Writer:
        fields = {"value": check(value, "the result")}
        return lambda: fields

    return result


def _missing(value: object, place: str) -> Value | None:
    return None if value is None else checked(value, place)


def _truth(value: object, place: str) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{place}: {value!r} is neither True nor False")
    return value
