"""refheft.py - HEFT and CPOP as sections 4.1 to 4.3 of Topcuoglu, Hariri and Wu (2002) have them, written again,
in exact numbers, beside placebase's.

    python tests/oracle/refheft.py SIZE DEVICES...      all families of families.py, and graphs whose costs are small
                                                 integers: full of ties; needs json2dag, placebase in PATH
Links carry any number of copies; costs of copies are means over different devices.  Of what is equal the first in
topological order, and of devices the first."""
import json, random, subprocess, sys, tempfile
from fractions import Fraction

import families, refsim


class Scheduler:
    """A refsim.Problem without memory and missing links, its ranks, and a schedule with insertion."""

    def __init__(self, p):
        self.k, self.n, self.at = len(p.devices), len(p.names), p.topo
        self.cost = [{d: Fraction(s) for d, s in c.items()} for c in p.cost]
        self.link = {ab: (Fraction(l), Fraction(r)) for ab, (l, r) in p.links.items()}
        pairs = [(a, b) for a in range(self.k) for b in range(self.k) if a != b]
        self.ins, self.outs = [[] for _ in range(self.n)], [[] for _ in range(self.n)]
        for v in range(self.n):
            for size, ws in p.tensors[v]:
                mean = sum(self.copy_s(a, b, size) for a, b in pairs) / max(1, len(pairs))
                for w in ws:
                    self.ins[w].append((v, size, mean))
                    self.outs[v].append((w, mean))
        order = sorted(range(self.n), key=lambda v: self.at[v])
        mean = [sum(c.values()) / len(c) for c in self.cost]
        self.up, self.down = [0] * self.n, [0] * self.n
        for v in reversed(order):
            self.up[v] = mean[v] + max((s + self.up[w] for w, s in self.outs[v]), default=0)
        for v in order:
            self.down[v] = max((self.down[u] + mean[u] + s for u, _, s in self.ins[v]), default=0)

    def copy_s(self, a, b, size):
        latency, rate = self.link[a, b]
        return latency + Fraction(size) / rate

    def run(self, priority, fixed={}):
        """The makespan: of the tasks whose inputs are made that of the highest priority, where it ends first, or where
        it is fixed."""
        busy, on, end = [[] for _ in range(self.k)], [0] * self.n, [0] * self.n
        left = [{u for u, _, _ in self.ins[v]} for v in range(self.n)]
        ready = {v for v in range(self.n) if not left[v]}
        while ready:
            v = min(ready, key=lambda v: (-priority[v], self.at[v]))
            ready.remove(v)
            ends = []
            for d, cost in sorted(self.cost[v].items()):
                if fixed.get(v, d) != d:
                    continue
                start = max((end[u] + (self.copy_s(on[u], d, size) if on[u] != d else 0)
                             for u, size, _ in self.ins[v]), default=0)
                for a, b in busy[d]:
                    if start + cost <= a:
                        break
                    start = max(start, b)
                ends.append((start + cost, d, start))
            end[v], on[v], start = min(ends)
            busy[on[v]] = sorted(busy[on[v]] + [(start, end[v])])
            for w in {w for w, _ in self.outs[v]}:
                left[w].remove(v)
                if not left[w]:
                    ready.add(w)
        return float(max(end))

    def heft(self):
        return self.run(self.up)

    def cpop(self):
        priority = [a + b for a, b in zip(self.up, self.down)]
        best = max(priority)
        path, tasks = [], [v for v in range(self.n) if not self.ins[v]]
        while tasks:
            path.append(min((v for v in tasks if priority[v] == best), key=lambda v: self.at[v]))
            tasks = [w for w, _ in self.outs[path[-1]]]
        able = [d for d in range(self.k) if all(d in self.cost[v] for v in path)]
        dev = min(able, key=lambda d: sum(self.cost[v][d] for v in path))
        return self.run(priority, {v: dev for v in path})


def ties(seed):
    r = random.Random(seed)
    n, k = r.randint(5, 25), r.choice([2, 3, 5])
    devices = [f"d{i}" for i in range(k)]
    return {"name": f"ties {seed}", "devices": [{"name": d} for d in devices],
            "links": [{"src": "*", "dst": "*", "latency_s": 0, "bytes_per_s": 1}],
            "nodes": [{"id": i, "cost_s": {d: r.randint(1, 3) for d in devices}} for i in range(n)],
            "edges": [{"src": i, "dst": j, "bytes": r.randint(0, 2)} for j in range(n) for i in range(j)
                      if r.random() < 2 / n], "options": {"contention": False}}


def main():
    size, wrong = int(sys.argv[1]), 0
    docs = [families.make(name, size, k, k) for name in families.FAMILIES for k in map(int, sys.argv[2:])]
    with tempfile.TemporaryDirectory() as tmp:
        for doc in docs + [ties(seed) for seed in range(40)]:
            with open(f"{tmp}/p.json", "w") as f:
                json.dump(doc, f)
            x = Scheduler(refsim.Problem(doc))
            for method, theirs in ("heft", x.heft()), ("cpop", x.cpop()):
                r = subprocess.run(f"json2dag {tmp}/p.json | placebase -v {method} -o {tmp}/p.mp", shell=True,
                                   capture_output=True, text=True, check=True)
                ours = float(r.stderr.split("schedule takes ")[1].split()[0])
                if abs(ours - theirs) > 1e-5 * theirs:
                    print(f"{doc['name']}: {method} {ours}, not {theirs}")
                    wrong += 1
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
