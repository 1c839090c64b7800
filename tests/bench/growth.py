"""growth.py - processor seconds of programs on problems of n and 2 n nodes (tests/support/growth.py), and their ratio: work that is
linear has 2, quadratic work 4.  Searches make 50 evaluations, and have no limit of time.

    python tests/bench/growth.py [-n NODES] [METHOD...]        NODES: of chains, fans, grids and Concats (default: 15000)
    python tests/bench/growth.py --budget S [METHOD...]        what methods take of a budget of S seconds, on chains of 100,000, fans of
                                                               30,000 edges and 1,024 devices (METHODs: default all of placebase --list)

--budget tells seconds of the clock and of the processor; "late" is what a second run of the program with METHOD single, which reads
and writes alike, and the budget with 5 % and 0.1 s leave over.  Nothing else should run.
Needs the programs in PATH."""
import argparse, json, os, resource, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from growth import problem
from tiny_ir import Model

METHODS = "heft peft lookahead-rank learned-policy learned-moves climb random-moves".split()
BOUNDED = [("chain", 100000, 4), ("fan-in", 30000, 2), ("fan-out", 30000, 2), ("random", 1000, 1024)]


def seconds(*command):
    """(clock, processor) of a command; processor nan where it fails"""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    ok = subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0
    after, took = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
    return took, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime if ok else float("nan")


def write_problem(path, kind, n, k):
    with open(path + ".json", "w") as f:
        json.dump(problem(kind, n, k), f)
    subprocess.run(["json2dag", path + ".json", "-o", path + ".mp"], check=True)


def write_concat(path, n):
    """An IR of n operators whose results one Concat joins."""
    os.chdir(os.path.dirname(path))
    m = Model(os.path.basename(path))
    x = m.layer("Parameter", "x", "f32", (1, 4))
    m.result(m.layer("Concat", "join", "f32", (n, 4), *[m.layer("Relu", "r%d" % i, "f32", (1, 4), x) for i in range(n)], axis=0))
    m.save()
    subprocess.run("ir2dag %s.xml | devsim --probe --spec paper -o %s.mp" % (path, path), shell=True, check=True)


def growth(a, at):
    print("%-12s %-22s %9s %9s %6s" % ("problem", "program", "n", "2 n", "ratio"))
    kinds = [(x, a.nodes, 2) for x in ("chain", "fan-in", "fan-out", "grid", "concat")] + [("devices", 300, 512)]
    for kind, n, k in kinds:
        files = []
        for i in (1, 2):
            path = "%s/%s%d" % (at, kind, i)
            if kind == "concat":
                write_concat(path, i * n)
            elif kind == "devices":
                write_problem(path, "random", n, i * k)
            else:
                write_problem(path, kind, i * n, k)
            files.append(path)
        rows = [("ir2dag", ("ir2dag", ".xml"))] if kind == "concat" else [("json2dag", ("json2dag", ".json"))]
        rows += [("dagfeat", ("dagfeat", "--threads", "1", ".mp"))]
        rows += [(m, ("placebase", m, "--evals", "50", ".mp")) for m in a.methods or METHODS]
        for name, command in rows:
            t = [seconds(*command[:-1], f + command[-1], "-o", "/dev/null")[1] for f in files]
            print("%-12s %-22s %7.2f s %7.2f s %6.1f" % (kind, name, *t, t[1] / max(t[0], 1e-3)), flush=True)


def budgets(a, at):
    listed = subprocess.run(["placebase", "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[1:]
    methods = a.methods or [m for m in (line.split("\t")[0] for line in listed) if ":" not in m or m.endswith("?")]
    print("%-22s %-22s %9s %9s %9s" % ("problem", "method", "clock", "processor", "late"))
    for kind, n, k in BOUNDED:
        path = "%s/%s" % (at, kind)
        write_problem(path, kind, n, k)
        usual = seconds("placebase", "single", path + ".mp", "-o", "/dev/null", "--budget", "0.001")[0]
        for m in methods:
            took, cpu = seconds("placebase", m.split(":")[0], "--budget", str(a.budget), path + ".mp", "-o", "/dev/null")
            late = took - usual - 1.05 * a.budget - 0.1
            print("%-22s %-22s %7.2f s %7.2f s %9s" % ("%s %d, %d" % (kind, n, k), m, took, cpu, "%.2f s" % late if late > 0 else ""),
                  flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-n", "--nodes", type=int, default=15000)
    p.add_argument("--budget", type=float)
    p.add_argument("methods", nargs="*")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as at:
        budgets(a, at) if a.budget else growth(a, at)


if __name__ == "__main__":
    main()
