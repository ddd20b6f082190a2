"""Strong linearizability of the texts of corpus/strong, by their `expect` lines."""

import glob
import json
import os
import re

from measure import Question, Told, outcome, program
from record import FOLDER
from text import Grid, count, memory, time

PATIENCE = 120.0
QUICK = ["herlihy_wing", "one_cell_snapshot"]
LINE = re.compile(r"expect n = (\d+)(?:, operations (\d+|\([\d, ]+\)))?(?:, full, values (\d+))?: "
                  r"(not )?strongly linearizable\n")


def questions():
    """Algorithm, number of processes, operations of each, number of values and answer of each line."""
    for path in sorted(glob.glob(os.path.join(FOLDER, "..", "corpus", "strong", "*.snapshot"))):
        with open(path, encoding="utf-8") as file:
            for n, operations, values, no in LINE.findall(file.read()):
                name = os.path.splitext(os.path.basename(path))[0]
                yield name, n, operations.strip("()").replace(" ", ""), values, not no


def case(row):
    name, n, operations, values, _ = row
    return (f"{name}, n = {n}, " + (f"operations {operations}" if operations else "any operations")
            + (f", {values} values" if values else ""))


def measure(measuring, options):
    """Quick: two texts."""
    verifier = program(options, "snapshot-verify")
    rows = [row for row in questions() if not options.quick or row[0] in QUICK]
    for row in measuring.each(rows, case):
        name, n, operations, values, answer = row
        command = [verifier, "check", name, "--strong", "-n", n, "--operations", operations or "none"]
        command += ["--values", values] if values else []
        question = Question(case(row), name, None, outcome(answer))
        measuring.ask(question, "check", [*command, "--report", "json"], report)


def report(ended):
    told = json.loads(ended["output"])
    answer = {"strongly linearizable": True, "not strongly linearizable": False}
    answer = outcome(answer.get(told["verdict"]))
    return Told(answer, told["seconds"], told["positions"], told["edges"])


FEW = 100_000


def largest(records):
    """The record with the most positions of each text, in their order, unless these are few."""
    found = {}
    for record in records:
        known = found.get(record.group)
        if known is None or (record.states or 0) > (known.states or 0):
            found[record.group] = record
    return [record for record in found.values() if (record.states or 0) >= FEW]


def parts(records, _):
    columns = [
        ("text and scope", lambda record: record.case),
        ("answer", lambda record: {"linearizable": "yes", "violation": "no"}
         .get(record.outcome, record.outcome)),
        ("positions", lambda record: count(record.states or 0)),
        ("time", lambda record: time(record.work)),
        ("memory", lambda record: memory(record.peak_bytes)),
    ]
    about = ("## Strong linearizability\n\n`snapshot-verify check TEXT --strong`: of each text of "
             f"`corpus/strong` the largest scope of its `expect` lines, from {count(FEW)} positions "
             "on.\n\n")
    return [about, Grid(columns, largest(records))]
