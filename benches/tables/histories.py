"""Histories, judged by ours and by peers: the configurations of Tables 3 and 4 of the DISC 2022
paper, the hard corpus, many writers, and the growth with the length of a history."""

import json
import math
import os
import subprocess
import tempfile

from measure import Question, Told, outcome
from record import published
from text import MIB, Grid, Share, bold, digits, median, memory, number, time

METHODS = {
    "linear": "the linear-time conditions (`snapshot_core::check::decide`)",
    "monitor": "the same online (`snapshot_core::monitor`); its events one by one",
    "search": "exact search with narrowing (`snapshot_core::search::search`)",
    "plain-search": "exact search without narrowing (`snapshot_core::search::search_plainly`)",
    "generic": "the generic checker on its specification of snapshots (`snapshot_core::generic`)",
    "todc-utils": "todc-utils 0.1, `WGLChecker` with its own specification of snapshots",
    "stateright": "stateright 0.31, `LinearizabilityTester`",
}
PEERS = ["todc-utils", "stateright"]
# The monitor's time is that of reading, too; the others are baselines, which know no more than
# peers do.
JUDGED = ["linear", "search"]
PATIENCE = 10.0
PREFIXES = {3: "linearizable-", 4: "non_linearizable-"}
TITLES = {3: "Table 3: linearizable histories", 4: "Table 4: non-linearizable histories"}


def judge(measuring, question, method, recording):
    return measuring.ask(question, method, [measuring.own, "judge", method, recording], read_answer)


def read_answer(ended):
    # A Rust program that panicked: a peer does so on what it does not support.
    if ended["code"] == 101:
        return Told("none")
    answer = json.loads(ended["output"])
    return Told(outcome(answer["is_linearizable"]), answer["seconds"])


def family(measuring, options, name):
    """The questions of a family of recordings, which are written, and their files."""
    with tempfile.TemporaryDirectory() as directory:
        quick = ["--quick"] * options.quick
        command = [measuring.own, "write", name, directory, *quick]
        index = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        for listed in map(json.loads, index.splitlines()):
            case, x = listed["case"], listed["x"] and float(listed["x"])
            question = Question(case, listed["group"], x, outcome(listed["is_linearizable"]))
            yield question, os.path.join(directory, case)


def measure(name):
    def ask(measuring, options):
        for question, recording in family(measuring, options, name):
            for method in METHODS:
                judge(measuring, question, method, recording)

    return ask


def measure_published(table):
    """Instead of generated histories, recordings of the published corpus, where they are at hand:
    files named as its members are."""

    def ask(measuring, options):
        prefix = PREFIXES[table]
        if options.recordings is None:
            return measure(prefix[:-1].replace("_", "-"))(measuring, options)
        for name in sorted(os.listdir(options.recordings)):
            if name.startswith(prefix):
                question = Question(name, name.rpartition("-")[0], None, outcome(table == 3))
                for method in METHODS:
                    judge(measuring, question, method, os.path.join(options.recordings, name))

    return ask


def measure_many_writers(measuring, options):
    """And recordings of a server: `gets.txt`, a violation, and `mget.txt`, linearizable."""
    for name, is_linearizable in {"gets": False, "mget": True}.items() if options.server else ():
        recording = os.path.join(options.server, name + ".txt")
        group = f"  15000 operations of a server, {name.upper()}"
        question = Question("server-" + name, group, None, outcome(is_linearizable))
        for method in METHODS:
            judge(measuring, question, method, recording)
    measure("many-writers")(measuring, options)


def measure_growth(measuring, options):
    """Each method until it exceeds its limits."""
    left = list(METHODS)
    for question, recording in family(measuring, options, "growth"):
        told = {method: judge(measuring, question, method, recording) for method in left}
        left = [method for method, record in told.items() if record and record.is_answer]


def shares(records, group):
    own = [record for record in records if record.group == group]
    return {method: Share(r for r in own if r.method == method) for method in METHODS}


def is_short(shares_of_row, method):
    own = shares_of_row[method]
    return own.solved < own.asked or any(own.falls_short(shares_of_row[peer]) for peer in PEERS)


SHORT = ("Bold: of ours, what solves fewer of them than a peer does, or takes longer in the "
         "middle, or does not solve all.")


def columns(records, group):
    """A column per method; `group` names the records of a row."""
    known = {}

    def cell(method):
        def shown(row):
            name = group(row)
            if name not in known:
                known[name] = shares(records, name)
            told = known[name]
            return bold(told[method].cell(), method in JUDGED and is_short(told, method))

        return shown

    return [(method, cell(method)) for method in METHODS]


def totals(records):
    """How many each method solved in all."""
    text = "\n"
    for method, what in METHODS.items():
        share = Share(record for record in records if record.method == method)
        if share.asked:
            percent = digits(100 * share.solved / share.asked)
            text += (f"* `{method}`, {what}: {share.solved} of {share.asked} within the limit "
                     f"({percent} %).\n")
    return text


def configurations(table):
    """The figures of the paper by n and events, for each of its two methods."""
    found = {}
    for row in published(f"disc2022-table{table}"):
        key = (int(row["processes"]), int(row["events"]))
        found.setdefault(key, {})[row["method"]] = row
    return found


def published_group(table):
    return lambda key: f"{PREFIXES[table]}{key[0]}-{key[1] // 2}"


def figure(row):
    percent = number(row["terminated_percent"]) + " %"
    if not row["median_seconds"]:
        return percent
    return f"{percent}, {number(row['median_seconds'])} s, {number(row['median_megabytes'])} MB"


def full_published(table):
    def parts(records, _):
        figures = configurations(table)
        grid = [("n", lambda key: str(key[0])), ("events", lambda key: str(key[1]))]
        grid += columns(records, published_group(table))
        grid += [("published: this paper", lambda key: figure(figures[key]["this-paper"])),
                 ("published: Lowe", lambda key: figure(figures[key]["lowe"]))]
        about = (f"## DISC 2022, {TITLES[table]}\n\n{Share.LEGEND} {SHORT} Published: percent "
                 "solved within ten minutes.\n\n")
        return [about, Grid(grid, list(figures)), totals(records)]

    return parts


def brief_published(table):
    """A row per n, a column per number of events."""

    def parts(records, _):
        figures = configurations(table)

        def cell(events):
            def shown(n):
                told = shares(records, published_group(table)((n, events)))
                ours = bold(told["linear"].cell(), is_short(told, "linear"))
                lowe = number(figures[n, events]["lowe"]["terminated_percent"])
                return f"{ours}; {told['todc-utils'].cell()}; {lowe} %"

            return shown

        sizes = sorted({n for n, _ in figures})
        lengths = sorted({events for _, events in figures})
        grid = [("n", str), *((f"{events} events", cell(events)) for events in lengths)]
        caption = ("25 histories each: `linear`, the check of this project; todc-utils, the fastest "
                   "peer; and the share that Lowe's tester solves within ten minutes in the paper, "
                   "whose own method solves all. Medians. Bold: ours is not the fastest, or does not "
                   "solve all." if table == 3 else "As Table 3.")
        about = f"## DISC 2022, {TITLES[table]}\n\n{caption}\n\n"
        return [about, Grid(grid, sizes)]

    return parts


# How many times faster than the best peer ours must be on the hard corpus.
FASTER = 100.0


def ratios(records, group):
    """Per history of a group that some peer solves: the fastest peer's time over ours."""
    own = {r.case: r.work for r in records
           if r.method == "linear" and r.is_right and r.group == group}
    best = {}
    for record in records:
        if record.method in PEERS and record.is_right and record.case in own:
            best[record.case] = min(best.get(record.case, math.inf), record.work)
    return [best[case] / own[case] for case in own if case in best]


def faster(records, groups):
    found = [ratio for group in groups for ratio in ratios(records, group)]
    if not found:
        return "no peer finishes"
    return bold(f"{digits(median(found))}, at least {digits(min(found))}", min(found) < FASTER)


def groups_of(records):
    return sorted({record.group for record in records})


def full_hard(records, _):
    about = (f"## The hard corpus\n\n{Share.LEGEND} The last column: how many times faster `linear` "
             "is than the fastest peer, in the middle and at least, where a peer finishes at all; "
             f"bold: less than {FASTER:.0f} at least.\n\n")
    grid = [("histories", str), *columns(records, str),
            ("times faster", lambda group: faster(records, [group]))]
    return [about, Grid(grid, groups_of(records)), totals(records)]


def brief_hard(records, sources):
    """All methods on all histories: those solved, in the middle and at most."""
    tables = {"Table 3": "disc2022-table3", "Table 4": "disc2022-table4", "hard": "hard",
              "many writers": "many-writers"}

    def cell(table):
        def shown(method):
            share = Share(r for r in sources(table) if r.method == method)
            return f"{share.solved}/{share.asked}" + (f", {time(share.seconds)}" if share.solved else "")

        return shown

    grid = [("method", str), *((name, cell(table)) for name, table in tables.items())]
    about = (
        "## The hard corpus\n\nHistories of 17 and 20 processes with up to 5,000 operations and 12 "
        "pending ones, violations near the end, and their linearizable twins. `linear` is "
        f"{faster(records, groups_of(records))} times faster than the fastest peer where one "
        "finishes at all. All methods on all histories: solved within ten seconds, of those asked "
        "(a method gives up on a row), and their median time.\n\n")
    return [about, Grid(grid, list(METHODS))]


# What one case must reach, by `linear`: seconds of processor time, reading included, and MiB.
WANTED = [
    ("server-gets", "15,000 operations of 12 clients of a server, a GET per key", 0.1, None),
    ("server-mget", "the same with one MGET: linearizable", 1, None),
    ("linearizable-16-1000000-0", "10^6 operations, 16 overlapping: linearizable", 5, 1024),
    ("ring-16-1000000-0", "the same with a planted ring", 5, 1024),
    ("linearizable-373-10000-0", "10^4 operations, 373 overlapping: linearizable", 2, None),
    ("linearizable-1000-1000-0", "1,000 operations, all concurrent: linearizable", 0.5, None),
]


def wanted(records):
    own = {record.case: record for record in records if record.method == "linear"}

    def of(form):
        return lambda row: form(own[row[0]]) if row[0] in own else "-"

    def verdict(row):
        case, _, seconds, mebibytes = row
        if case not in own:
            return "not measured"
        record = own[case]
        is_met = record.is_right and record.cpu_seconds <= seconds
        is_met = is_met and (mebibytes is None or record.peak_bytes <= mebibytes * MIB)
        return "met" if is_met else "**missed**"

    return Grid([
        ("histories", lambda row: row[1]),
        ("wanted", lambda row: f"{row[2]} s" + (f", {row[3]} MiB" if row[3] else "")),
        ("time", of(lambda record: time(record.cpu_seconds))),
        ("memory", of(lambda record: memory(record.peak_bytes))),
        ("", verdict),
    ], WANTED)


def full_many_writers(records, _):
    about = (
        "## Many writers\n\nAny process updates any of 4 segments, no value twice, half of the "
        "operations are scans; random runs, linearizable or with a planted violation "
        "(docs/many-writers.md). `linear` is the saturated relation here, with proofs of "
        f"violations; `monitor` the same online. {Share.LEGEND} The limit is on time of the wall "
        f"clock, whatever else the machine does. {SHORT}\n\n")
    grid = Grid([("histories", str), *columns(records, str)], groups_of(records))
    goals = ("\nWhat is wanted of `linear`, in processor time of the whole process, reading "
             "included:\n\n")
    return [about, grid, totals(records), goals, wanted(records)]


def brief_many_writers(records, _):
    about = ("## Many writers\n\nAny process updates any of 4 segments ([method]"
             "(../docs/many-writers.md)). Processor time of the whole process, and its peak "
             "memory, against what is wanted:\n\n")
    return [about, wanted(records)]
