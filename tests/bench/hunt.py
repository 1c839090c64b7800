#!/usr/bin/env python3
"""hunt.py - random chains of operators (hunt_nets.py), devrun beside OpenVINO in pairs, in search of what is slow here.

Each seed is a chain, timed as ops.py times its rows.  Those that OpenVINO takes --least microseconds for and more count.  One whose
ratio is above --slow is measured again, three times, the least of all turns on either side; if it stays above, it is made smaller as
long as its ratio stays within a fifth, for --shrink seconds, and its line is added to --found, which make bench-ops runs, too.

--log has a line for each seed; seeds that it has are not run again.  A seed on which OpenVINO or devrun crashes or hangs is noted,
and left behind.  --summary only tells what the log says.  --check compares outputs in place of times,
--check found those of the lines of --found.

Usage: hunt.py [--seeds A-B] [--seconds S] [options]
"""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "fuzz"), os.path.join(HERE, "..", "oracle")]
import exec as pairs
import hunt_nets
import ops

HANGS = 90      # seconds that the measurements of a seed may take, without its shrinking
FAILS = (RuntimeError, ValueError, KeyError, IndexError, TypeError, OSError, hunt_nets.Unfit, subprocess.SubprocessError)


class Clock:
    """Microseconds of lines on both sides."""

    def __init__(self, args):
        self.args, self.tiny = args, (0, 0)
        self.device = ("cpu:0" if args.threads == 1 else "cpu:0-%d" % (args.threads - 1)) + args.device
        self.precision = "bf16" if "bf16" in args.device else "f32"
        self.tiny = [min(v) for v in self.bursts(ops.TINY, 5)]

    def bursts(self, line, n):
        self.args.pairs = n
        with tempfile.TemporaryDirectory() as tmp:
            return ops.Case(self.args, line, tmp).measure(self.device, self.args.threads, self.precision)

    def time(self, line, n=2, again=1):
        """(ours, OpenVINO's, ratio), the least of n pairs, as often as `again` says."""
        x, y = [], []
        for _ in range(again):
            a, b = self.bursts(line, n)
            x, y = x + a, y + b
        return ops.ratio_of(x, y, self.tiny)


def shrink(line, slow, seconds):
    """The smallest line found of which slow(line) is still true."""
    end, again = time.monotonic() + seconds, True
    while again:
        again = False
        for less in hunt_nets.smaller(line):
            if time.monotonic() > end:
                return line
            try:
                hunt_nets.model(less)
                again = slow(less)
            except FAILS:
                continue
            if again:
                line = less
                break
    return line


def examine(seed, clock, args):
    """What the log has of a seed."""
    line = hunt_nets.generate(seed, args.kinds)
    if line is None:
        return {"failed": "no chain"}
    us, other, ratio = clock.time(line)
    if other >= args.least and ratio > args.slow:
        us, other, ratio = clock.time(line, 4, 3)
    row = {"op": line["op"], "us": round(us, 1), "other": round(other, 1), "ratio": round(ratio, 3)}
    if other < args.least or ratio <= args.slow:
        return row
    signal.alarm(int(HANGS + args.shrink))
    found = line

    def slow(less):
        limit = max(args.slow, 0.8 * ratio)
        return all(r > limit and b >= args.least for _, b, r in (clock.time(less), clock.time(less, 4)))

    if args.shrink:
        found = shrink(line, slow, args.shrink)
    row["line"] = {**found, "model": "hunt %d: %.1f%s%s" % (seed, ratio, args.device, ", %d threads" % args.threads if args.threads > 1 else "")}
    return row


def rows_of(path):
    return {r["seed"]: r for r in ops.read_lines(path)} if os.path.exists(path) else {}


def add_line(path, row):
    with open(path, "a", encoding="utf-8") as f:
        f.write(json.dumps(row, separators=(",", ":")) + "\n")


def known(line, path):
    return any(l["in"] == line["in"] and l.get("steps") == line["steps"] for l in (ops.read_lines(path) if os.path.exists(path) else []))


def hunt(seeds, args, end):
    """All seeds, in this process."""
    clock, slow = Clock(args), 0
    for n, seed in enumerate(seeds):
        if time.monotonic() > end:
            return
        signal.alarm(HANGS)
        try:
            row = examine(seed, clock, args)
        except FAILS as e:
            row = {"failed": (type(e).__name__ + ": " + " ".join(str(e).split()))[:200]}
        signal.alarm(0)
        add_line(args.log, {"seed": seed, **row})
        if "line" in row:
            slow += 1
            if not known(row["line"], args.found):
                add_line(args.found, row["line"])
            print("\r%6.2f  %9.1f us  %s" % (row["ratio"], row["us"], json.dumps({k: row["line"][k] for k in ("in", "steps")})), flush=True)
        if sys.stdout.isatty() or (n + 1) % 100 == 0:
            print("\rseed %d, %d of %d, %d slow  " % (seed, n + 1, len(seeds), slow), end="" if sys.stdout.isatty() else "\n", flush=True)


def hunt_apart(args):
    """In a process of its own, and in another one behind a seed on which that ends."""
    end = time.monotonic() + args.seconds
    while time.monotonic() < end:
        done = rows_of(args.log)
        seeds = [s for s in range(args.first, args.last + 1) if s not in done]
        if not seeds:
            return
        child = os.fork()
        if child == 0:
            hunt(seeds, args, end)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if status == 0:
            return
        left = [s for s in seeds if s not in rows_of(args.log)]
        if left:
            add_line(args.log, {"seed": left[0], "failed": "the comparison ended with status %d" % status})


def summary(args):
    rows = list(rows_of(args.log).values())
    judged = sorted((r for r in rows if r.get("other", 0) >= args.least), key=lambda r: -r["ratio"])
    if not judged:
        print("%d seeds, none counts" % len(rows))
        return
    above = lambda v: sum(r["ratio"] > v for r in judged)
    print("%d seeds, %d failed, %d of %g us and more: median ratio %.2f, %d (%.1f %%) above 1.15, %d (%.1f %%) above 1.5"
          % (len(rows), sum("failed" in r for r in rows), len(judged), args.least, statistics.median(r["ratio"] for r in judged),
             above(1.15), 100 * above(1.15) / len(judged), above(1.5), 100 * above(1.5) / len(judged)))
    for r in judged[:args.worst]:
        print("    %6.2f  %9.1f us  seed %d  %s" % (r["ratio"], r["us"], r["seed"], json.dumps({k: r["line"][k] for k in ("in", "steps")})
                                                     if "line" in r else r["op"]))


def check(args):
    """Are outputs of the chains what OpenVINO computes?"""
    import nets
    lines = ops.read_lines(args.found) if args.check == "found" else [hunt_nets.generate(s, args.kinds) for s in range(args.first, args.last + 1)]
    wrong = n = 0
    rng = np.random.default_rng(1)
    for line in filter(None, lines):
        n += 1
        with tempfile.TemporaryDirectory() as tmp:
            case = ops.Case(args, line, tmp)
            placed = pairs.pipe([args.bin + "/placebase", "single", "-D", "cpu:0"], pairs.pipe([args.bin + "/ir2dag", case.xml]))
            pairs.pipe([args.bin + "/devrun", "-D", "cpu:0", "--runs", "1", "--warmup", "0", "--no-reference", "--inputs", case.inputs,
                        "--outputs", tmp + "/out", "-o", os.devnull], placed)
            have = list(nets.load(tmp + "/out").values())[0]
            compiled = nets.core().compile_model(case.xml, "CPU", nets.SETTINGS)
            theirs = lambda given: compiled({p: given[p.get_node().get_friendly_name()] for p in compiled.inputs})[0].copy()
            want = theirs(case.values)
            off, unsure = nets.moved(have, want), 0.0
            if off > nets.SCALE_TOL:        # a norm over two values, say, moves as far when last bits of the inputs change
                unsure = 4 * max(nets.moved(theirs(nets.nearby(case.values, rng)), want) for _ in range(4))
        if not off <= max(nets.SCALE_TOL, unsure):
            wrong += 1
            print("%s: %.1e of scale off: %s" % (line["model"], off, json.dumps(line)))
    print("%d chains, %d wrong" % (n, wrong))
    return 1 if wrong else 0


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--bin", default="build/bin")
    ap.add_argument("--seeds", default="1-1000000", metavar="A-B")
    ap.add_argument("--seconds", type=float, default=600)
    ap.add_argument("--threads", type=int, default=1)
    ap.add_argument("--device", default="", metavar="/precision=P", help="of ours: bf16, int8; OpenVINO's bf16 follows")
    ap.add_argument("--least", type=float, default=20, help="microseconds of OpenVINO")
    ap.add_argument("--slow", type=float, default=1.5, help="ratio")
    ap.add_argument("--burst", type=float, default=0.015, help="seconds")
    ap.add_argument("--shrink", type=float, default=60, help="seconds for each")
    ap.add_argument("--worst", type=int, default=20)
    ap.add_argument("--kinds", nargs="*", choices=sorted(hunt_nets.STEPS), help="of steps alone")
    ap.add_argument("--log", default="build/hunt.jsonl")
    ap.add_argument("--found", default=HERE + "/op_found.jsonl")
    ap.add_argument("--summary", action="store_true")
    ap.add_argument("--check", nargs="?", const="seeds", choices=("seeds", "found"))
    args = ap.parse_args()
    args.first, args.last = (int(v) for v in (args.seeds.split("-") * 2)[:2])
    if args.check:
        return check(args)
    if not args.summary:
        hunt_apart(args)
    summary(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
