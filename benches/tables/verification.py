"""Tables 1 and 2 of the DISC 2022 paper: which bound on operations per process can be explored
within the limits, for each algorithm, n and method.

As the paper, with the pair (0, 1) only, but for the command as a user gives it, which is about all
pairs. A method is asked without a bound first. PAT's, if that exceeds the limits, climbs: 1, 2, 3,
... operations per process, until one exceeds them, nothing new is reached, or a bug is found with
the largest bound that the paper reports for any method.
"""

import json
import math
from collections import namedtuple

from measure import Question, Told, program
from record import published
from text import Grid, bold, memory, names, number, time

# `bounds`: the options of an answer about any number of operations, or None of a method that climbs.
Method = namedtuple("Method", "name about is_ours arguments bounds is_for_bugs", defaults=(False,))
PAIR = ["--pairs", "0,1", "--method", "exploration"]
REFINEMENT = ["--method", "refinement", "--executions"]
METHODS = [
    Method("check", "`check ALGORITHM -n N`, all pairs, with the part of it that answered: a proof "
           "for every n, the search, or the search with growing bounds", True, [], []),
    Method("unbounded", "`check --operations none`: breadth-first, no bound, all reductions",
           True, PAIR, ["--operations", "none"]),
    Method("growing", "`check --operations grow`: small bounds and few processes first, in the end "
           "none", True, PAIR, ["--operations", "grow"], True),
    Method("bounded", "`check --operations B`: the largest B that is explored to the end",
           True, PAIR, None),
    Method("refinement-simple", "`check --method refinement --executions simple`: PAT's method, "
           "simple executions", False, [*REFINEMENT, "simple", "--pairs", "0,1"], None),
    Method("refinement-full", "`check --method refinement --executions full`: PAT's method, all "
           "executions over two values", False, [*REFINEMENT, "full", "--values", "2"], None),
]
OURS = [method.name for method in METHODS if method.is_ours]
PUBLISHED = ["normal", "simple", "polynomial"]
# The paper does not say what its bugs are.
BUGS = {"bowman": "early_exit", "jayanti": "plain_ss", "afek_bounded": "no_negation",
        "afek_unbounded": "no_increment", "riany": "early_count"}
TITLES = {1: "Table 1: bug detection", 2: "Table 2: verification"}
PATIENCE = 60.0


def methods(table):
    return [method for method in METHODS if table == 1 or not method.is_for_bugs]


def cells(table):
    """The figures of the paper, by algorithm and n."""
    found = {}
    for cell in published(f"disc2022-table{table}"):
        key = (cell["algorithm"], int(cell["processes"]))
        found.setdefault(key, {})[cell["method"]] = cell
    return found


def group(cell):
    return f"{cell[0]}, n = {cell[1]}"


def depth(bound):
    return math.inf if bound in (None, "unbounded") else float(bound)


def measure(table):
    """Quick: n = 3 and bowman."""

    def ask(measuring, options):
        figures = cells(table)
        wanted = [cell for cell in figures if not options.quick or cell == ("bowman", 3)]
        for cell in measuring.each(wanted, group):
            bounds = [figure["bound"] for figure in figures[cell].values()]
            largest = max((float(b) for b in bounds if b not in ("", "unbounded")), default=1)
            ask_row(measuring, table, cell, largest)

    return ask


def ask_row(measuring, table, cell, largest):
    def ask(method, bound, operations):
        case = group(cell) + (f", {bound} operations each" if bound else "")
        # Few operations may be too few for a bug.
        expected = "linearizable" if table == 2 else "" if bound else "violation"
        bug = ["--bug", BUGS[cell[0]]] if table == 1 else []
        arguments = ["check", cell[0], "-n", str(cell[1]), *bug, *method.arguments, *operations]
        question = Question(case, group(cell), bound and float(bound), expected)
        return ask_verifier(measuring, question, method.name, arguments)

    def is_answer(record):
        return record is not None and record.is_answer

    is_answered = False
    for method in methods(table):
        if method.bounds is not None:
            answer = is_answer(ask(method, None, method.bounds))
            is_answered |= method.is_ours and answer
            continue
        # What is known of any number of operations need not be climbed to.
        if method.is_ours and is_answered:
            continue
        if not method.is_ours:
            record = ask(method, None, ["--operations", "none"])
            if record is None or record.is_answer:
                continue
        bound, reached = 1, None
        while True:
            record = ask(method, bound, ["--operations", str(bound)])
            if not is_answer(record) or record.states == reached:
                break
            if record.outcome == "violation" and bound >= largest:
                break
            bound, reached = bound + 1, record.states


def ask_verifier(measuring, question, method, arguments):
    """With a budget of memory of its own well within the limit, so that it ends by itself."""
    verifier = program(measuring.options, "snapshot-verify")
    budget = str(measuring.limits(method)[1] // 4 * 3)
    command = [verifier, *arguments, "--memory", budget, "--report", "json"]
    return measuring.ask(question, method, command, report)


def report(ended):
    """What `check` tells of its pairs, together."""
    # Refinement of programs that count, without a bound on operations, is no question.
    if not ended["output"] and "infinitely many states" in ended["errors"]:
        return Told("none")
    *pairs, summary = [json.loads(line) for line in ended["output"].splitlines()]
    outcomes = [pair_outcome(pair) for pair in pairs]
    worst = next((one for one in ("violation", "time", "memory", "none") if one in outcomes),
                 "linearizable")
    # What is like another pair was not explored.
    explored = [pair for pair in pairs if "like" not in pair]
    states, transitions = (
        sum(pair[name] for pair in explored) if all(name in pair for pair in explored) else None
        for name in ("states", "transitions"))
    answered = [pair for pair in pairs if pair_outcome(pair) in ("linearizable", "violation")]
    by = part(answered[-1]) if answered else ""
    return Told(worst, summary["summary"]["seconds"], states, transitions, by)


def pair_outcome(pair):
    known = {"verified": "linearizable", "violation": "violation"}
    if pair["verdict"] in known:
        return known[pair["verdict"]]
    cause = pair.get("cause")
    return cause if pair["verdict"] == "unknown" and cause in ("memory", "time") else "none"


def part(pair):
    """The part of the command that answered."""
    if pair.get("method") == "proof":
        return "proof"
    scope = pair.get("scope") or [{}]
    return "growing" if scope[0].get("operations") is not None else "search"


def full(table):
    def parts(records, _):
        figures = cells(table)
        rows = [(cell, [record for record in records if record.group == group(cell)])
                for cell in figures]

        def ours(method):
            return lambda row: bold(own_cell(method, row[1]), method.is_ours
                                    and is_short(figures[row[0]], row[1]))

        def theirs(name):
            return lambda row: figure(figures[row[0]].get(name))

        columns = [("algorithm", lambda row: title(table, row[0][0])),
                   ("n", lambda row: str(row[0][1]))]
        columns += [(method.name, ours(method)) for method in methods(table)]
        columns += [("published: " + name, theirs(name)) for name in PUBLISHED]
        within = "ten minutes" if table == 1 else "an hour"
        about = (f"## DISC 2022, {TITLES[table]}\n\nThe largest bound on operations per process "
                 "that was explored for the pair (0,1), and the time and memory for it; ∞: any "
                 f"number. Published: PAT, within {within}, on another machine; here, within "
                 f"{limits(records)}. Bold: ours, where it does not reach a published bound, or "
                 "takes longer for one at least as large. Where an answer is about any number of "
                 "operations, there was no need to bound them.\n\n")
        legend = "".join(f"* {method.name}: {method.about}.\n" for method in methods(table))
        return [about, Grid(columns, rows), "\n", sums(records) if table == 1 else "", legend]

    return parts


def title(table, algorithm):
    return f"{algorithm}, {BUGS[algorithm]}" if table == 1 else algorithm


def limits(records):
    """The limits of the runs, and the methods that had each of them."""
    told = {}
    for method in METHODS:
        mine = [record for record in records if record.method == method.name]
        if mine:
            limit = f"{time(mine[-1].time_limit)} and {memory(mine[-1].memory_limit)}"
            told.setdefault(limit, []).append(method.name)
    if len(told) == 1:
        return next(iter(told))
    return ", ".join(f"{limit} ({', '.join(named)})" for limit, named in told.items())


def sums(records):
    """In how many rows each method finds the bug."""
    rows = cells(1)
    groups = {group(cell) for cell in rows}

    def found(method):
        return len({record.group for record in records if record.method == method.name
                    and record.outcome == "violation" and record.group in groups})

    def theirs(name):
        return sum(bool(row[name]["bound"]) for row in rows.values())

    return (f"Bugs found, of {len(rows)}: {', '.join(f'{m.name} {found(m)}' for m in METHODS)}. "
            f"Published: {', '.join(f'{name} {theirs(name)}' for name in PUBLISHED)}. "
            f"Rows measured: {len(groups & {record.group for record in records})}.\n\n")


def is_short(figures, own):
    """Whether some figure is not reached by an answer of ours as deep, in less time."""
    def beats(record, cell):
        return (record.method in OURS and record.is_right and record.work < float(cell["seconds"])
                and depth(record.x) >= depth(cell["bound"]))

    published_cells = [cell for cell in figures.values() if cell["bound"]]
    return bool(own) and not all(any(beats(record, cell) for record in own)
                                 for cell in published_cells)


def deepest(records):
    """Of the answers, the last of those with the largest bound."""
    answers = [record for record in records if record.is_answer]
    return max(reversed(answers), key=lambda record: depth(record.x), default=None)


def own_cell(method, own):
    mine = [record for record in own if record.method == method.name]
    found = deepest(mine)
    if found:
        by = f" ({found.by})" if found.by and not method.arguments else ""
        violation = ", violation" if found.outcome == "violation" else ""
        return f"{reached(found)}, {memory(found.peak_bytes)}{violation}{by}"
    if mine:
        last = mine[-1]
        limit = memory(last.memory_limit) if last.outcome == "memory" else time(last.time_limit)
        return "more than " + limit
    return "-" if own else "not measured"


def reached(record):
    return f"{number(record.x) if record.x else '∞'}, {time(record.work)}"


def figure(cell):
    if not cell or not cell["bound"]:
        return "-"
    return f"{published_bound(cell)}, {number(cell['gigabytes'])} GB"


def published_bound(cell):
    bound = "∞" if cell["bound"] == "unbounded" else cell["bound"]
    return f"{bound}, {number(cell['seconds'])} s"


def brief(table):
    """A row per algorithm, a column per n: the fastest of our deepest answers, and the deepest
    figure of the paper."""

    def parts(records, _):
        figures = cells(table)
        sizes = sorted({n for _, n in figures})

        def cell(n):
            def both(algorithm):
                own = [record for record in records if record.group == group((algorithm, n))]
                answers = [record for record in own if record.method in OURS and record.is_right]
                best = min(answers, default=None, key=lambda r: (-depth(r.x), r.work))
                theirs = [one for one in figures[algorithm, n].values() if one["bound"]]
                theirs.sort(key=lambda one: (-depth(one["bound"]), float(one["seconds"])))
                mine = reached(best) if best else "-" if own else "not measured"
                is_bold = best is None or is_short(figures[algorithm, n], own)
                return f"{bold(mine, is_bold)}; {published_bound(theirs[0]) if theirs else '-'}"

            return both

        columns = [("algorithm" + (", bug" if table == 1 else ""), lambda name: title(table, name))]
        columns += [(f"n = {n}", cell(n)) for n in sizes]
        caption = ("The largest bound on operations per process (∞: any number) and the seconds for "
                   f"it; first ours, the best of the methods of this project within {limits(records)}, "
                   "then the best that the paper reports of PAT, within ten minutes. Bold: ours does "
                   "not reach it." if table == 1 else
                   f"As Table 1; ours within {limits(records)}, PAT within an hour.")
        about = f"## DISC 2022, {TITLES[table]}\n\n{caption}\n\n"
        found = "\n" + sums(records).strip() + "\n" if table == 1 else ""
        return [about, Grid(columns, names(figures, lambda cell: cell[0])), found]

    return parts
