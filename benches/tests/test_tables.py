"""Tests of `tables`: what it understands, how it records, and what it renders."""

import dataclasses
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tables")
sys.path.insert(0, FOLDER)

import bowman
import every
import histories
import plot
import record
import refinement
import text
import together
import verification
from measure import Told

program = types.SimpleNamespace(**runpy.run_path(os.path.join(FOLDER, "__main__.py")))


def solved(group, case, method, seconds, **changes):
    """A record of a method that solved a case."""
    told = record.Record(1, case, group, None, method, "", "linearizable", "linearizable", seconds,
                         seconds, seconds, 1 << 20, None, None, 10.0, 1 << 30)
    return dataclasses.replace(told, **changes)


def section(form, records, **sources):
    return text.markdown(form(records, lambda name: sources.get(name.replace("-", "_"), [])))


def corpus():
    """The files of the corpus by the names of their algorithms."""
    files = []
    for kind in ("algorithms", "objects"):
        folder = os.path.join(record.FOLDER, "..", "corpus", kind)
        files += [os.path.join(folder, name) for name in os.listdir(folder)]
    return {os.path.basename(file).partition(".")[0]: file for file in files}


def ended(output, errors="", code=0):
    return {"output": output, "errors": errors, "code": code}


def run(command):
    folder = os.path.dirname(command[0])
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return ended(done.stdout)


class Pieces(unittest.TestCase):
    def test_numbers_are_readable(self):
        times = ["1.50 µs", "12.3 ms", "1.00 s", "123 s"]
        self.assertEqual([text.time(seconds) for seconds in (1.5e-6, 0.0123, 1.0, 123.4)], times)
        self.assertEqual([text.memory(size) for size in (1048576, 3e9)], ["1.00 MiB", "2.79 GiB"])
        self.assertEqual([text.count(n) for n in (7, 1000, 62055312)], ["7", "1,000", "62,055,312"])
        self.assertEqual([text.number(n) for n in ("2", "0.20", 11.5)], ["2", "0.2", "11.5"])

    def test_a_share_counts_right_answers_and_takes_their_median(self):
        records = [solved("g", "c", "m", seconds) for seconds in (0.1, 0.2, 0.3)]
        records[2].outcome = "violation"
        share = text.Share(records)
        self.assertEqual((share.solved, share.asked, share.seconds), (2, 3, 0.2))
        self.assertEqual(share.cell(), "2/3, 200 ms")
        self.assertEqual(text.Share(records[:1]).cell(), "100 ms")
        large = solved("g", "c", "m", 0.1, peak_bytes=65 << 20)
        self.assertEqual(text.Share([large]).cell(), "100 ms, 65.0 MiB")
        late = [dataclasses.replace(one, outcome="time") for one in records]
        half, whole = text.Share([records[0], late[0]]), text.Share(records[:1])
        self.assertEqual((half.falls_short(whole), whole.falls_short(half)), (True, False))
        self.assertEqual((text.Share(late).cell(), text.Share([]).cell()), ("0/3", "-"))

    def test_wrong_answers_are_told(self):
        right = solved("g", "case", "method", 1.0)
        self.assertEqual(text.provenance([right], [], True), "")
        wrong = dataclasses.replace(right, outcome="violation")
        self.assertIn("**Wrong: method on case", text.provenance([wrong], [], True))


class Records(unittest.TestCase):
    def test_records_come_back_and_are_resumed_or_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            store = record.Store(folder, "table", False)
            store.add(solved("group, with a comma", "a", "linear", 1e-6, transitions=7))
            self.assertEqual(store.records, record.read(folder, "table"))
            resumed = record.Store(folder, "table", True)
            self.assertIsNotNone(resumed.find("a", "linear", (10.0, 1 << 30)))
            self.assertIsNone(resumed.find("a", "linear", (20.0, 1 << 30)))
            self.assertIsNone(resumed.find("a", "search", (10.0, 1 << 30)))
            resumed.add(solved("g", "b", "linear", 1.0))
            self.assertEqual([one.case for one in record.read(folder, "table")], ["a", "b"])
            self.assertEqual(record.Store(folder, "table", False).records, [])
            self.assertEqual(record.read(folder, "table"), [])
            self.assertEqual(len(record.rows(record.file(folder, "sessions"))), 3)

    def test_records_without_a_later_column_are_read_and_others_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            path = record.file(folder, "table")
            columns = [name for name in record.COLUMNS if name != "by"]
            whole = solved("g", "a", "linear", 1.0)
            record.append(path, columns, [getattr(whole, name) for name in columns])
            self.assertEqual(record.read(folder, "table"), [whole])
            record.append(path, columns, ["no number"] * len(columns))
            with self.assertRaisesRegex(SystemExit, "table.csv"):
                record.read(folder, "table")

    def test_what_is_measured_again_replaces_what_was(self):
        runs = [("a", "linear", 1.0), ("b", "linear", 2.0), ("a", "search", 3.0), ("a", "linear", 4.0)]
        kept = record.latest([solved("group", *run) for run in runs])
        self.assertEqual([one.work for one in kept], [4.0, 2.0, 3.0])


class Published(unittest.TestCase):
    def test_the_figures_add_up_to_what_the_papers_say(self):
        bugs = [row for row in record.published("disc2022-table1") if row["bound"]]
        counts = [sum(row["method"] == name for row in bugs) for name in verification.PUBLISHED]
        self.assertEqual(counts, [14, 20, 26])
        peaks = [max(float(row["gigabytes"]) for row in bugs if row["method"] == name)
                 for name in ("polynomial", "normal")]
        self.assertEqual(peaks, [4.4, 22.8])
        rows = record.published("disc2022-table3") + record.published("disc2022-table4")
        solved_by = {name: sum(float(row["terminated_percent"]) / 4 for row in rows
                               if row["method"] == name) for name in ("this-paper", "lowe")}
        # The paper's text says 554; its tables say this many.
        self.assertEqual((len(rows), solved_by), (72, {"this-paper": 900, "lowe": 590}))
        classes = record.published(together.CLASSES)
        self.assertTrue(all(int(row["pass"]) + int(row["fail"]) == 100 for row in classes))
        self.assertTrue(all((row["fail"] == "0") != bool(row["smallest"]) for row in classes))
        sizes = {"disc2022-table1": 90, "disc2022-table2": 60, "fm2009-table1": 19,
                 together.CLASSES: 18, "lawrence-figure15": 14, "lawrence-figure16": 6}
        self.assertEqual({name: len(record.published(name)) for name in sizes}, sizes)

    def test_every_algorithm_is_of_the_corpus_with_its_bug(self):
        for algorithm, bug in verification.BUGS.items():
            with open(corpus()[algorithm], encoding="utf-8") as file:
                self.assertIn(f"\nbug {bug} ", file.read())


class Verification(unittest.TestCase):
    SUMMARY = '{"summary": {"seconds": 1.5}}'
    ONE = '{"verdict": "verified", "states": 5, "transitions": 9}'

    def told(self, *lines):
        return verification.report(ended("\n".join(lines)))

    def test_pairs_are_told_together(self):
        like = self.ONE.replace("}", ', "like": [0, 1]}')
        told = self.told(self.ONE, like, self.ONE, self.SUMMARY)
        self.assertEqual(told, Told("linearizable", 1.5, 10, 18, "search"))
        bad = '{"verdict": "violation", "states": 1, "transitions": 1}'
        idle = '{"verdict": "unknown", "cause": "answered", "states": 0, "transitions": 0}'
        self.assertEqual(self.told(self.ONE, bad, idle, self.SUMMARY).outcome, "violation")
        late = '{"verdict": "unknown", "cause": "time", "states": 3, "transitions": 1}'
        self.assertEqual(self.told(late, self.ONE, self.SUMMARY).outcome, "time")
        for wrong in (["no report"], []):
            self.assertRaises(ValueError, self.told, *wrong)
        # The last answer, and the part of the command that found it.
        proved = '{"verdict": "verified", "method": "proof", "scope": [{"operations": null}]}'
        grown = '{"verdict": "violation", "method": "exploration", "scope": [{"operations": 2}]}'
        parts = [self.told(idle, line, self.SUMMARY).by for line in (self.ONE, proved, grown)]
        self.assertEqual(parts, ["search", "proof", "growing"])
        refused = "riany: for refinement it has infinitely many states: bound the operations"
        self.assertEqual(verification.report(ended("", refused, 2)).outcome, "none")

    def test_ours_is_bold_unless_it_is_deeper_and_faster_than_each(self):
        # Published for n = 3: 2 operations in 47 s; any number in 3 s and in 11 s.
        def cells(method, x, seconds, **changes):
            own = solved("bowman, n = 3", "case", method, seconds, x=x, **changes)
            return [section(form(2), [own]) for form in (verification.full, verification.brief)]

        whole, short = cells("unbounded", None, 2.0)
        self.assertIn("| bowman | 3 | - | ∞, 2.00 s, 1.00 MiB | - |", whole)
        self.assertIn("| bowman | ∞, 2.00 s; ∞, 3 s |", short)
        whole, short = cells("unbounded", None, 4.0)
        self.assertIn("| **∞, 4.00 s, 1.00 MiB** |", whole)
        self.assertIn("| **∞, 4.00 s**; ∞, 3 s |", short)
        self.assertIn("| **2, 1.00 s, 1.00 MiB** |", cells("bounded", 2.0, 1.0)[0])
        whole, short = cells("unbounded", None, 60.0, outcome="time")
        self.assertIn("| **more than 10.0 s** |", whole)
        self.assertIn("| **-**; ∞, 3 s | **not measured**; ∞, 134 s |", short)

    def test_no_row_is_left_out_and_the_bugs_are_counted(self):
        def found(group, by):
            return solved(group, group, "check", 1.0, by=by, outcome="violation", expected="violation")

        long = solved("bowman, n = 3", "a", "unbounded", 1.0, time_limit=600.0)
        records = [found("bowman, n = 3", "search"), found("riany, n = 10", "growing"), long]
        whole = section(verification.full(1), records)
        rows = [line for line in whole.splitlines() if " GB" in line or "measured |" in line]
        self.assertEqual(len(rows), 30)
        self.assertIn("| riany, early_count | 8 | not measured |", whole)
        cell = "| riany, early_count | 10 | ∞, 1.00 s, 1.00 MiB, violation (growing) |"
        self.assertIn(cell, whole)
        self.assertIn("Bugs found, of 30: check 2, unbounded 0, growing 0, bounded 0, refinement-simple "
                      "0, refinement-full 0. Published: normal 14, simple 20, polynomial 26. Rows "
                      "measured: 2.", whole)
        self.assertIn("within 10.0 s and 1.00 GiB (check), 600 s and 1.00 GiB (unbounded).", whole)
        self.assertEqual(section(verification.brief(1), records).count("; "), 30 + 1)

    def test_what_is_not_proved_is_a_question(self):
        def one(method, seconds):
            return solved("bowman", "bowman, every n", method, seconds, states=21835,
                          transitions=1 << 20)

        records = [one("proof", 0.5), one("scans.observer", 0.25), one("certificate", 1.0),
                   solved("riany", "riany, every n", "proof", 9.0, outcome="none")]
        told = section(every.full, records,
                       disc2022_table2=[solved("bowman, n = 4", "", "unbounded", 1.0)],
                       bowman=[solved("bowman, n = 5", "", "spin", 1.0)])
        self.assertIn("| riany | ? | ? | ? | ? | ? | ? | ? | ? |", told)
        self.assertIn("| bowman | scans.observer, 21,835, 250 ms | 21,835 | 500 ms | 21,835 | 1.00 MiB "
                      "| 1.00 s | ? | ? | 4 | 5 | 5 | - | 4 |", told)


class Histories(unittest.TestCase):
    def bold(self, ours, seconds, **changes):
        group = "linearizable-5-100"
        own = solved(group, group + "-0", ours, seconds, **changes)
        peer = solved(group, group + "-0", "todc-utils", 1e-3)
        told = section(histories.full_published(3), [own, peer])
        return [cell for cell in told.split("|") if cell.startswith(" **")]

    def test_what_falls_short_is_bold(self):
        self.assertEqual(self.bold("linear", 1e-6), [])
        self.assertEqual(self.bold("linear", 1e-2), [" **10.0 ms** "])
        self.assertEqual(self.bold("linear", 1e-6, outcome="time"), [" **0/1** "])
        self.assertEqual(self.bold("search", 1e-2), [" **10.0 ms** "])
        alone = solved("linearizable-5-100", "c", "linear", 1.0, outcome="time")
        self.assertIn("| **0/1** |", section(histories.full_published(3), [alone]))
        # A baseline is no claim.
        self.assertEqual(self.bold("plain-search", 1e-2), [])

    def test_a_hundred_times_faster_or_bold(self):
        ours = solved("g", "c", "linear", 1e-4)
        peers = [solved("g", "c", "todc-utils", 2e-2), solved("g", "c", "stateright", 1.0)]
        self.assertIn("| 200, at least 200 |", section(histories.full_hard, [ours, *peers]))
        close = [ours, solved("g", "c", "todc-utils", 5e-3)]
        self.assertIn("| **50.0, at least 50.0** |", section(histories.full_hard, close))
        self.assertIn("| no peer finishes |", section(histories.full_hard, [ours]))

    def test_a_panic_is_no_answer_and_a_wrong_line_is_an_error(self):
        self.assertEqual(histories.read_answer(ended("", "panicked", 101)).outcome, "none")
        told = histories.read_answer(ended('{"is_linearizable": false, "seconds": 2.5}'))
        self.assertEqual((told.outcome, told.seconds), ("violation", 2.5))
        self.assertRaises(ValueError, histories.read_answer, ended("?"))

    def test_the_plot_has_its_curves_and_labels(self):
        runs = [("linear", 1e2), ("linear", 1e4), ("todc-utils", 1e2)]
        records = [solved("length", "case", name, x * 1e-7, x=x) for name, x in runs]
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn(plot.FILE, text.markdown(plot.section(records, folder)))
            with open(os.path.join(folder, plot.FILE), encoding="utf-8") as file:
                svg = file.read()
        for part in ("events", "seconds", "linear", "todc-utils", "<polyline"):
            self.assertIn(part, svg)
        self.assertEqual(svg.count("<circle"), 3)


class Bowman(unittest.TestCase):
    def run_of(self, method, seconds, size, **changes):
        return solved("bowman, n = 4", "bowman, n = 4, round 1", method, seconds, states=1 << 20,
                      transitions=1 << 22, peak_bytes=size, **changes)

    def test_more_than_half_of_spin_is_bold(self):
        pair = [self.run_of("ours", 1.0, 10 << 20), self.run_of("spin", 2.5, 16 << 20)]
        self.assertIn("| 16.0 | 0.40 | **0.62** |", section(bowman.full, pair))
        pair = [self.run_of("ours", 1.0, 8 << 20), self.run_of("stateright", 1.5, 16 << 20)]
        self.assertIn("| 16.0 | 0.67 | 0.50 |", section(bowman.full, pair))
        late = [self.run_of("ours", 1.0, 8 << 20), self.run_of("spin", 600.0, 1, outcome="time")]
        self.assertIn("| 4 | spin | more than 10.0 s | - |", section(bowman.full, late))

    def test_only_spin_may_round(self):
        exact, rounded = 331_569_418, 331_569_420
        for method, transitions, is_wrong in [
                ("ours", exact, False), ("ours", rounded, True), ("stateright", rounded, True),
                ("spin", rounded, False), ("spin-collapse", rounded, False),
                ("spin", rounded + 10, True), ("spin-collapse", rounded - 10, True)]:
            run = solved("bowman, n = 5", "c", method, 1.0, x=5.0, states=bowman.EXPECTED[5][0],
                         transitions=transitions)
            self.assertEqual(bool(bowman.miscounted([run])), is_wrong, (method, transitions))
            fewer = dataclasses.replace(run, states=62_055_311)
            self.assertTrue(bowman.miscounted([fewer]))

    def test_only_a_finished_search_is_an_answer(self):
        def printed(states, transitions):
            output = (f"State-vector 28 byte, depth reached 93792, errors: 0\n{states:>9} states, "
                      f"stored\n2.6951411e+08 states, matched\n{transitions:>9} transitions (= stored)")
            told = bowman.read_spin(ended(output))
            return told.states, told.transitions

        self.assertEqual(printed("2151306", "9276498"), bowman.EXPECTED[4])
        self.assertEqual(bowman.printed(bowman.EXPECTED[4]), bowman.EXPECTED[4])
        self.assertEqual(printed("62055312", "3.3156942e+08"), bowman.printed(bowman.EXPECTED[5]))
        self.assertNotEqual(printed("62055312", "3.3156943e+08"), bowman.printed(bowman.EXPECTED[5]))
        for output in ("", "errors: 0\n7 states, stored\n", "max search depth too small\nerrors: 0"):
            self.assertRaises((ValueError, StopIteration), bowman.read_spin, ended(output))
        violated = "pan:1: assertion violated (copy0>=must0)"
        self.assertEqual(bowman.read_spin(ended(violated)).outcome, "violation")

    @unittest.skipUnless(shutil.which("spin"), "Spin is not installed")
    def test_spins_observer_finds_the_early_exit(self):
        model = bowman.model()
        for right, wrong in [(":: named == _pid\n", ":: named != NONE\n"),
                             ("named != _pid ->", "named == NONE ->")]:
            self.assertEqual(model.count(right), 1)
            model = model.replace(right, wrong)
        with tempfile.TemporaryDirectory() as folder:
            command = bowman.verifier(3, ["-O0"], os.path.join(folder, "right"))
            self.assertEqual(bowman.read_spin(run(command)).states, bowman.EXPECTED[3][0])
            command = bowman.verifier(3, ["-O0"], os.path.join(folder, "wrong"), model)
            self.assertEqual(bowman.read_spin(run(command)).outcome, "violation")


class Others(unittest.TestCase):
    def test_refinement_that_takes_longer_is_bold(self):
        def run(method, seconds, name="4-valued register, n = 2", **changes):
            return solved(name, name, method, seconds, **{"states": 7446, **changes})

        told = section(refinement.full, [run("without-por", 0.5), run("with-por", 7.0)])
        self.assertIn("| 50,893 states, 6.14 s | 7,446 states, 500 ms |", told)
        self.assertIn("| 43,977 states, 5.72 s | **7,446 states, 7.00 s** |", told)
        # Of two rows of one algorithm each has its own.
        told = section(refinement.full, [run("with-por", 1.0, "stack of size 2 (points), n = 4")])
        self.assertIn("| 219,471 states, 49.4 s | 7,446 states, 1.00 s |", told)
        self.assertIn("| 10,385 states, 1.56 s | - |", told)
        late = run("with-por", 60.0, outcome="time", states=None)
        self.assertIn("| **more than 10.0 s** |", section(refinement.full, [late]))

    def test_rows_of_refinement_are_asked_of_the_corpus_but_for_the_mailbox(self):
        rows = record.published("fm2009-table1")
        self.assertEqual(len({refinement.case(row) for row in rows}), len(rows))
        left = [row["algorithm"] for row in rows if not refinement.asked(row)]
        self.assertEqual(len(left), 2)
        self.assertTrue(all("mailbox" in name for name in left))
        for row in filter(refinement.asked, rows):
            size, algorithm, options = refinement.asked(row)
            self.assertIn(algorithm, corpus())
            self.assertIn(str(size), row["algorithm"])
            self.assertEqual("(points)" in row["algorithm"], options.endswith(" --points"))
        six = refinement.register(6)
        self.assertEqual((six.count("0..5"), "bits[1..5]" in six, "..3" in six), (3, True, False))

    def test_means_have_intervals_and_what_takes_longer_is_bold(self):
        def told(*seconds):
            runs = [solved("Barrier", "Barrier, 1", "linearization", one, states=3) for one in seconds]
            return section(together.full, runs)

        row = "| Barrier | Impatience | 80 ± 1 | 106 ± 1 | 3.0 ± 2.0 | 3.0 |"
        self.assertIn(row, told(0.002, 0.004))
        slow = told(0.2, 0.2)
        self.assertIn("| **200 ± 0** | 3.0 |", slow)
        self.assertIn("| Barrier | 169 ± 3 | - | - |", slow)

    def test_line_up_has_our_figures_and_the_published_ones(self):
        columns = {"subject": "Seg", "tests": "random:3x3:100", "number": 100, "run": 40,
                   "passed": 40, "failed": 0, "unknown": 0, "histories": 1234.5,
                   "pass_seconds": 0.75, "fail_seconds": "", "rows": "", "columns": ""}
        failing = {**columns, "tests": "all:2x2", "failed": 3, "rows": 2, "columns": 2}
        with tempfile.TemporaryDirectory() as folder:
            path = record.file(folder, "lineup")
            for row in (failing, columns, {**columns, "subject": "QueuePre"}):
                record.append(path, list(columns), list(row.values()))
            subjects = together.line_up(path)
        told = section(together.line_up_full, subjects)
        self.assertIn("| Seg | 2x2 | 1234 | 40 of 100 | 40 | 0 | 0 | 0.750 | - |", told)
        self.assertIn("| ConcurrentQueue(Pre) |", told)
        self.assertIn("without a subject like it here: ", told)
        self.assertIn("Of 2 subjects", section(together.line_up_brief, subjects))


class Page(unittest.TestCase):
    def test_without_records_there_is_a_page(self):
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "page", "RESULTS.md")
            program.render(folder, output)
            with open(output, encoding="utf-8") as file:
                page = file.read()
        self.assertTrue(page.startswith("# Results") and "## " not in page, page)

    def test_the_page_is_that_of_the_records_and_short(self):
        with tempfile.TemporaryDirectory() as folder:
            program.render(record.RECORDS, os.path.join(folder, "RESULTS.md"))
            for name in ("RESULTS.md", plot.FILE):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    page = file.read()
                with open(os.path.join(record.FOLDER, name), encoding="utf-8") as file:
                    self.assertEqual(file.read(), page, f"render again: {name}")
                if name == "RESULTS.md":
                    self.assertLessEqual(len(page.split()), 2500)

    def test_every_table_has_a_whole_section_and_one_on_the_page(self):
        whole, page = (program.sections(record.RECORDS, is_brief) for is_brief in (False, True))
        self.assertEqual(list(whole), [*program.TABLES, together.LINE_UP])
        for name, told in whole.items():
            self.assertEqual(told.splitlines()[0], page[name].splitlines()[0], "one title")


if __name__ == "__main__":
    unittest.main()
