"""Values that a recording can hold: signed 64-bit integers and texts."""

from __future__ import annotations

from typing import TypeAlias

Value: TypeAlias = int | str
"""A value of a segment: a signed 64-bit integer or a text. `5` and `"5"` differ."""

Result: TypeAlias = int | str | bool | None
"""What an operation of another object takes or returns; `None` is a missing value."""

_CURES: dict[type, str] = {
    bool: "record 0 or 1",
    bytes: "decode it",
    float: "record an integer, or a text such as str(value)",
    type(None): "name the initial value, such as `value or 0`",
}


def checked(value: object, place: str) -> Value:
    """Returns `value` if it is a value of a segment.

    Raises `TypeError` or `ValueError`, which name `place` and the cure.
    """
    if isinstance(value, str):
        return _text(value, place)
    if isinstance(value, int) and not isinstance(value, bool):
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"{place}: {value} has more than 64 bits; record str(value)")
        return int(value)
    cure = _CURES.get(type(value), "record an integer or a text that stands for it")
    raise TypeError(f"{place}: {value!r} is neither an integer nor a text; {cure}")


def checked_result(value: object, place: str) -> Result:
    """Returns `value` if an operation of another object can take or return it."""
    if value is None or isinstance(value, bool):
        return value
    return checked(value, place)


def _text(value: str, place: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{place}: {value!r} is not Unicode text; record repr(value)") from None
    return str(value)
