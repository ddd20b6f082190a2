"""Strong linearizability of the texts of corpus/strong, by their `expect` lines."""

import glob
import json
import os
import re

from measure import Question, Told, outcome, program
from record import FOLDER
from text import Grid, count, digits, memory, time

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


def parts(records, _):
    columns = [
        ("text and scope", lambda record: record.case),
        ("answer", lambda record: {"linearizable": "yes", "violation": "no"}
         .get(record.outcome, record.outcome)),
        ("positions", lambda record: count(record.states or 0)),
        ("time", lambda record: time(record.work)),
        ("CPU s, of the whole process", lambda record: digits(record.cpu_seconds)),
        ("memory", lambda record: memory(record.peak_bytes)),
    ]
    about = ("## Strong linearizability\n\nThe texts of `corpus/strong`, as their `expect` lines ask: "
             "`snapshot-verify check TEXT --strong`.\n\n")
    return [about, Grid(columns, records)]
