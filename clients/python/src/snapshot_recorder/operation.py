"""Operations as context managers: the invocation is recorded on entry, the response on exit."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Literal, Self, TypedDict, TypeVar

from .errors import RecordingError
from .processes import Process
from .values import Value, checked

if TYPE_CHECKING:
    from .recorder import Recorder, Writer

Returned = TypeVar("Returned")
Outcome = Literal["ok", "fail", "unknown"]


class Of(TypedDict, total=False):
    """Whose operation it is, and of which object."""

    process: str | None
    """The client, if it is not the running task or thread."""
    object: Value | None
    """The key of the object, if the recording has several."""


class Command:
    """An operation without a result, of the thread or task that enters it: an update, an enqueue.

    If the body ends, it responds; if the body raises, its outcome is *unknown* (it may take effect
    at any later time, or never), since an error of a client rarely tells that nothing happened.
    """

    def __init__(
        self,
        recorder: Recorder,
        invocation: Writer,
        of: Of,
    ) -> None:
        if strange := of.keys() - Of.__annotations__.keys():
            raise TypeError(f"an operation has no {min(strange)!r}: `process` and `object`")
        key = of.get("object")
        self._recorder = recorder
        self._invocation = invocation
        self._name = of.get("process")
        self._key: Hashable = None if key is None else checked(key, "the key")
        self._process: Process | None = None
        self._outcome: Outcome | None = None
        self._reason: str | None = None

    def failed(self, reason: str | None = None) -> None:
        """States that the operation certainly had and will have no effect, such as a transaction
        that was rolled back."""
        self._outcome, self._reason = "fail", reason

    def unknown(self, reason: str | None = None) -> None:
        """States that the outcome is unknown, such as a time-out that is returned, not raised."""
        self._outcome, self._reason = "unknown", reason

    def __enter__(self) -> Self:
        if self._process is not None:
            raise RecordingError("an operation happens once: make another one")
        self._process = self._recorder._invoke(self._invocation, self._name, self._key)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._process is not None, "it was entered"
        outcome, reason = self._outcome, self._reason
        if outcome is None:
            outcome = "ok"
            if error is not None:
                is_failure = isinstance(error, self._recorder._failures)
                outcome = "fail" if is_failure else "unknown"
        if error is not None and reason is None:
            reason = f"{type(error).__name__}: {error}"
        self._respond(outcome, reason)

    def _respond(self, outcome: Outcome, reason: str | None) -> None:
        self._end(outcome, dict, reason)

    def _end(self, outcome: Outcome, result: Writer, reason: str | None) -> None:
        assert self._process is not None, "it was entered"
        self._recorder._respond(self._process, self._key, outcome, result, reason)


class Query(Command, Generic[Returned]):
    """An operation with a result, which `returned` states before the body ends."""

    def __init__(
        self,
        recorder: Recorder,
        invocation: Writer,
        result: Callable[[Returned], Writer],
        of: Of,
    ) -> None:
        super().__init__(recorder, invocation, of)
        self._result = result
        self._answer: Writer | None = None

    def returned(self, value: Returned) -> None:
        """States the result. The response is recorded when the body ends: a transaction that
        cannot commit then has returned nothing."""
        self._answer = self._result(value)

    def _respond(self, outcome: Outcome, reason: str | None) -> None:
        if outcome != "ok":
            super()._respond(outcome, reason)
        elif self._answer is None:
            super()._respond("unknown", "no result was stated")
            raise RecordingError("the body ended without `returned`, so nothing is known")
        else:
            self._end(outcome, self._answer, reason)
