"""Errors of recorders."""

from __future__ import annotations


class RecordingError(Exception):
    """A recorder was used in a way that no recording can express."""


class ClockError(RecordingError):
    """The clock went backwards, so the times of the recording cannot be trusted."""
