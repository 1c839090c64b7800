#!/usr/bin/env python3
"""speed.py OLD_BIN NEW_BIN OLD_SIM NEW_SIM PAIRS [NAMES] - paired timings of two builds.

Old and new run in turn, A B B A; a pair's ratio is new / old.  A row has the median of old, and the median of the
ratios with its 95 % interval by order statistics (below six pairs: smallest and largest), of processor time,
which other programs disturb less than they do the wall's clock.  Of bench_sim a row for each of its times.
NAMES is a regular expression that selects rows.  $INPUTS has the streams."""
import math, os, re, resource, statistics, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LOOP = "GPN='--threads 1 --hidden {h}' LEARN='--threads 1 --episodes 10' loop $IN/{m}.c.mp /dev/null"

# Name, what has to be done once, what is timed.
ROWS = [
    ("ir2dag nmt4, 20 times", "", "for i in {1..20}; do ir2dag $IN/nmt4.xml -o /dev/null; done"),
    ("dagfeat nmt4, 20 times", "", "for i in {1..20}; do dagfeat $IN/nmt4.g.mp -o /dev/null; done"),
    ("devsim googlenet, 20000 placements", "placebase random -n 20000 $IN/googlenet.c.mp -o p.mp", "devsim p.mp -o /dev/null"),
    ("placebase anneal inception_v3, 300000 evaluations", "", "placebase anneal --evals 300000 $IN/inception_v3.c.mp -o /dev/null"),
    ("placebase climb nmt2, 30000 evaluations", "", "placebase climb --evals 30000 $IN/nmt2.c.mp -o /dev/null"),
    ("learning resnet50", "", LOOP.format(m="resnet50", h=128)),
    ("learning nmt2", "", LOOP.format(m="nmt2", h=32)),
    *[(f"devrun {m} on cpu:0, {n} runs", f"devrun --probe -D cpu:0 $IN/{m}.g.mp | placebase single -o p.mp",
       f"devrun -n {n} --warmup 1 --no-reference p.mp -o /dev/null") for m, n in (("nmt2", 60), ("resnet50", 12))],
]


def bash(bin_dir, command, folder):
    """Seconds of processor time."""
    env = {**os.environ, "PATH": f"{bin_dir}:{os.environ['PATH']}", "IN": os.environ["INPUTS"],
           "OPENBLAS_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["bash", "-o", "pipefail", "-c", f". {HERE}/functions.bash; {command}"], cwd=folder, env=env, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def sim_times(program):
    out = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return {k: float(v) for k, v in (line.split() for line in out.splitlines()) if k.endswith("_us")}


def in_turn(pairs, old, new):
    """[(old, new)]: A B B A ..."""
    out = []
    for i in range(pairs):
        if i % 2:
            b = new()
            out.append((old(), b))
        else:
            a = old()
            out.append((a, new()))
    return out


def interval(x):
    """Of the median, by order statistics: at least 95 %."""
    x, n, k = sorted(x), len(x), 0
    while n >= 6 and 2 * sum(math.comb(n, i) for i in range(k + 2)) / 2**n <= 0.05:
        k += 1
    return x[k], x[n - 1 - k]


def show(name, times, unit):
    ratios = [b / a for a, b in times]
    lo, hi = interval(ratios)
    print(f"{name:50} {statistics.median(a for a, _ in times):9.3f} {unit:2}  "
          f"{statistics.median(ratios):.3f} ({lo:.3f} to {hi:.3f})", flush=True)


def main(old, new, old_sim, new_sim, pairs, names=""):
    pairs = int(pairs)
    print(f"{'':50} {'old':>9}     new / old ({pairs} pairs)")
    if os.path.exists(old_sim) and os.path.exists(new_sim) and re.search(names, "bench_sim"):
        times = in_turn(pairs, lambda: sim_times(old_sim), lambda: sim_times(new_sim))
        for key in times[0][0]:
            if all(key in t for pair in times for t in pair):
                show(f"bench_sim {key[:-3]}", [(a[key], b[key]) for a, b in times], "us")
    for name, once, command in ROWS:
        if re.search(names, name):
            with tempfile.TemporaryDirectory() as folder:
                bash(old, once or ":", folder)
                show(name, in_turn(pairs, lambda: bash(old, command, folder), lambda: bash(new, command, folder)), "s")


main(*sys.argv[1:])
