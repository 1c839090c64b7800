"""against_refsim.py - devsim beside the reference simulator on random problems and placements.

    python tests/oracle/against_refsim.py FIRST LAST       seeds; needs json2dag, placebase and devsim in PATH
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


def differs(p, order, on, run):
    """In what devsim's run is not the reference's; order: the file's nodes in the graph's order."""
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
            "bytes": run["copy_bytes"] == sum(ref.link_bytes.values()),
            "links": links(run) == {k: (ref.link_bytes[k], round(ref.link_busy[k], 6)) for k in ref.link_bytes},
            "schedule": schedule(run, order) == [(round(ref.start[v], 6), round(ref.end[v], 6)) for v in range(len(on))],
            "energy": close(run.get("energy_j", 0), energy(ref)),
            "period": close(run["period_s"], period(ref)) or not (p.contention and p.overlap),
            "copy times": copies(run, order) == sorted((c[2], c[4], c[5], p.tensors[c[2]][c[3]][0], round(c[0], 6),
                                                        round(c[1], 6)) for c in ref.copies)}
    return [what for what in same if not same[what]]


def energy(ref):
    """Device d draws 3 d + 2 watts computing, 1 idle."""
    return sum(busy * (3 * d + 2) + (ref.makespan - busy) for d, busy in enumerate(ref.busy))


def period(ref):
    """The largest load of a device, a link, or devices each of which takes turns with the others."""
    turns, k = ref.p.turns, len(ref.busy)
    most = 0
    for some in range(1, 1 << k):
        group = [d for d in range(k) if some >> d & 1]
        if all(b in turns[a] for i, a in enumerate(group) for b in group[:i]):
            most = max(most, sum(ref.busy[d] for d in group))
    return max([most, *ref.link_busy.values()])


def columns(m, *keys):
    return list(zip(*(array(m[k]).tolist() for k in keys)))


def links(run):
    rows = columns(run, "link_src", "link_dst", "link_bytes", "link_busy_s")
    return {(s, d): (size, round(busy, 6)) for s, d, size, busy in rows}


def schedule(run, order):
    """Start and end per node of the file."""
    at = {order[v]: (round(a, 6), round(b, 6)) for v, a, b in columns(run["schedule"], "set", "start_s", "end_s")}
    return [at[v] for v in sorted(at)]


def copies(run, order):
    rows = columns(run["schedule"], "copy_set", "copy_src", "copy_dst", "copy_bytes", "copy_start_s", "copy_end_s")
    return sorted((order[v], s, d, size, round(a, 6), round(b, 6)) for v, s, d, size, a, b in rows)


def general(seed, tmp, found):
    doc = gen_dagjson.problem(seed)
    json.dump(doc, open(f"{tmp}/p.json", "w"))
    watts = ",".join(f"d{d}={3 * d + 2}/1" for d in range(len(doc["devices"])))
    error = pipe(f"json2dag {tmp}/p.json | placebase random -n 20 --seed {seed + 1} | "
                 f"devsim --schedule --watts {watts} -o {tmp}/p.mp")
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
        for what in differs(p, file_order, on, run):
            found[what + str(doc.get("options", "")), seed] += 1
    return len(both)


def scattered(p, rng):
    """Anything anywhere, or little of it: sets that paths leave and enter again."""
    devices, stay, on = range(p.n_cpus + p.n_accs), rng.choice([0, 0.5, 0.8]), []
    for acc in p.acc:
        on.append(on[-1] if on and rng.random() < stay else rng.choice(devices))
        if acc is None:
            on[-1] = rng.randrange(p.n_cpus)
    return on


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
    for i in range(40):
        ons.append(scattered(p, rng) if i % 2 else chunks(p, rng, topo))
        device = [number[ons[-1][v]] for v in topo]
        recs.append(["place", {**place, "sample": i, "device": tensor(np.array(device, "u2"))}])
    write(f"{tmp}/d.mp", recs)
    for model, want in (("latency", p.latency_ms), ("throughput", p.throughput_ms)):
        error = pipe(f"devsim --model dnnpart-{model} {tmp}/d.mp -o {tmp}/e.mp")
        if error:
            found[error, seed] += 1
            continue
        for on, (_, run) in zip(ons, pairs(f"{tmp}/e.mp")):
            ms = want(on)
            legal = p.fits(on) and not colours(doc, on) and ms is not None
            if run["ok"] != legal:
                found[f"{model}: legal is {legal}, {run.get('reason')}", seed] += 1
            elif legal and not close(run["lat_s"] * 1e3, ms):
                found[model, seed] += 1
    return 40


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
