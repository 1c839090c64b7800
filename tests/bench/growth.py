"""growth.py - processor seconds of programs on problems of n and 2 n nodes (tests/support/growth.py), and their ratio: work that is
linear has 2, quadratic work 4.  Nothing here has a limit; searches make 50 evaluations.

    python tests/bench/growth.py [-n NODES] [METHOD...]        NODES: of chains, fans and grids (default: 15000)
Needs the programs in PATH."""
import argparse, json, os, resource, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from growth import problem

METHODS = "heft peft lookahead-rank learned-policy learned-moves climb random-moves".split()


def seconds(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ok = subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime if ok else float("nan")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-n", "--nodes", type=int, default=15000)
    p.add_argument("methods", nargs="*", default=METHODS)
    a = p.parse_args()
    print("%-12s %-22s %9s %9s %6s" % ("problem", "program", "n", "2 n", "ratio"))
    with tempfile.TemporaryDirectory() as at:
        for kind, n, k in [(x, a.nodes, 2) for x in ("chain", "fan-in", "fan-out", "grid")] + [("devices", 300, 512)]:
            files = []
            for i in (1, 2):
                path = "%s/%d" % (at, i)
                with open(path + ".json", "w") as f:
                    json.dump(problem("random", n, i * k) if kind == "devices" else problem(kind, i * n, k), f)
                subprocess.run(["json2dag", path + ".json", "-o", path + ".mp"], check=True)
                files.append(path)
            rows = [("json2dag", ("json2dag", ".json")), ("dagfeat", ("dagfeat", "--threads", "1", ".mp"))]
            rows += [(m, ("placebase", m, "--evals", "50", ".mp")) for m in a.methods]
            for name, command in rows:
                t = [seconds(*command[:-1], f + command[-1], "-o", "/dev/null") for f in files]
                print("%-12s %-22s %7.2f s %7.2f s %6.1f" % (kind, name, *t, t[1] / max(t[0], 1e-3)), flush=True)


if __name__ == "__main__":
    main()
