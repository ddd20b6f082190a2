"""Bowman's algorithm, the pair (0, 1), any number of operations: ours against Spin and stateright.

All but `reduced` explore the same states, by one thread; a round runs each once, so a slow phase of
the machine slows all.
"""

import json
import os
import subprocess
import sys
import tempfile

from measure import Question, Told, outcome
from record import FOLDER
from text import Grid, bold, count, digits, median, memory, names, optional, time
from verification import ask_verifier, group

METHODS = {
    "ours": "`snapshot-verify check bowman --pairs 0,1 --reductions dead,constant --threads 1`",
    "spin": "Spin 6.5, depth-first, exact states, `-DNOREDUCE`; it prints eight digits of a count",
    "spin-collapse": "the same with `-DCOLLAPSE`",
    "stateright": "stateright 0.31, breadth-first, 64-bit hashes for states",
    "reduced": "ours with all reductions, one thread",
}
PATIENCE = 600.0
# States and transitions that all but `reduced` must count: Spin, stateright, Rumur and the
# project's own search agree on these.
EXPECTED = {3: (76_075, 249_645), 4: (2_151_306, 9_276_497), 5: (62_055_312, 331_569_418)}


def measure(measuring, options):
    sizes = options.processes or ([3] if options.quick else [4, 5])
    with tempfile.TemporaryDirectory() as directory:
        for n in measuring.each(sizes, lambda n: group(("bowman", n))):
            verifiers = {method: verifier(n, flags, os.path.join(directory, f"{method}-{n}"))
                         for method, flags in [("spin", []), ("spin-collapse", ["-DCOLLAPSE"])]}
            for turn in range(options.rounds):
                name = group(("bowman", n))
                case = f"{name}, round {turn + 1}"
                question = Question(case, name, float(n), "linearizable")
                for method in METHODS:
                    ask(measuring, question, method, n, verifiers)


def ask(measuring, question, method, n, verifiers):
    if method in verifiers:
        measuring.ask(question, method, verifiers[method], read_spin)
    elif method == "stateright":
        measuring.ask(question, method, [measuring.own, "explore", str(n)], read_stateright)
    else:
        reductions = "all" if method == "reduced" else "dead,constant"
        arguments = ["check", "bowman", "-n", str(n), "--pairs", "0,1", "--threads", "1"]
        ask_verifier(measuring, question, method, [*arguments, "--reductions", reductions])


def model():
    with open(os.path.join(FOLDER, "peers", "bowman.pml"), encoding="utf-8") as file:
        return file.read()


def verifier(n, flags, directory, promela=None):
    """Compiles Spin's verifier of a model; the command.

    No partial-order reduction, since states are to be counted; no cycle detection, which is of no
    use here. The hash table has as many slots as there are states, and the search stack ample room
    for the longest path (1,554, 12,035 and 93,792 steps for n = 3, 4 and 5), since Spin takes
    memory for both at once.
    """
    os.makedirs(directory)
    with open(os.path.join(directory, "bowman.pml"), "w", encoding="utf-8") as file:
        file.write(promela or model())
    compiler = ["cc", "-O3", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c", *flags]
    for command in (["spin", "-a", f"-DN={n}", "bowman.pml"], compiler):
        try:
            subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True)
        except FileNotFoundError:
            sys.exit(f"there is no {command[0]}; benches/peers/install.sh installs it")
        except subprocess.CalledProcessError as error:
            sys.exit(f"{command[0]} failed: {error.stdout}{error.stderr}")
    slots = EXPECTED[n][0].bit_length() if n in EXPECTED else 24
    return [os.path.join(directory, "pan"), f"-w{slots}", f"-m{5 * 10**min(max(n, 3), 6)}"]


def read_spin(ended):
    output = ended["output"]
    if "assertion violated" in output:
        return Told("violation")

    def number(label):
        line = next(line for line in output.splitlines() if label in line)
        return int(float(line.split()[0]))

    is_cut = "search not completed" in output or "max search depth too small" in output
    if "errors: 0" in output and not is_cut:
        transitions = number(" transitions (=")
        # Entering the initial state is a transition for Spin alone; in a rounded number there is no
        # telling it.
        first = int(transitions < 10**8)
        return Told("linearizable", None, number(" states, stored"), transitions - first)
    if "memory" in output and "out of" in output:
        return Told("memory")
    raise ValueError("it did not get to the end")


def read_stateright(ended):
    counts = json.loads(ended["output"])
    if counts == "violation":
        return Told("violation")
    return Told(outcome(True), None, counts["states"], counts["transitions"])


def printed(counts):
    """Counts as Spin prints them, with `%.8g`: 331,569,418 transitions become 331,569,420."""
    states, transitions = (int(float(f"{number:.8g}")) for number in (counts[0], counts[1] + 1))
    return states, transitions - int(transitions < 10**8)


def miscounted(records):
    """Those with other counts than their method must print."""
    wrong = []
    for record in records:
        must = EXPECTED.get(int(record.x)) if record.method != "reduced" else None
        if must and record.method.startswith("spin"):
            must = printed(must)
        found = (record.states, record.transitions)
        if must and record.outcome == "linearizable" and found != must:
            wrong.append(f"{record.method} on {record.case}: {found[0]} states, {found[1]} transitions")
    return wrong


# The most of Spin's time, and of its memory per state, that ours may take.
HALF = 0.5
TITLE = "## Bowman, the pair (0,1): against other model checkers\n\n"


def full(records, _):
    about = (
        "One thread each, in turns; the median of the rounds. The last columns are what ours takes "
        "of this row's processor time and of its memory per state (all of the process), pair by "
        "pair in each round; bold: more than half of Spin's, in either way.\n\n")
    legend = "".join(f"* {name}: {what}.\n" for name, what in METHODS.items())
    return [TITLE, about, grid(records, list(METHODS), columns(records)), "\n", legend]


def brief(records, _):
    about = (
        "One thread each; all but `reduced`, ours with all reductions, explore the same states. The "
        "last columns: processor time and bytes per state of ours, over those of the row.\n\n")
    shown = columns(records)
    return [TITLE, about, grid(records, list(METHODS), [*shown[:3], *shown[4:6], *shown[7:]])]


def grid(records, methods, shown):
    rows = []
    for name in sorted(names(records, lambda record: record.group)):
        for method in methods:
            runs = [r for r in records if (r.group, r.method) == (name, method)]
            rows += [runs] * bool(runs)
    return Grid(shown, rows)


def columns(records):
    ours = {record.case: record for record in records if record.method == "ours"}

    def size(record):
        return record.peak_bytes / record.states

    def of(form):
        def shown(runs):
            done = [run for run in runs if run.is_answer]
            return form(done) if done else "-"
        return shown

    def states(runs):
        if any(run.is_answer for run in runs):
            return of(lambda done: optional(count, done[0].states))(runs)
        first, short = runs[0], any(run.outcome == "memory" for run in runs)
        return "more than " + (memory(first.memory_limit) if short else time(first.time_limit))

    def ratio(measured):
        def shown(done):
            method = done[0].method
            pairs = [(ours[run.case], run) for run in done if run.case in ours]
            ratios = [measured(own) / measured(run) for own, run in pairs if own.is_answer]
            if method in ("ours", "reduced") or not ratios:
                return "-"
            middle = median(ratios)
            return bold(digits(middle), middle > HALF and method.startswith("spin"))
        return of(shown)

    return [
        ("n", lambda runs: runs[0].group.split()[-1]),
        ("checker", lambda runs: runs[0].method),
        ("states", states),
        ("transitions", of(lambda done: optional(count, done[0].transitions))),
        ("CPU time", of(lambda done: time(median(run.cpu_seconds for run in done)))),
        ("memory", of(lambda done: memory(median(run.peak_bytes for run in done)))),
        ("bytes per state", of(lambda done: digits(size(done[0])))),
        ("ours / its CPU time", ratio(lambda run: run.cpu_seconds)),
        ("ours / its bytes per state", ratio(size)),
    ]
