"""Proofs for every n: the proof, its certificate, and the check of that."""

import json
import os
import tempfile

import verification
from measure import Question, Told, outcome, program
from record import published
from text import Grid, count, digits, memory, names, time

METHODS = {
    "proof": "`check ALGORITHM -n every`",
    "certificate": "`check ALGORITHM -n every --certificate FILE`, without the proof itself",
    "certify": "`certify ALGORITHM FILE`",
}
PATIENCE = 900.0


def algorithms():
    """Those of the paper, and one that is not in it."""
    return [*names(published("disc2022-table2"), lambda cell: cell["algorithm"]), "attiya_welch"]


def measure(measuring, options):
    """A part of a proof is recorded by the name of its rung; quick: bowman."""
    verifier = program(options, "snapshot-verify")
    wanted = ["bowman"] if options.quick else algorithms()
    with tempfile.TemporaryDirectory() as directory:
        for algorithm in measuring.each(wanted):
            question = Question(f"{algorithm}, every n", algorithm, None, "linearizable")
            check = [verifier, "check", algorithm, "-n", "every", "--report", "json"]
            parts = {}
            proof = measuring.ask(question, "proof", check, lambda ended: read(ended, parts))
            for rung, told in parts.items():
                cost = {"wall_seconds": told.seconds or 0.0, "cpu_seconds": told.seconds or 0.0}
                measuring.add(question, rung, told, {**cost, "peak_bytes": 0})
            if proof is None or proof.outcome != "linearizable":
                continue
            file = os.path.join(directory, algorithm)
            write = [*check, "--certificate", file]
            measuring.ask(question, "certificate", write, read_written)
            if os.path.exists(file):
                certify = [verifier, "certify", algorithm, "--report", "json", file]
                measuring.ask(question, "certify", certify, read_certified)


def read(ended, parts):
    """A proof; its parts that hold go to `parts`, of several guesses at rounds the first."""
    proof = json.loads(ended["output"].splitlines()[0])
    views = 0
    for part in proof["obligations"]:
        seen = sum(kind["views"] for kind in part["kinds"])
        views += seen
        if part["holds"]:
            parts.setdefault(part["rung"], Told("linearizable", part["seconds"], seen))
    known = {"verified": True, "violation": False, "fault": False}
    return Told(outcome(known.get(proof["verdict"])), proof["seconds"], views)


def read_written(ended):
    """A certificate; none if it could not be made."""
    lines = [json.loads(line) for line in ended["output"].splitlines()]
    written = next((line for line in lines if "bytes" in line), None)
    if written is None:
        return Told("none")
    return Told("linearizable", written["seconds"], written["views"], written["bytes"])


def read_certified(ended):
    certified = json.loads(ended["output"].splitlines()[0])
    known = {"accepted": True, "refused": False}
    views = (certified.get("proved") or {}).get("views")
    return Told(outcome(known.get(certified["answer"])), certified["seconds"], views)


TITLE = "## Every n\n\n"


def columns(records, sources):
    """All columns by their names; the rows are algorithms."""
    search, peers = sources("disc2022-table2"), sources("bowman")

    def cell(method, form):
        def shown(algorithm):
            found = [r for r in records if (r.group, r.method) == (algorithm, method)]
            return next((form(record) for record in found if record.is_right), "?")
        return shown

    def parts(algorithm):
        own = [r for r in records if r.group == algorithm and r.method not in METHODS]
        views = ["" if r.states is None else f", {count(r.states)}" for r in own]
        told = [f"{r.method}{seen}, {time(r.work)}" for r, seen in zip(own, views)]
        return "; ".join(told) or "?"

    def ratio(algorithm):
        own = {r.method: r for r in records if r.group == algorithm and r.is_right}
        both = "proof" in own and "certify" in own
        return digits(own["certify"].work / own["proof"].work) if both else "?"

    def paper(is_wanted):
        def largest(algorithm):
            cells = [c for c in published("disc2022-table2") if c["algorithm"] == algorithm]
            return str(max((int(c["processes"]) for c in cells if is_wanted(c)), default="-"))
        return largest

    def explored(runs, method):
        def largest(algorithm):
            solved = {r.group for r in runs if r.method == method and r.is_answer}
            sizes = [n for n in range(2, 21) if verification.group((algorithm, n)) in solved]
            return str(max(sizes, default="-"))
        return largest

    return {
        "algorithm": str,
        "obligations": parts,
        "views": cell("proof", lambda r: count(r.states)),
        "proof": cell("proof", lambda r: time(r.work)),
        "certificate: views": cell("certificate", lambda r: count(r.states)),
        "bytes": cell("certificate", lambda r: memory(r.transitions)),
        "made": cell("certificate", lambda r: time(r.work)),
        "checked": cell("certify", lambda r: time(r.work)),
        "checked / proof": ratio,
        "paper, ∞": paper(lambda c: c["bound"] == "unbounded"),
        "paper, bounded": paper(lambda c: c["bound"]),
        "Spin": explored(peers, "spin"),
        "stateright": explored(peers, "stateright"),
        "search, ∞": explored(search, "unbounded"),
    }


def rows(records):
    return [name for name in algorithms() if any(r.group == name for r in records)]


def full(records, sources):
    about = (
        "Proofs for every n, all pairs and any number of operations, from the texts of the corpus; "
        "their certificates, and the independent check of these. Views are the abstract states of "
        "the rungs (docs/every-n.md) that hold, each given by its views and time. On the right the "
        "largest n that others reach: the paper with any number of operations and with a bound "
        "(PAT, within an hour, on another machine, one pair), Spin and stateright where they were "
        "measured (any number of operations, one pair), and the search of this project, likewise. "
        "?: not proved within the limits.\n\n")
    legend = "".join(f"* {name}: {what}.\n" for name, what in METHODS.items())
    grid = Grid(list(columns(records, sources).items()), rows(records))
    return [TITLE, about, grid, "\n", legend]


def brief(records, sources):
    about = (
        "`check ALGORITHM -n every` proves all pairs and any number of operations; its certificate "
        "is checked by `certify`. On the right the largest n that others reach: the paper with any "
        "number of operations and with a bound, Spin, stateright and our search (any number, one "
        "pair). ?: not proved.\n\n")
    left = {"obligations", "views", "certificate: views", "made", "checked / proof"}
    shown = [column for column in columns(records, sources).items() if column[0] not in left]
    return [TITLE, about, Grid(shown, rows(records))]
