"""against_refsim.py - devsim beside the reference simulator on random problems and placements.

    python tests/against_refsim.py FIRST LAST       seeds; needs json2dag, placebase and devsim in PATH
prints what differs, status 1 when anything does."""
import collections, json, random, subprocess, sys, tempfile

import numpy as np

import gen_dagjson, refsim
from stream import array, first, read, tensor, write


def close(a, b):
    return abs(a - b) <= 1e-9 * max(1, abs(a), abs(b))


def pipe(command):
    r = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    return r.stderr.strip() if r.returncode else None


def pairs(path):
    """(place, run) of a stream."""
    recs = read(path)
    places, runs = ([m for kind, m in recs if kind == want] for want in ("place", "run"))
    assert len(places) == len(runs), path
    return list(zip(places, runs))


def differs(p, on, run):
    """In what devsim's run is not the reference's."""
    try:
        ref = refsim.Run(p, on)
    except refsim.Infeasible as e:
        return [f"ok, but {e}"] if run["ok"] else []
    if ref.over:
        if run["ok"]:
            return ["ok, but over memory"]
        return [] if close(run.get("unlimited_s", 0), ref.makespan) else ["unlimited_s"]
    if not run["ok"]:
        return ["not ok: " + run["reason"]]
    same = {"makespan": close(run["lat_s"], ref.makespan),
            "busy": all(map(close, array(run["busy_s"]), ref.busy)),
            "memory": list(array(run["mem_bytes"])) == ref.memory,
            "copies": run["copies"] == len(ref.copies),
            "bytes": run["copy_bytes"] == sum(ref.link_bytes.values())}
    return [what for what in same if not same[what]]


def general(seed, tmp, found):
    doc = gen_dagjson.problem(seed)
    json.dump(doc, open(f"{tmp}/p.json", "w"))
    error = pipe(f"json2dag {tmp}/p.json | placebase random -n 20 --seed {seed + 1} | devsim -o {tmp}/p.mp")
    if error:
        found[error, seed] += 1
        return 0
    p = refsim.Problem(doc)
    file_order = sorted(range(len(p.names)), key=lambda v: p.topo[v])
    if first(read(f"{tmp}/p.mp"), "graph")["node_name"] != [p.names[v] for v in file_order]:
        found["order of nodes", seed] += 1
    both = pairs(f"{tmp}/p.mp")
    for place, run in both:
        on = [None] * len(p.names)
        for v, dev in zip(file_order, array(place["device"])):
            on[v] = p.devices.index(place["devices"][dev])
        for what in differs(p, on, run):
            found[what + str(doc.get("options", "")), seed] += 1
    return len(both)


def chunks(p, rng, topo):
    """Accelerators hold one stretch each of a topological order; what they cannot run is on a CPU."""
    on = [rng.randrange(p.n_cpus) for _ in p.cpu]
    at = sorted(rng.sample(range(len(topo) + 1), min(p.n_accs + 1, len(topo) + 1)))
    for a, (lo, hi) in enumerate(zip(at, at[1:])):
        for v in topo[lo:hi]:
            if p.acc[v] is not None and rng.random() < 0.95:
                on[v] = p.n_cpus + a
    return on


def dnnpart(seed, tmp, found):
    rng, doc = random.Random(seed), gen_dagjson.dnnpart(seed)
    json.dump(doc, open(f"{tmp}/d.json", "w"))
    error = pipe(f"json2dag {tmp}/d.json | placebase random -o {tmp}/d.mp")
    if error:
        found[error, seed] += 1
        return 0
    p, recs = refsim.Dnnpart(doc), read(f"{tmp}/d.mp")
    at = {v["id"]: i for i, v in enumerate(doc["nodes"])}
    topo = [at[i] for i in array(first(recs, "graph")["id"])]
    place, ons = first(recs, "place"), []
    recs = [r for r in recs if r[0] != "place"]
    kind = ["cpu:" if d < p.n_cpus else "acc:" for d in range(p.n_cpus + p.n_accs)]
    number = [place["devices"].index(f"{x}{d if x == 'cpu:' else d - p.n_cpus}") for d, x in enumerate(kind)]
    for i in range(20):
        ons.append(chunks(p, rng, topo))
        device = [number[ons[-1][v]] for v in topo]
        recs.append(["place", {**place, "sample": i, "device": tensor(np.array(device, "u2"))}])
    write(f"{tmp}/d.mp", recs)
    for model, want in (("latency", p.latency_ms), ("throughput", p.throughput_ms)):
        error = pipe(f"devsim --model dnnpart-{model} {tmp}/d.mp -o {tmp}/e.mp")
        if error:
            found[error, seed] += 1
            continue
        for on, (_, run) in zip(ons, pairs(f"{tmp}/e.mp")):
            ms, split = want(on), colours(doc, on)
            if ms is None:
                continue
            legal = p.fits(on) and not split
            if run["ok"] != legal:
                found[f"{model}: legal is {legal}, {run.get('reason')}", seed] += 1
            elif legal and not close(run["lat_s"] * 1e3, ms):
                found[model, seed] += 1
    return 20


def colours(doc, on):
    """Does a colour class lie on several devices?"""
    where = collections.defaultdict(set)
    for v, d in zip(doc["nodes"], on):
        if "colorClass" in v:
            where[v["colorClass"]].add(d)
    return any(len(w) > 1 for w in where.values())


def main():
    found, n = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as tmp:
        for seed in range(int(sys.argv[1]), int(sys.argv[2])):
            n += general(seed, tmp, found)
            if seed % 3 == 0:
                n += dnnpart(seed, tmp, found)
    print(n, "placements compared")
    for (what, seed), times in sorted(found.items(), key=lambda x: x[0][1]):
        print(f"problem {seed}: {what} ({times} placements)")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
