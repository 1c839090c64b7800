"""quality.py - every method of placebase on task graphs of the literature: its makespan relative to HEFT's and to the
best lower bound, and its time.

    python tests/bench/quality.py [-m METHODS] [-f FAMILIES] [-n SIZES] [-k DEVICES] [-s SEEDS] [-b SECONDS] [-t THREADS]
                            [-x 'OPTIONS of placebase and devsim'] > ROWS.tsv
    python tests/bench/quality.py ROWS.tsv... > TABLE.md
Lists are separated by commas; needs placebase, devsim and json2dag in PATH.  ROWS.tsv has one row per problem and
method, TABLE.md the geometric means over problems."""
import argparse, collections, json, math, subprocess, sys, tempfile, time

import os
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import families
from stream import first, read, runs, value

SKIP = {"expert", "variety"}
KEYS = ["problem", "method", "value", "heft", "bound", "seconds", "why"]


def listed():
    out = subprocess.run(["placebase", "--list"], capture_output=True, text=True, check=True).stdout
    names = [row.split("\t")[0].split(":")[0].rstrip("?") for row in out.splitlines()[1:]]
    return [n for n in names if n not in SKIP]


def call(args):
    start = time.monotonic()
    r = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    return r.returncode, r.stderr.strip().splitlines(), time.monotonic() - start


def bound(place):
    return place.get("bound_value", place.get("bound_s", 0))


def measure(method, graph, out, o):
    """(value, bound, seconds, why not) of a method."""
    args = ["placebase", *o.x.split(), "-t", o.t, *(["--budget", o.b] if o.b > 0 else []),
            *(["-n", 20] if method == "random" else []), method, graph, "-o", out]
    rc, error, took = call(args)
    if rc:
        return math.inf, 0, took, error[-1] if error else f"status {rc}"
    rc, error, _ = call(["devsim", *o.x.split(), out, "-o", out + ".run"])
    if rc:
        return math.inf, 0, took, error[-1]
    best = min(runs(out + ".run"), key=value)
    return value(best), bound(first(read(out), "place")), took, "" if best["ok"] else best["reason"]


def problems(o):
    for name in o.f.split(",") if o.f else families.FAMILIES:
        for n in map(int, o.n.split(",")):
            for k in map(int, o.k.split(",")):
                for seed in map(int, o.s.split(",")):
                    yield name, n, k, seed


def mean(x):
    return math.exp(sum(map(math.log, x)) / len(x)) if x else math.nan


def table(rows, out):
    by = collections.defaultdict(list)
    for r in rows:
        by[r["method"]].append(r)
    out.write("| method | / HEFT | worst | best | / bound | failed | seconds, median | most |\n|---|---|---|---|---|---|---|---|\n")
    for m in by:
        ok = [r for r in by[m] if r["value"] < math.inf]
        ratio = [r["value"] / r["heft"] for r in ok if 0 < r["heft"] < math.inf and r["value"] > 0]
        gap = [r["value"] / r["bound"] for r in ok if r["bound"] > 0]
        took = sorted(r["seconds"] for r in by[m])
        out.write(f"| {m} | {mean(ratio):.3f} | {max(ratio, default=math.nan):.2f} | {min(ratio, default=math.nan):.2f} | "
                  f"{mean(gap):.3f} | {len(by[m]) - len(ok)} | {took[len(took) // 2]:.3f} | {took[-1]:.2f} |\n")
    n = len({r["problem"] for r in rows})
    out.write(f"\nGeometric means over {n} problems.\n")


def stored(path):
    with open(path) as f:
        for row in list(f)[1:]:
            r = dict(zip(KEYS, row.rstrip("\n").split("\t")))
            yield {**r, **{key: float(r[key]) for key in ("value", "heft", "bound", "seconds")}}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag, default, kind in (("-m", "", str), ("-f", "", str), ("-n", "30,150", str), ("-k", "3", str), ("-s", "1", str),
                                ("-b", 1, float), ("-t", 1, int), ("-x", "", str)):
        p.add_argument(flag, default=default, type=kind)
    p.add_argument("rows", nargs="*")
    o = p.parse_args()
    if o.rows:
        return table([r for path in o.rows for r in stored(path)], sys.stdout)
    methods, rows = o.m.split(",") if o.m else listed(), []
    methods = ["heft"] + [m for m in methods if m != "heft"]
    with tempfile.TemporaryDirectory() as tmp:
        for case in problems(o):
            with open(f"{tmp}/p.json", "w") as f:
                json.dump(families.make(*case), f)
            rc, error, _ = call(["json2dag", f"{tmp}/p.json", "-o", f"{tmp}/g.mp"])
            assert rc == 0, error
            here = []
            for m in methods:
                v, bound, took, why = measure(m, f"{tmp}/g.mp", f"{tmp}/m.mp", o)
                here.append({"problem": " ".join(map(str, case)), "method": m, "value": v, "bound": bound,
                             "seconds": took, "why": why})
            for r in here:
                r.update(heft=here[0]["value"], bound=max(x["bound"] for x in here))
                if r["value"] < r["bound"] * (1 - 1e-9):
                    print(f"{r['problem']}: {r['method']} is below a bound", file=sys.stderr)
            rows += here
    print("\t".join(KEYS))
    for r in rows:
        print("\t".join(str(r[key]) for key in KEYS))


if __name__ == "__main__":
    main()
