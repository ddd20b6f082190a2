#!/usr/bin/env python3
"""Ratios of the commands to `wc -l` on the same file, and the monitor's memory.

usage: benches/ratios.py [EVENTS]    (10^7 if absent; at least 1000)

Build first: cargo build --release -p snapshot-test. Commands run in turns, after one run
each that warms the page cache; a ratio is that of one turn, in processor time. Exit code 1 if
a command has a wrong answer or misses its target. Peers that judge histories or explore
algorithms have tables of their own (`tables peers`).
"""

import os
import statistics
import subprocess
import sys
import tempfile

PROGRAM = os.environ.get("SNAPSHOT_TEST", os.path.join("target", "release", "snapshot-test"))
TURNS = 7


def run(command, code, stdin=None):
    """Runs a command; its processor seconds and peak memory in MiB."""
    child = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) != code:
        sys.exit(f"{' '.join(command)} ended with {status}, where its exit code must be {code}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def generate(path, events, *options):
    command = [PROGRAM, "generate", "--processes", "8", "--operations", str(events // 2)]
    with open(path, "wb") as output:
        subprocess.run([*command, "--seed", "2010", *options], stdout=output, check=True)


def main():
    events = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7
    missed = 0

    def tell(what, measured, unit, limit=None):
        nonlocal missed
        missed += limit is not None and measured > limit
        target = "" if limit is None else f"  (at most {limit})"
        print(f"{what:<40} {measured:10.2f} {unit}{target}")

    with tempfile.TemporaryDirectory() as directory:
        good, bad = os.path.join(directory, "good"), os.path.join(directory, "bad")
        generate(bad, 10**5, "--violation", "inversion")
        run([PROGRAM, "check", bad], 1)
        generate(good, events)
        count, check = ["wc", "-l", good], [PROGRAM, "check", good]
        turns = [(run(count, 0), run(check, 0)) for _ in range(TURNS + 1)][1:]
        seconds = statistics.median(check for _, (check, _) in turns)
        tell("check", events / seconds / 1e6, "M events/s")
        ratio = statistics.median(check / max(count, 1e-3) for (count, _), (check, _) in turns)
        # A start counts as much as a short recording.
        tell("check / wc -l", ratio, "times", 10 if events >= 10**6 else None)
        tell("check, peak memory", max(peak for _, (_, peak) in turns), "MiB", 64)
        peaks = []
        for length in [events // 100, events // 10, events]:
            generate(good, length)
            with open(good, "rb") as recording:
                peaks.append(run([PROGRAM, "monitor", "-"], 0, recording)[1])
            tell(f"monitor of {length} events, peak memory", peaks[-1], "MiB")
        tell("monitor, memory of 100 times the events", peaks[2] / peaks[0], "times", 1.25)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
