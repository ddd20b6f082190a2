"""Measuring: every run is a process of its own, within limits of time and memory."""

import collections
import json
import os
import subprocess
import sys
import time

from record import Record, Store

Question = collections.namedtuple("Question", "case group x expected", defaults=(None, ""))
Told = collections.namedtuple("Told", "outcome seconds states transitions by")
Told.__new__.__defaults__ = (None, None, None, "")


def outcome(is_linearizable):
    return {True: "linearizable", False: "violation", None: "none"}[is_linearizable]


def program(options, name):
    """A program of the project, which must be built."""
    path = os.path.join(options.programs, name)
    if not os.path.exists(path):
        sys.exit(f"there is no {path}; build it: cargo build --release -p {name}")
    return path


def within(own, seconds, memory, command):
    """Runs a command within limits: how it ended, its outputs, and its cost."""
    limits = ["--seconds", str(seconds), "--memory", str(memory)]
    child = subprocess.run([own, "within", *limits, "--", *command], stdout=subprocess.PIPE,
                           check=True)
    return json.loads(child.stdout)


class Measuring:
    """A table while it is measured. A run that is recorded already is not repeated with
    `--resume`."""

    def __init__(self, options, table, patience):
        self.options = options
        self.store = Store(options.record, table, options.resume)
        self.patience = 2.0 if options.quick else patience
        self.exceeded = collections.Counter()
        self.begun = time.monotonic()
        self.row = ""
        self.own = program(options, "benches")

    def limits(self, method):
        """Seconds, and bytes of address space."""
        usual = self.options.time_limit or self.patience
        return dict(self.options.limit).get(method, usual), int(self.options.memory_limit * 2**30)

    def each(self, rows, name=str):
        """Says on standard error which row is next, of how many."""
        rows = list(rows)
        for number, row in enumerate(rows, 1):
            self.row = f"[{number}/{len(rows)}]"
            minutes = int(time.monotonic() - self.begun) // 60
            print(f"row {number} of {len(rows)}: {name(row)}; {minutes} min so far", file=sys.stderr)
            yield row

    def ask(self, question, method, command, read):
        """The record of a command that answers a question, which is run unless it is recorded
        already; None if the method is not asked: it is not wanted, or has given up on the row.
        `read` makes a `Told` of what a command printed that ended by itself."""
        options, row = self.options, (question.group, method)
        if options.only and method not in options.only:
            return None
        record = self.store.find(question.case, method, self.limits(method))
        if record is None:
            if self.exceeded[row] >= options.give_up:
                return None
            record = self.run(question, method, command, read)
        self.exceeded[row] += record.outcome in ("time", "memory")
        return record

    def run(self, question, method, command, read):
        ended = within(self.own, *self.limits(method), command)
        try:
            told = Told(ended["exceeded"]) if ended["exceeded"] else read(ended)
        except (ValueError, LookupError, TypeError) as error:
            said = ended["output"] + ended["errors"]
            sys.exit(f"{method} on {question.case} ended with {ended['code']} and said: {said} ({error})")
        return self.add(question, method, told, ended)

    def add(self, question, method, told, cost):
        """Records a run, or a part of one."""
        record = Record(
            self.store.session, question.case, question.group, question.x, method, told.by,
            told.outcome, question.expected, told.seconds, cost["wall_seconds"],
            cost["cpu_seconds"], cost["peak_bytes"], told.states, told.transitions,
            *self.limits(method))
        self.store.add(record)
        mebibytes = record.peak_bytes / 2**20
        print(f"{self.row} {method:<14} {record.case:<44} {record.outcome} {record.work:.6f} s, "
              f"{mebibytes:.1f} MiB", file=sys.stderr)
        return record
