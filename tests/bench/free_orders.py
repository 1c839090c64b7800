"""free_orders.py - how many task graphs on equal processors `exact --order free` proves within a time.

    python tests/bench/free_orders.py [--tasks 10] [--most 10] [--count 280] [--budget 1] [-v]

Graphs are those of tests/support/task_graphs.py, with --tasks to --most tasks.  A proof that another search contradicts is
told.  Needs the programs in PATH."""
import argparse, collections, json, os, re, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import task_graphs


def solve(doc, budget, tmp, method):
    with open(f"{tmp}/p.json", "w") as f:
        json.dump(doc, f)
    subprocess.run(["json2dag", f"{tmp}/p.json", "-o", f"{tmp}/g.mp"], check=True)
    began = time.monotonic()
    r = subprocess.run(["placebase", method, "--order", "free", "--no-contention", "--budget", str(budget), "-v",
                        f"{tmp}/g.mp", "-o", f"{tmp}/p.mp"], capture_output=True, text=True, check=True)
    value, bound = map(float, re.search(r": ([0-9.e+-]+) s, no placement below ([0-9.e+-]+) s", r.stderr).groups())
    return value, bound, time.monotonic() - began


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tasks", type=int, default=10)
    p.add_argument("--most", type=int)
    p.add_argument("--count", type=int, default=280)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--step", type=int, default=1)
    p.add_argument("--budget", type=float, default=1)
    p.add_argument("--method", default="exact")
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    most = o.most or o.tasks
    proved, of = collections.Counter(), collections.Counter()
    longest, gaps = 0, []
    with tempfile.TemporaryDirectory() as tmp:
        for i, doc in enumerate(task_graphs.campaign(lambda i: o.tasks + i % (most - o.tasks + 1), o.count)):
            if i < o.first or (i - o.first) % o.step:
                continue
            kind = doc["name"].rsplit("-", 4)[0]
            value, bound, seconds = solve(doc, o.budget, tmp, o.method)
            done = value <= bound * (1 + 1e-8)
            proved[kind] += done
            of[kind] += 1
            longest = max(longest, seconds)
            gaps += [] if done else [1 - bound / value]
            if o.v or not done:
                print(f"{doc['name']}: {value:g}, bound {bound:g}{'' if done else ', not proved'}, {seconds:.2f} s", flush=True)
    for kind in of:
        print(f"{kind}: {proved[kind]} of {of[kind]}")
    print(f"proved {sum(proved.values())} of {sum(of.values())} within {o.budget:g} s; the longest took {longest:.2f} s;"
          f" gaps of others {', '.join(f'{100 * g:.1f} %' for g in sorted(gaps)) or 'none'}")


if __name__ == "__main__":
    main()
