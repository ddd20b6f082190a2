"""Fixtures: a recording's path, `snapshot-test` as its judge, and servers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from servers import NotInstalledError, Postgres, Redis, Server

Judge = Callable[..., tuple[int, str]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


@pytest.fixture(scope="session")
def program() -> str:
    """The program `snapshot-test`: that of `SNAPSHOT_TEST`, else the one on the path."""
    found = os.environ.get("SNAPSHOT_TEST") or shutil.which("snapshot-test")
    if found is None:
        pytest.skip("snapshot-test is neither on the path nor named by SNAPSHOT_TEST")
    return found


@pytest.fixture(scope="session")
def judge(program: str) -> Judge:
    """Runs `snapshot-test check`; returns the exit code and all that it printed."""

    def check(path: Path, *options: str) -> tuple[int, str]:
        command = [program, "check", *options, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return check


@pytest.fixture
def lines(path: Path) -> Callable[[], list[dict[str, Any]]]:
    """Reads the lines that the recording has at the moment, each of which must be whole."""

    def read() -> list[dict[str, Any]]:
        text = path.read_text()
        assert text.endswith("\n")
        return [json.loads(line) for line in text.split("\n")[:-1]]

    return read


def started(kind: type[Server]) -> Iterator[Server]:
    try:
        with kind() as server:
            yield server
    except NotInstalledError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def redis() -> Iterator[tuple[Any, Server]]:
    pytest.importorskip("redis", reason="the package redis is not installed")
    import redis_keys

    for server in started(Redis):
        yield redis_keys, server


@pytest.fixture(scope="session")
def postgres() -> Iterator[tuple[Any, Server]]:
    pytest.importorskip("psycopg", reason="the package psycopg is not installed")
    import postgres as example

    for server in started(Postgres):
        yield example, server
