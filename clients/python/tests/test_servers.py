"""Real servers under load, killed or not: what is read at one instant is never accused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from load import Load
from servers import Server

SMALL = Load(clients=4, operations=40)


def is_found(example: Any, server: Server, reading: str, path: Path, judge: Any) -> bool:
    """Returns whether one of ten loads shows a violation: almost surely, the first does."""
    for seed in range(10):
        assert example.run(server, reading, path, Load(4, 40, seed=seed)) == 0
        code, report = judge(path)
        assert code in (0, 1), report
        if code == 1:
            return True
    return False


def check_one_instant(
    example: Any, server: Server, readings: tuple[str, str], path: Path, judge: Any
) -> None:
    for reading in readings:
        assert example.run(server, reading, path, SMALL) == 0
        code, report = judge(path)
        assert (code, "160 operations" in report) == (0, True), report


def check_killed(
    example: Any, server: Server, reading: str, kills: int, path: Path, judge: Any
) -> None:
    lost = example.run(server, reading, path, Load(4, 60, kills=kills))
    assert lost > 0
    code, report = judge(path)
    assert (code, f"{lost} pending" in report) == (0, True), report


@pytest.mark.redis
def test_redis_at_one_instant(redis: Any, path: Path, judge: Any) -> None:
    check_one_instant(*redis, ("mget", "multi"), path, judge)


@pytest.mark.redis
def test_redis_key_by_key(redis: Any, path: Path, judge: Any) -> None:
    assert is_found(*redis, "gets", path, judge)


@pytest.mark.redis
def test_redis_killed(redis: Any, path: Path, judge: Any) -> None:
    check_killed(*redis, "mget", 2, path, judge)


@pytest.mark.postgresql
def test_postgres_at_one_instant(postgres: Any, path: Path, judge: Any) -> None:
    check_one_instant(*postgres, ("one", "repeatable-read"), path, judge)


@pytest.mark.postgresql
def test_postgres_row_by_row(postgres: Any, path: Path, judge: Any) -> None:
    assert is_found(*postgres, "each", path, judge)


@pytest.mark.postgresql
def test_postgres_killed(postgres: Any, path: Path, judge: Any) -> None:
    check_killed(*postgres, "one", 1, path, judge)
