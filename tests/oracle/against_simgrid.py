"""against_simgrid.py - devsim beside SimGrid on random problems whose links are shared, serve the first first, or wait for nothing, through media.

    python tests/oracle/against_simgrid.py REPLAY FIRST LAST      seeds; REPLAY: simgrid_replay.cpp; needs json2dag, placebase, devsim
Each device runs its tasks, each link that serves the first first its copies, in devsim's order; SimGrid says when.  Prints what differs by more
than 1e-6 of the makespan, and the largest difference; status 1 when anything does."""
import json, random, subprocess, sys, tempfile

from stream import array, first, read


def problem(rng):
    k, n = rng.randint(2, 5), rng.randint(6, 30)
    names = [f"d{i}" for i in range(k)]
    media = [{"name": f"m{i}", "bytes_per_s": rng.uniform(50, 2000)} for i in range(rng.randint(0, 3))]
    links = []
    for s in names:
        for d in names:
            if s == d:
                continue
            l = {"src": s, "dst": d, "latency_s": rng.choice([0, 0.1, rng.uniform(0, 0.5)]), "bytes_per_s": rng.uniform(100, 2000)}
            through = [m["name"] for m in media if rng.random() < 0.5]
            if through:
                l["media"] = through
            else:
                l["contention"] = rng.choice(["shared", "shared", "fcfs", "none"])
            links.append(l)
    nodes = [{"id": i, "name": f"n{i}", "cost_s": {d: round(rng.uniform(0.1, 3), 3) for d in names}, "out_bytes": rng.randint(50, 4000)}
             for i in range(n)]
    edges = sorted({(rng.randrange(max(0, j - 8), j), j) for j in range(1, n) for _ in range(rng.randint(0, 3))})
    return {"devices": [{"name": d} for d in names], "links": links, "media": media, "nodes": nodes,
            "edges": [{"src": a, "dst": b} for a, b in edges]}


def columns(m, *keys):
    return list(zip(*(array(m[k]).tolist() for k in keys)))


def replay_input(doc, graph, device, schedule):
    """The replay's input, and when tasks and copies end in its order."""
    k, media = len(doc["devices"]), [m["name"] for m in doc["media"]]
    number = {d["name"]: i for i, d in enumerate(doc["devices"])}
    link = {(number[l["src"]], number[l["dst"]]): l for l in doc["links"]}
    words = [" ".join(str(m["bytes_per_s"]) for m in doc["media"])]
    for pair in ((s, d) for s in range(k) for d in range(k)):
        l = link.get(pair)
        through = [media.index(m) for m in l.get("media", [])] if l else []
        # no link is faster than its media
        rate = min([l["bytes_per_s"]] + [doc["media"][m]["bytes_per_s"] for m in through]) if l else 0
        kind = -1 if not l else 2 if through else ["fcfs", "none", "shared"].index(l["contention"])
        words.append(" ".join(map(repr, [l["latency_s"] if l else 0, rate, kind, len(through), *through])))
    set_of = {name: i for i, name in enumerate(graph["node_name"])}
    node = {set_of[v["name"]]: v for v in doc["nodes"]}
    order = sorted(columns(schedule, "set", "start_s", "end_s"), key=lambda x: (x[1], x[2]))
    place = {s: i for i, (s, _, _) in enumerate(order)}
    copies = sorted(columns(schedule, "copy_set", "copy_dst", "copy_bytes", "copy_start_s", "copy_end_s"), key=lambda c: c[3])
    to = {(c[0], c[1]): i for i, c in enumerate(copies)}
    waits, readers = {s: set() for s in place}, [0] * len(copies)
    for e in doc["edges"]:
        s, d = set_of[f"n{e['src']}"], set_of[f"n{e['dst']}"]
        if device[s] != device[d]:
            waits[d].add(to[s, device[d]])
            readers[to[s, device[d]]] += 1
    for s, _, _ in order:
        cost = node[s]["cost_s"][doc["devices"][device[s]]["name"]]
        words.append(" ".join(map(repr, [device[s], cost, len(waits[s]), *waits[s]])))
    for i, c in enumerate(copies):
        words.append(f"{place[c[0]]} {c[1]} {c[2]} {readers[i]}")
    return "\n".join([f"{k} {len(media)} {len(order)} {len(copies)}", *words]), [x[2] for x in order] + [c[4] for c in copies]


def main():
    replay, worst, bad, total = sys.argv[1], 0, 0, 0
    with tempfile.TemporaryDirectory() as tmp:
        for seed in range(int(sys.argv[2]), int(sys.argv[3])):
            doc = problem(random.Random(seed))
            json.dump(doc, open(f"{tmp}/p.json", "w"))
            subprocess.run(["bash", "-o", "pipefail", "-c", f"json2dag {tmp}/p.json | placebase random,heft | devsim --schedule -o {tmp}/p.mp"],
                           check=True)
            recs = read(f"{tmp}/p.mp")
            graph = first(recs, "graph")
            for place, run in zip(*([m for kind, m in recs if kind == want] for want in ("place", "run"))):
                names = [d["name"] for d in doc["devices"]]
                device = [names.index(place["devices"][d]) for d in array(place["device"])]
                text, ends = replay_input(doc, graph, device, run["schedule"])
                r = subprocess.run([replay, "--log=root.thresh:error"], input=text, capture_output=True, text=True, check=True)
                theirs = [float(x) for x in r.stdout.split()]
                off = max(abs(a - b) for a, b in zip(ends, theirs, strict=True)) / run["lat_s"]
                total, worst = total + 1, max(worst, off)
                if off > 1e-6:
                    bad += 1
                    print(f"problem {seed}: an end differs by {off:.2e} of the makespan, {run['lat_s']:.6f} s; SimGrid's is "
                          f"{max(theirs[:len(doc['nodes'])]):.6f}")
    print(f"{total} placements compared, {bad} differ; largest difference {worst:.1e} of the makespan")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
