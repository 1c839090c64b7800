"""gen_dagjson.py - random problems in the general JSON form, awkward on purpose: ties, zeros, missing links,
wildcards, parallel edges, ids of both kinds.

    python tests/support/gen_dagjson.py SEED > problem.json"""
import json, random, sys

EXACT = (1, 2, 4)      # numbers of devices and pairs whose means are exact in binary


def number(rng, ties, most=8):
    if rng.random() < 0.15:
        return 0
    return rng.randint(0, most) if ties else rng.random() * most


def links_of(rng, names, ties, full):
    out = []

    def add(s, d):
        out.append({"src": s, "dst": d, "latency_s": number(rng, ties, 3),
                    "bytes_per_s": rng.choice([1, 2, 4, 8, 1024]) if ties else rng.uniform(0.5, 20)})
    if full or rng.random() < 0.4:
        add("*", "*")
    for s in names + ["*"]:
        for d in names + ["*"]:
            if rng.random() < 0.35:
                add(s, d)
    rng.shuffle(out)
    return out


def node_of(rng, i, names, ties, limits, wild):
    v = {"id": i if rng.random() < 0.5 else f"n{i}"}
    if rng.random() < 0.2:
        v["name"] = f"nöde {i}"
    if rng.random() < 0.3:
        v["cost_s"] = number(rng, ties)
    else:
        v["cost_s"] = {d: number(rng, ties) for d in names}
        if wild and len(names) > 1 and rng.random() < 0.2:
            del v["cost_s"][rng.choice(names)]
    if rng.random() < 0.7:
        v["out_bytes"] = rng.randint(0, 12) * (1 if ties else rng.randint(1, 9))
    if rng.random() < 0.5:
        v["mem_bytes"] = rng.randint(0, 20)
    if wild and rng.random() < 0.15:
        v["allowed"] = rng.sample(names, rng.randint(1, len(names)))
    if wild and rng.random() < 0.1:
        v["colocate"] = rng.choice(["x", "y", 3, "3"])
    return v


def problem(seed, n=None, k=None):
    """A problem; ties: small integers everywhere, so that equal times meet; its ranks are exact then."""
    rng = random.Random(seed)
    ties = rng.random() < 0.6
    wild = rng.random() < 0.5 and not ties
    k = k or (rng.choice(EXACT) if ties else rng.randint(1, 6))
    n = n or rng.choice([1, 2, 3, 5, 8, 13, 20, 35, 60])
    names = [f"d{i}" for i in range(k)]
    limits = rng.random() < 0.3
    nodes = [node_of(rng, i, names, ties, limits, wild) for i in range(n)]
    rng.shuffle(nodes)
    edges, place = [], list(range(n))
    rng.shuffle(place)
    density = rng.choice([0, 0.5, 1, 2, 3])
    for _ in range(int(density * n)):
        a, b = sorted(rng.sample(range(n), 2)) if n > 1 else (0, 0)
        if a == b or (density < 2 and b - a > 6):
            continue
        e = {"src": nodes[place[a]]["id"], "dst": nodes[place[b]]["id"]}
        if rng.random() < 0.3:
            e["bytes"] = rng.randint(0, 12)
        edges += [e] * rng.choice([1, 1, 1, 1, 2])
        if rng.random() < 0.05:
            edges.append({**e, "bytes": 5})
    doc = {"name": f"random {seed}", "devices": [{"name": d} for d in names], "nodes": nodes, "edges": edges,
           "links": links_of(rng, names, ties, ties)}
    if limits:
        for d in doc["devices"]:
            if rng.random() < 0.7:
                d["mem_bytes"] = rng.randint(1, 15 * n)
    if rng.random() < 0.7:
        doc["options"] = {key: rng.random() < 0.5 for key in ("contention", "overlap") if rng.random() < 0.7}
        if rng.random() < 0.5:
            doc["options"]["order"] = rng.choice(["fifo", "rank"])
    more = random.Random(f"turns {seed}")
    if k > 1 and more.random() < 0.3:
        for i, d in enumerate(doc["devices"]):
            others = [o for o in names[:i] + names[i + 1:] if more.random() < 0.4]
            if others or more.random() < 0.2:
                d["turns"] = others
    return doc


def dnnpart(seed, n=None):
    """A problem of dnn-partitioning."""
    rng = random.Random(seed)
    n = n or rng.choice([1, 2, 4, 8, 16, 40])
    nodes = [{"id": 3 * i + 1, "supportedOnFpga": int(rng.random() < 0.9), "cpuLatency": rng.randint(0, 40),
              "fpgaLatency": rng.randint(0, 9), "isBackwardNode": 0, "size": rng.randint(0, 50)}
             for i in range(n)]
    for v in nodes:
        if rng.random() < 0.1:
            v["colorClass"] = rng.randint(0, 2)
    cost = [rng.choice([0, 1, 2.5, rng.random()]) for _ in nodes]
    order = list(range(n))
    rng.shuffle(order)
    pairs = {tuple(sorted(rng.sample(range(n), 2))) for _ in range(2 * n) if n > 1}
    return {"maxSizePerFPGA": rng.choice([40, 200, 10000]), "maxFPGAs": rng.randint(1, 4),
            "maxCPUs": rng.randint(1, 2), "nodes": nodes,
            "edges": [{"sourceId": nodes[order[a]]["id"], "destId": nodes[order[b]]["id"],
                       "cost": cost[order[a]]} for a, b in sorted(pairs)]}


if __name__ == "__main__":
    json.dump(problem(int(sys.argv[1])), sys.stdout, indent=1)
    print()
