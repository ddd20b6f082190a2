"""Testers of objects: Figures 14 to 16 of Lawrence and Lowe, "Synchronisation: Specification and
Testing", and Table 2 of Line-Up (PLDI 2010)."""

import json

from measure import Question, Told
from record import latest, published, rows
from text import Grid, bold, number, optional

PATIENCE = 60.0
# As in the paper, each a process of its own with schedules of its own.
OBSERVATIONS = 100
GROWING = {threads: f"Channel of {threads} threads" for threads in (4, 8, 12, 16)}
LINE_UP = "lineup"


def wrong(row):
    """The mistake in our object that is executed instead of the paper's."""
    hasty = ("Barrier", "Enrollable barrier", "Terminating queue")
    return "Impatience" if row["object"] in hasty else "TwoPlaces"


def measure(measuring, options):
    """Quick: two observations of each method of the first object."""
    stuck = [row["object"] for row in published("lawrence-figure16")]
    asked = []
    for name in [row["object"] for row in published("lawrence-figure15")]:
        asked += [(name, "linearization")] + [(name, "progress")] * (name in stuck)
    asked += [(name, "linearization") for name in GROWING.values()]
    observations = 2 if options.quick else OBSERVATIONS
    for name, method in measuring.each(asked[:2] if options.quick else asked, ", ".join):
        for seed in range(observations):
            question = Question(f"{name}, {seed}", name, float(seed), "violation")
            command = [measuring.own, "meet", name, method, str(seed)]
            measuring.ask(question, method, command, read)


def read(ended):
    told = json.loads(ended["output"])
    outcome = "none" if told["executions"] is None else "violation"
    return Told(outcome, told["seconds"], told["executions"])


def observed(records, name, method):
    """Mean milliseconds with half of their 95 % interval, and mean executions; None of fewer than
    two observations."""
    own = [r for r in records if (r.group, r.method) == (name, method) and r.is_answer]
    if len(own) < 2:
        return None
    times = [record.wall_seconds * 1e3 for record in own]
    mean = sum(times) / len(times)
    variance = sum((time - mean) ** 2 for time in times) / (len(times) - 1)
    executions = sum(record.states for record in own) / len(own)
    return mean, 1.96 * (variance / len(own)) ** 0.5, executions


def interval(mean, error):
    places = int(float(mean) < 10)
    return f"{float(mean):.{places}f} ± {float(error):.{places}f}"


TITLE = "## Lawrence and Lowe, Figures 14 to 16\n\n"
FULL = """\
How long it takes to find a mistake in an object whose operations take effect together:
milliseconds of the whole process, mean of 100 processes with a 95 % confidence interval, and
executions until the mistake shows. Published: their testers in Scala, on another machine, on threads of
the operating system, on wrong objects that the paper does not print. Ours:
`lineup::together::execute`, threads under random schedules, on a monitor with a mistake (two places for
results; operations that do not wait; one thread woken instead of all). So the table says how long
a user waits, not which checker is faster. Bold: ours takes longer.

"""


def full(records, _):
    def ours(method, name=lambda row: row["object"]):
        def shown(row):
            found = observed(records, name(row), method)
            is_slower = found and isinstance(row, dict) and found[0] > float(row["direct"])
            return bold(interval(*found[:2]), is_slower) if found else "-"

        def executions(row):
            found = observed(records, name(row), method)
            return f"{found[2]:.1f}" if found else "-"

        return [("ours", shown), ("executions", executions)]

    def theirs(which):
        def shown(row):
            return interval(row[which], row[which + "_error"]) if row[which] else "-"
        return ("published: " + which.replace("_", "-"), shown)

    thing = ("object", lambda row: row["object"])
    figure15 = [thing, ("mistake", wrong), theirs("direct"), theirs("two_step")]
    return [
        TITLE, FULL, "Figure 15, histories that are not synchronisation-linearisable:\n\n",
        Grid([*figure15, *ours("linearization")], published("lawrence-figure15")),
        "\nFigure 16, operations that wait and could take effect (the paper waits for 100 ms to "
        "know that threads are stuck; a scheduler knows):\n\n",
        Grid([thing, theirs("direct"), *ours("progress")], published("lawrence-figure16")),
        "\nFigure 14, the channel with more threads (the paper prints no numbers; its two-step "
        "tester gets out of hand, its direct one does not):\n\n",
        Grid([("threads", str), *ours("linearization", GROWING.get)], list(GROWING)),
    ]


def brief(records, _):
    figures = [(row, method) for figure, method in [("15", "linearization"), ("16", "progress")]
               for row in published("lawrence-figure" + figure)]
    means = [observed(records, row["object"], method) for row, method in figures]
    found = [mean[0] for mean in means if mean]
    theirs = [float(row["direct"]) for row, _ in figures]
    return [TITLE, (
        f"All mistakes that the figures name are found in {len(found)} of {len(figures)} objects: "
        f"after {min(found):.1f} to {max(found):.1f} ms of a whole process (mean of 100 each, random "
        f"schedules), where the paper's direct tester takes {min(theirs):.0f} to {max(theirs):.0f} "
        "ms on its own objects and machine.\n" if found else "Nothing was observed.\n")]


CLASSES = "pldi2010-table2"
LINE_UP_TITLE = "## PLDI 2010, Table 2: Line-Up\n\n"
LINE_UP_FULL = (
    "Line-Up on objects of ours and on published crates, compiled unmodified (`docs/lineup.md`, "
    "`lineup/subjects/FINDINGS.md`): random tests, executions with up to two preemptions, one core. `pass` "
    "and `fail` are of the tests that were run within the budget: nothing is known of the others. "
    "Smallest: the smallest failing test of all series. Published: .NET classes of the same kind, "
    "100 tests of 3 x 3 each, on one core of a 2.33 GHz Xeon; beside each of our subjects of its "
    "kind, right and wrong ones.\n\n")


def line_up(path):
    """The records of `lineup survey`: of each subject all series, and that of the table, which are
    its random tests of 3 x 3 if it has them, else others."""
    series = latest(rows(path), lambda row: (row["subject"], row["tests"]))
    subjects = {}
    for row in series:
        subjects.setdefault(row["subject"], []).append(row)
    shown = {}
    for subject, own in subjects.items():
        random = [r for r in own if r["tests"].startswith("random:") and "init" not in r["tests"]]
        three = [row for row in random if row["tests"].startswith("random:3x3")]
        if random:
            shown[subject] = (own, (three or random)[0])
    return shown


def smallest(own):
    sizes = [(int(r["rows"]), int(r["columns"])) for r in own if r["rows"] and r["columns"]]
    return min(sizes, key=lambda size: (size[0] * size[1], size[0]), default=None)


def line_up_full(subjects, _):
    classes = published(CLASSES)

    def like(subject):
        return next((row for row in classes if subject in row["subjects"].split()), None)

    def ours(name, form=str):
        return lambda subject: optional(form, subjects[subject][1][name])

    def theirs(name, form=str):
        return lambda subject: optional(form, (like(subject) or {}).get(name))

    def size(subject):
        return optional(lambda found: f"{found[0]}x{found[1]}", smallest(subjects[subject][0]))

    def run(subject):
        return "{run} of {number}".format(**subjects[subject][1])

    def seconds(text):
        return f"{float(text):.3f}"

    columns = [
        ("subject", str), ("smallest", size),
        ("histories", ours("histories", lambda text: f"{float(text):.0f}")), ("run of", run),
        ("pass", ours("passed")), ("fail", ours("failed")), ("unknown", ours("unknown")),
        ("avg pass [s]", ours("pass_seconds", seconds)),
        ("avg fail [s]", ours("fail_seconds", seconds)),
        ("published", theirs("class")), ("smallest", theirs("smallest")),
        ("histories", theirs("histories")), ("pass", theirs("pass")), ("fail", theirs("fail")),
        ("avg pass [min]", theirs("pass_minutes", number)),
        ("avg fail [min]", theirs("fail_minutes", number)),
    ]
    known = {name for row in classes for name in row["subjects"].split() if name in subjects}
    left = [row["class"] for row in classes if not known & set(row["subjects"].split())]
    rest = f"\nPublished, without a subject like it here: {', '.join(left)}.\n" if left else ""
    return [LINE_UP_TITLE, LINE_UP_FULL, Grid(columns, list(subjects)), rest]


def line_up_brief(subjects, _):
    failing = {name: smallest(own) for name, (own, _) in subjects.items() if smallest(own)}
    within = sum(rows * columns <= 4 for rows, columns in failing.values())
    return [LINE_UP_TITLE, (
        f"Of {len(subjects)} subjects, objects of ours and published crates, {len(failing)} fail a "
        f"test, {within} of them one of at most four operations ([which](../lineup/subjects/FINDINGS.md), "
        "[how](../docs/lineup.md)).\n")]
