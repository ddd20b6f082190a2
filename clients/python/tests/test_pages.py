"""The code on the pages runs, and ends as they say."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


def blocks(page: Path) -> list[str]:
    """Returns the blocks of Python on a page."""
    parts = page.read_text().split("```python\n")[1:]
    # Within a list, a block is indented.
    return [textwrap.dedent(part.partition("```")[0].rstrip(" ")) for part in parts]


def test_the_page_of_the_package(tmp_path: Path, judge: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    snapshot, queue = blocks(ROOT / "README.md")
    exec(snapshot, {})
    assert judge(tmp_path / "run.jsonl")[0] == 0
    exec(queue, {})
    assert judge(tmp_path / "queue.jsonl", "--object", "queue")[0] == 0


def test_the_example_of_the_module(tmp_path: Path, judge: Any, monkeypatch: Any) -> None:
    import snapshot_recorder

    monkeypatch.chdir(tmp_path)
    (example,) = blocks(Path(snapshot_recorder.__file__))
    exec(example, {})
    assert judge(tmp_path / "run.jsonl")[0] == 0


@pytest.mark.postgresql
def test_the_tutorial(postgres: Any, tmp_path: Path, judge: Any, monkeypatch: Any) -> None:
    page = ROOT.parent.parent / "docs" / "tutorials" / "database.md"
    if not page.exists():
        pytest.skip("the package stands alone: there is no tutorial")
    _, server = postgres
    monkeypatch.chdir(tmp_path)
    for name, value in [
        ("PGHOST", "127.0.0.1"),
        ("PGPORT", str(server.port)),
        ("PGUSER", "postgres"),
        ("PGDATABASE", "postgres"),
    ]:
        monkeypatch.setenv(name, value)
    program, *cures = blocks(page)
    assert len(cures) == 2
    recording = tmp_path / "rows.jsonl"

    def answer(program: str) -> int:
        exec(program, {})
        code, report = judge(recording)
        assert "400 operations, 4 processes" in report, report
        return code

    # The first run almost surely shows it.
    assert any(answer(program) == 1 for _ in range(10))
    start = program.index("def read(db):")
    end = program.index("def client(number):")
    for cure in cures:
        assert answer(program[:start] + cure + "\n\n" + program[end:]) == 0
