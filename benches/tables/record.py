"""What was measured, as CSV: one file per table, and one of sessions.

A record is one run in a process of its own; a session is one run of a command, with what its
records share. Tables and plots are made from these files and from the published figures, which
have the same form.
"""

import csv
import os
import subprocess
import sys
import time
from dataclasses import dataclass, fields
from typing import Optional

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORDS = os.path.join(FOLDER, "record")
ANSWERS = ("linearizable", "violation")


@dataclass
class Record:
    """One run; `case` and `method` name it in its table, `group` is its row or its curve."""

    session: int
    case: str
    group: str
    x: Optional[float]
    method: str
    by: str
    outcome: str
    expected: str
    seconds: Optional[float]
    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int
    states: Optional[int]
    transitions: Optional[int]
    time_limit: float
    memory_limit: int

    @property
    def is_answer(self):
        """Whether it answered, rightly or wrongly; else the outcome is time, memory or none."""
        return self.outcome in ANSWERS

    @property
    def is_wrong(self):
        return self.is_answer and self.expected not in ("", self.outcome)

    @property
    def is_right(self):
        return self.is_answer and not self.is_wrong

    @property
    def work(self):
        """Seconds of the work alone, if the process told them, or else of the process."""
        return self.wall_seconds if self.seconds is None else self.seconds


COLUMNS = [field.name for field in fields(Record)]
WHOLE = {"session", "peak_bytes", "states", "transitions", "memory_limit"}
TEXT = {"case", "group", "method", "by", "outcome", "expected"}


def parsed(name, text):
    if name in TEXT:
        return text or ""
    return None if not text else int(text) if name in WHOLE else float(text)


def rows(path):
    """The rows of a CSV file, as dictionaries; none if there is no file."""
    if not os.path.exists(path):
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def published(name):
    """Figures as they are printed in a paper."""
    return rows(os.path.join(FOLDER, "published", name + ".csv"))


def file(folder, table):
    return os.path.join(folder, table + ".csv")


def read(folder, table):
    """All records of a table, in the order in which they were made."""
    path = file(folder, table)
    try:
        return [Record(*(parsed(name, row.get(name)) for name in COLUMNS)) for row in rows(path)]
    except ValueError as error:
        sys.exit(f"{path}: {error}; it is written by `tables`, and not for editing")


def latest(records, key=lambda record: (record.case, record.method)):
    """What was measured again takes the place of what was measured before."""
    kept = {}
    for record in records:
        kept[key(record)] = record
    return list(kept.values())


def append(path, columns, row):
    is_new = not os.path.exists(path)
    with open(path, "a", newline="", encoding="utf-8") as output:
        writer = csv.writer(output, lineterminator="\n")
        if is_new:
            writer.writerow(columns)
        writer.writerow(row)


class Store:
    """The records of one table, while a session adds to them. Each is on disk as soon as it is
    known, so a session may be stopped at any time."""

    def __init__(self, folder, table, resume):
        os.makedirs(folder, exist_ok=True)
        self.path = file(folder, table)
        self.records = []
        earlier = read(folder, table) if resume else []
        if os.path.exists(self.path):
            os.remove(self.path)
        for record in earlier:
            self.add(record)
        self.session = begin_session(folder)

    def add(self, record):
        append(self.path, COLUMNS, [getattr(record, name) for name in COLUMNS])
        self.records.append(record)

    def find(self, case, method, limits):
        """The answer to the same question within the same limits."""
        for record in self.records:
            same = (record.case, record.method, record.time_limit, record.memory_limit)
            if same == (case, method, *limits):
                return record
        return None


def begin_session(folder):
    """Notes when, where and on what a session begins; its number."""
    sessions = rows(file(folder, "sessions"))
    number = int(sessions[-1]["session"]) + 1 if sessions else 1
    commit = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    told = subprocess.run(commit, cwd=FOLDER, capture_output=True, text=True, check=False)
    values = {
        "session": number,
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": told.stdout.strip() or "unknown",
        "machine": machine(),
        "command": " ".join(["tables", *sys.argv[1:]]),
    }
    append(file(folder, "sessions"), list(values), list(values.values()))
    return number


def machine():
    """Processor, cores, memory."""

    def field(path, name):
        with open(path, encoding="utf-8") as lines:
            return next((line.split(":")[1].strip() for line in lines if line.startswith(name)), "")

    kibibytes = int((field("/proc/meminfo", "MemTotal") or "0").split()[0])
    processor = field("/proc/cpuinfo", "model name") or "unknown"
    return f"{processor}; {os.cpu_count()} cores; {round(kibibytes / 2**20)} GiB"
