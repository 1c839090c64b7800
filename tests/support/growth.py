"""growth.py - problems that show work which grows faster than they do: chains, nodes with many edges, grids, many devices.

    python tests/support/growth.py KIND NODES DEVICES > problem.json      KIND: see KINDS"""
import json, random, sys

KINDS = {
    "chain": lambda n, rng: [(i, i + 1) for i in range(n - 1)],
    "fan-in": lambda n, rng: [(i, n - 1) for i in range(n - 1)],
    "fan-out": lambda n, rng: [(0, i) for i in range(1, n)],
    "fan": lambda n, rng: [(0, i) for i in range(1, n - 1)] + [(i, n - 1) for i in range(1, n - 1)],
    "grid": lambda n, rng: [e for i in range(n) for e in ((i, i + 1), (i, i + int(n ** 0.5)))
                            if e[1] < n and (e[1] > i + 1 or e[1] % int(n ** 0.5))],
    "random": lambda n, rng: sorted({(rng.randrange(max(0, i - 50), i), i) for i in range(1, n) for _ in range(2)}),
}


def problem(kind, n, k):
    rng = random.Random(1)
    names = ["d%d" % i for i in range(k)]
    return {"devices": [{"name": d} for d in names],
            "links": [{"src": "*", "dst": "*", "latency_s": 1e-5, "bytes_per_s": 1e10}],
            "nodes": [{"id": i, "cost_s": {d: 1e-4 * (1 + rng.random()) for d in names}, "out_bytes": 1000, "mem_bytes": 1000}
                      for i in range(n)],
            "edges": [{"src": a, "dst": b} for a, b in KINDS[kind](n, rng)]}


if __name__ == "__main__":
    print(json.dumps(problem(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))     # json.dump takes ten times as long
