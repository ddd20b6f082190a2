"""The growth with the length of a history, as SVG: both axes logarithmic."""

import math
import os

from histories import METHODS

# Distinct in colour blindness, too (Okabe and Ito's palette).
COLOURS = ["#0072b2", "#56b4e9", "#009e73", "#cc79a7", "#d55e00", "#e69f00", "#000000"]
FILE = "plots/length-violation-time.svg"
WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 72, 580, 40, 392


def points(records, method):
    own = [r for r in records if r.method == method and r.is_answer and r.x is not None]
    return [(record.x, max(record.work, 1e-9)) for record in own]


class Scale:
    """From values to places, with room at both ends."""

    def __init__(self, values, low, high):
        self.first, self.last = math.log10(min(values) / 2), math.log10(max(values) * 2)
        self.low, self.high = low, high

    def place(self, value):
        share = (math.log10(value) - self.first) / (self.last - self.first)
        return round(self.low + share * (self.high - self.low), 1)

    def decades(self):
        return [10.0**k for k in range(math.ceil(self.first), math.floor(self.last) + 1)]


def text(x, y, words, anchor="middle", extra=""):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"{extra}>{words}</text>'


def draw(records):
    curves = {method: points(records, method) for method in METHODS}
    every = [point for curve in curves.values() for point in curve]
    across = Scale([x for x, _ in every], LEFT, RIGHT)
    down = Scale([y for _, y in every], BOTTOM, TOP)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        text((LEFT + RIGHT) / 2, 24, "Time against events", extra=' font-size="16"'),
        text((LEFT + RIGHT) / 2, HEIGHT - 12, "events"),
        text(18, HEIGHT / 2, "seconds", extra=f' transform="rotate(-90 18 {HEIGHT / 2})"'),
    ]
    for value in across.decades():
        x = across.place(value)
        lines.append(f'<path d="M{x} {TOP}V{BOTTOM}" stroke="#dddddd"/>')
        lines.append(text(x, BOTTOM + 18, f"{value:.0e}"))
    for value in down.decades():
        y = down.place(value)
        lines.append(f'<path d="M{LEFT} {y}H{RIGHT}" stroke="#dddddd"/>')
        lines.append(text(LEFT - 8, y + 4, f"{value:.0e}", "end"))
    for number, ((method, curve), colour) in enumerate(zip(curves.items(), COLOURS)):
        places = [(across.place(x), down.place(y)) for x, y in curve]
        line = " ".join(f"{x},{y}" for x, y in places)
        lines.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in places]
        y = TOP + 24 + 20 * number
        lines.append(f'<path d="M{RIGHT + 16} {y}h18" stroke="{colour}" stroke-width="2"/>')
        lines.append(text(RIGHT + 40, y + 4, method, "start"))
    return "\n".join([*lines, "</svg>", ""])


def section(records, folder):
    """Draws the records, beside the page; the section that shows them."""
    path = os.path.join(folder, FILE)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as output:
        output.write(draw(records))
    return [
        "## Growth\n\nSeconds against events of 8 processes, with a violation near the end; a curve "
        f"ends where its method exceeds the limits.\n\n![Time against events]({FILE})\n"]
