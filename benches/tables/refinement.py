"""FM 2009, Table 1: refinement checking of a register, a stack, queues and SNZI."""

import os
import tempfile

from measure import Question, outcome
from record import FOLDER, published
from text import Grid, bold, count, digits, median, number, time
from verification import ask_verifier

METHODS = {"without-por": "off", "with-por": "on"}
PATIENCE = 120.0
QUICK = ["4-valued register", "buggy queue of size 10"]


def case(row):
    """Two rows may be of one algorithm, for different n."""
    return f"{row['algorithm']}, n = {row['processes']}"


def asked(row):
    """The size of a row, the algorithm of the corpus, and the options besides n and partial order
    reduction; None of the mailbox, which the corpus lacks."""
    values = row["algorithm"].partition("-valued register")
    if values[1]:
        return int(values[0]), "register", f"--values {values[0]} --updater 0 --executions full"
    kind, _, size = row["algorithm"].partition(" of size ")
    size, points, _ = size.partition(" (points)")
    known = {
        "stack": ("linked_stack", f"--size {size} --values 1" + " --points" * bool(points)),
        # Behind a process that is late, nodes stay for ever: without a bound there are infinitely
        # many states.
        "queue": ("linked_queue", f"--size {size} --values 1 --operations {size}"),
        "buggy queue": ("array_queue",
                        f"--size {size} --values 1 --bug stale_front --operations grow"),
        "SNZI": ("snzi", "" if row["processes"] == "2" else "--operations 3"),
    }
    return (int(size), *known[kind]) if kind in known else None


def register(values):
    """The register of the corpus, which has four values, as its text says, with this many."""
    path = os.path.join(FOLDER, "..", "corpus", "algorithms", "register.snapshot")
    with open(path, encoding="utf-8") as file:
        text = file.read().partition("\nbug ")[0]
    return text.replace("..3", f"..{values - 1}") + "\n"


def measure(measuring, options):
    """All rows that can be asked; quick: two of them."""
    rows = [row for row in published("fm2009-table1") if asked(row)]
    rows = [row for row in rows if not options.quick or row["algorithm"] in QUICK]
    with tempfile.TemporaryDirectory() as directory:
        for row in measuring.each(rows, case):
            size, algorithm, further = asked(row)
            if algorithm == "register":
                algorithm = os.path.join(directory, f"register-{size}.snapshot")
                with open(algorithm, "w", encoding="utf-8") as file:
                    file.write(register(size))
            known = outcome(row["linearizable"] == "true")
            question = Question(case(row), case(row), float(size), known)
            for method, partial_order in METHODS.items():
                arguments = ["check", algorithm, "-n", row["processes"]]
                arguments += ["--partial-order", partial_order, *further.split()]
                ask_verifier(measuring, question, method, arguments)


TITLE = "## FM 2009, Table 1\n\n"
FULL = """\
Refinement checking of other objects: Liu, Chen, Liu and Sun's figures for PAT, on another machine,
and beside them those of `snapshot-verify check ALGORITHM`, all executions, with and without partial
order reduction (`--partial-order`, POR). Where no bound on operations stands there is none. The
models are not the same, so neither are the numbers of states: PAT's texts are not in the paper. Here
steps are accesses and nodes are collected; `--values 1`, since stacks and queues move values and
do not look at them; the queue is bounded to as many operations of each process as its size, as without
a bound a late process keeps nodes for ever; the buggy queue is bounded by 1, 2, ...; SNZI has two leaves,
and three operations of each of three processes; rows with points ask for `--points`. The mailbox is
not in the corpus. Bold: ours takes longer.

"""


def runs(records):
    return {(record.case, record.method): record for record in records}


def full(records, _):
    own = runs(records)

    def theirs(which):
        def shown(row):
            states, seconds = row[f"states_{which}_por"], row[f"seconds_{which}_por"]
            return f"{count(int(states))} states, {number(seconds)} s" if states else "-"
        return shown

    def ours(which):
        def shown(row):
            run, limit = own.get((case(row), f"{which}-por")), row[f"seconds_{which}_por"]
            if run is None:
                return "-"
            if not run.is_answer:
                return bold("more than " + time(run.time_limit), True)
            told = f"{count(run.states)} states, {time(run.work)}"
            return bold(told, bool(limit) and run.work > float(limit))
        return shown

    def command(row):
        return "`" + " ".join(asked(row)[1:]).strip() + "`" if asked(row) else "-"

    return [TITLE, FULL, Grid([
        ("object", lambda row: row["algorithm"]),
        ("processes", lambda row: row["processes"]),
        ("linearizable", lambda row: row["linearizable"]),
        ("published", theirs("without")),
        ("ours", ours("without")),
        ("published, with POR", theirs("with")),
        ("ours, with POR", ours("with")),
        ("asked", command),
    ], published("fm2009-table1"))]


def brief(records, _):
    """How many times faster than published."""
    own = runs(records)
    rows = [row for row in published("fm2009-table1") if asked(row)]
    pairs = [(own.get((case(row), "with-por")), float(row["seconds_with_por"])) for row in rows]
    ratios = [seconds / run.work for run, seconds in pairs if run and run.is_answer]
    return [TITLE, (
        f"Register, stack, queues and SNZI by refinement with partial order reduction: {len(ratios)} "
        f"of {len(rows)} rows are answered, from {digits(min(ratios))} to {digits(max(ratios))} "
        f"times (median {digits(median(ratios))}) as fast as PAT in the paper, on other models and "
        "another machine.\n" if ratios else "No row is answered.\n")]
