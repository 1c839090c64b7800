"""dynamic.py - does a placement for one shape serve the others?  Models with open dims, simulated or on devices.

    python tests/bench/dynamic.py FOLDER NAME... [--spec LIST] [--evals N] [--seed N] [--merge N] > table.md
    python tests/bench/dynamic.py FOLDER NAME... --devices LIST [--budget S] [--seed N] [--merge N] > table.md

FOLDER has NAME.xml, and NAME.tsv: shapes and how often each comes (tests/bench/dynamic_nets.py makes eight).  --merge N of the shapes (6)
stand for all.  A portfolio of N simulations (10,000) searches for all of them by their weights, and for each of them alone; what any of
them found, single devices and HEFT's placements are then simulated at every shape.  The columns are latencies by weights, over that of the best
placement of each shape alone, less 1, in %:

    one shape    the placement that was found for the shape at the median alone, as who places one shape and runs all
    at worst     the same at the shape where it loses most
    one for all  the best single placement for all
    two          the best two, each where it is the faster one
    device       the best single device
    HEFT         HEFT's for all

and `placements`, how many suffice to lose less than 1 %.  With --devices `place` looks for them in S seconds (60), and all is of the placements that
ran in its last race, as they were measured there: the best of each shape is the luckiest, too."""
import argparse
import itertools
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import stream


def shell(text, **words):
    p = subprocess.run(["bash", "-o", "pipefail", "-ec", text], env={**os.environ, **{k: str(v) for k, v in words.items()}},
                       capture_output=True, text=True)
    if p.returncode:
        sys.exit("dynamic.py: '%s' with %s: %s" % (text, words, p.stderr.strip()))


def simulated(folder, name, o):
    """(weights (n), seconds (placements,n), sources): what each placement takes at each shape."""
    path = os.path.join(folder, name)
    shell('ir2dag --shapes "$M.tsv" --merge $MERGE "$M.xml" | devsim --probe --spec "$SPEC" -o "$M.mp"', M=path, SPEC=o.spec, MERGE=o.merge)
    weights = np.array([c["weight"] for c in stream.first(stream.read(path + ".mp"), "graph")["cases"]])
    found = []
    for case in range(len(weights) + 1):
        for method in (["single"] if case == 0 else []) + ["heft", "portfolio"]:
            shell('placebase $METHOD --no-hints --evals $EVALS --seed $SEED --case $CASE "$M.mp" -o "$M.found.mp"', M=path, METHOD=method, CASE=case,
                  EVALS=o.evals, SEED=o.seed)
            found += [(method, case, m) for k, m in stream.read(path + ".found.mp") if k == "place"]
    records = [r for r in stream.read(path + ".mp") if r[0] != "end"]
    stream.write(path + ".all.mp", records + [["place", {**m, "sample": i}] for i, (_, _, m) in enumerate(found)])
    shell('devsim "$M.all.mp" -o "$M.ran.mp"', M=path)
    runs = [m for k, m in stream.read(path + ".ran.mp") if k == "run"]
    return weights, np.array([stream.array(m["case_s"]) for m in runs]), [(method, case) for method, case, _ in found]


def measured(folder, name, o):
    """The same of what ran in the last race of `place`."""
    path = os.path.join(folder, name)
    shell('place "$M.xml" -D "$DEVICES" --shapes "$M.tsv" --merge $MERGE --budget $S --seed $SEED -o "$M.placed" >"$M.log" 2>&1', M=path, DEVICES=o.devices,
          MERGE=o.merge, S=o.budget, SEED=o.seed)
    final = stream.read(os.path.join(path + ".placed", "final.mp"))
    weights = np.array([c["weight"] for c in stream.first(final, "graph")["cases"]])
    runs = [m for k, m in final if k == "run" and m["ok"] and "case_s" in m]
    return weights, np.array([stream.array(m["case_s"]) for m in runs]), [(m["source"], 0) for m in runs]


def losses(weights, seconds, source):
    """The columns of a row; None: no such placement ran."""
    least = seconds.min(0)
    lost = lambda times: 100 * (times @ weights / (least @ weights) - 1)
    median = int(np.searchsorted(np.cumsum(weights) / weights.sum(), 0.5)) + 1
    pool = sorted(set(seconds.argmin(0)) | set(np.argsort(seconds @ weights)[:8]))

    def best(k):
        """Of every k placements those that lose least; of the pool, what is the best somewhere, and the best for all."""
        return min(lost(seconds[list(some)].min(0)) for some in itertools.combinations(pool, min(k, len(pool))))

    def of(method, case=0):
        return [t for t, s in zip(seconds, source) if s == (method, case)]

    one = of("portfolio", median)
    single, heft = [min(map(lost, of(m)), default=None) for m in ("single", "heft")]
    return [lost(one[0]) if one else None, 100 * (one[0] / least - 1).max() if one else None, best(1), best(2), single, heft,
            next(k for k in range(1, len(weights) + 1) if best(k) < 1)]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder")
    p.add_argument("names", nargs="+")
    p.add_argument("--spec", default="desktop-cpu,datacenter-gpu")
    p.add_argument("--evals", type=int, default=10000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--merge", type=int, default=6)
    p.add_argument("--devices")
    p.add_argument("--budget", type=float, default=60)
    o = p.parse_args()
    print("| model | each its own, ms | one shape | at worst | one for all | two | device | HEFT | placements |")
    print("|---|" + "---|" * 8)
    for name in o.names:
        weights, seconds, source = (measured if o.devices else simulated)(o.folder, name, o)
        *lost, enough = losses(weights, seconds, source)
        each = 1e3 * (seconds.min(0) @ weights) / weights.sum()
        print("| %s | %.3f | %s | %d |" % (name, each, " | ".join("-" if x is None else "%.1f %%" % x for x in lost), enough), flush=True)


if __name__ == "__main__":
    main()
