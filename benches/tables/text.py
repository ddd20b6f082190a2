"""Pieces of the page: numbers, tables, and where they come from."""

import collections

# Cells are made by a function per column, from what a row is.
Grid = collections.namedtuple("Grid", "columns rows")
MIB, GIB = 2**20, 2**30


def markdown(parts):
    """A section: texts as they are, grids as tables of Markdown."""
    return "".join(part if isinstance(part, str) else table(part) for part in parts)


def table(grid):
    lines = [[header for header, _ in grid.columns], ["---"] * len(grid.columns)]
    lines += [[cell(row) for _, cell in grid.columns] for row in grid.rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def bold(text, is_bold):
    return f"**{text}**" if is_bold else text


def digits(value):
    """About three."""
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def time(seconds):
    if seconds < 1e-3:
        return digits(seconds * 1e6) + " µs"
    return digits(seconds * 1e3) + " ms" if seconds < 1 else digits(seconds) + " s"


def memory(size):
    return digits(size / MIB) + " MiB" if size < GIB else digits(size / GIB) + " GiB"


def number(value):
    """A number as it is printed in a paper: 2 rather than 2.0."""
    return str(float(value)).removesuffix(".0")


def optional(form, value):
    return "-" if value in (None, "") else form(value)


def count(value):
    return f"{value:,}"


def median(samples):
    """The middle one; of an even number, the larger of both."""
    samples = sorted(samples)
    return samples[len(samples) // 2]


def names(items, name):
    """Each name once, in the order of the items."""
    return list(dict.fromkeys(name(item) for item in items))


class Share:
    """What some runs of one method came to."""

    LEGEND = ("The median time of those solved, with the memory if that is more than 64 MiB; "
              "`7/10`: 7 of 10 asked are solved, where not all are.")

    def __init__(self, records):
        records = list(records)
        solved = [record for record in records if record.is_right]
        self.solved, self.asked = len(solved), len(records)
        self.seconds = median(record.work for record in solved) if solved else None
        self.size = median(record.peak_bytes for record in solved) if solved else None

    def cell(self):
        parts = [f"{self.solved}/{self.asked}"] * (self.solved < self.asked)
        if self.solved:
            parts.append(time(self.seconds))
            parts += [memory(self.size)] * (self.size > 64 * MIB)
        return ", ".join(parts) or "-"

    def falls_short(self, peer):
        """Whether it solves a smaller share than a peer, or takes longer in the middle."""
        solves_less = self.solved * peer.asked < peer.solved * self.asked
        is_slower = self.solved and peer.solved and self.seconds > peer.seconds
        return self.asked > 0 and bool(solves_less or is_slower)


MEASURED = "\nMeasured {date} at {commit} on {machine}: `{command}`\n"


def provenance(records, sessions, is_brief):
    """Which answers were wrong, and when, where and how records were measured; in brief, without
    machine and command."""
    text = ""
    for record in records:
        if record.is_wrong:
            text += f"\n**Wrong: {record.method} on {record.case} says {record.outcome}.**\n"
    refused = sum(record.outcome == "none" for record in records)
    if refused:
        text += f"\n{refused} runs ended without an answer: not supported.\n"
    used = {record.session for record in records}
    used_sessions = [session for session in sessions if int(session["session"]) in used]
    if not is_brief:
        return text + "".join(MEASURED.format(**session) for session in used_sessions)
    measured = names(used_sessions, day_and_commit)
    return text + (f"\nMeasured {'; '.join(measured)}.\n" if measured else "")


def day_and_commit(session):
    day, _, rest = session["date"].partition("T")
    _, _, note = rest.partition("Z")
    return f"{day}{note} at {session['commit']}"
