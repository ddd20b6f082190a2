"""Ratios of `snapshot-test check` to `wc -l` on the same recording, and the monitor's memory.

Commands run in turns, after one run each that warms the page cache; a ratio is that of one turn, in
processor time.
"""

import os
import sys
import tempfile

from measure import program, within
from text import MIB, median

TURNS = 7


def measure(options):
    """Prints them; exit code 1 if a target is missed."""
    own, test = program(options, "benches"), program(options, "snapshot-test")
    events, missed = options.events, 0

    def run(code, *command):
        ended = within(own, options.time_limit or 3600.0, 2**36, command)
        if ended["code"] != code:
            said = ended["errors"] or ended["exceeded"]
            sys.exit(f"{' '.join(command)} ended with {ended['code']}, not {code}: {said}")
        return ended

    def generate(path, events, *further):
        sizes = ["--processes", "8", "--operations", str(events // 2), "--seed", "2010"]
        run(0, test, "generate", *sizes, *further, "--output", path)

    def tell(name, measured, unit, limit=None):
        nonlocal missed
        missed += limit is not None and measured > limit
        target = "" if limit is None else f"  (at most {limit})"
        print(f"{name:<40} {measured:10.2f} {unit}{target}")

    with tempfile.TemporaryDirectory() as directory:
        good, bad = os.path.join(directory, "good"), os.path.join(directory, "bad")
        generate(bad, 10**5, "--violation", "inversion")
        run(1, test, "check", bad)
        generate(good, events)
        turns = [(run(0, "wc", "-l", good), run(0, test, "check", good)) for _ in range(TURNS + 1)]
        checks = [check for _, check in turns[1:]]
        seconds = median(check["cpu_seconds"] for check in checks)
        tell("check", events / seconds / 1e6, "M events/s")
        ratio = median(check["cpu_seconds"] / max(count["cpu_seconds"], 1e-3)
                       for count, check in turns[1:])
        # A start counts as much as a short recording.
        tell("check / wc -l", ratio, "times", 10 if events >= 10**6 else None)
        tell("check, peak memory", max(c["peak_bytes"] for c in checks) / MIB, "MiB", 64)
        peaks = []
        for length in [events // 100, events // 10, events]:
            generate(good, length)
            monitor = run(0, "sh", "-c", 'exec "$0" monitor - < "$1"', test, good)
            peaks.append(monitor["peak_bytes"] / MIB)
            tell(f"monitor of {length} events, peak memory", peaks[-1], "MiB")
        tell("monitor, memory of 100 times the events", peaks[2] / peaks[0], "times", 1.25)
    return 1 if missed else 0
