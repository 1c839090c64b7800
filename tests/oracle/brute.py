"""brute.py - methods of placebase beside all placements of small random problems, every fifth of which is by a
model of dnn-partitioning.

    python tests/oracle/brute.py FIRST LAST [METHOD...]         seeds; needs json2dag, placebase, devsim in PATH;
                                               METHOD may have options: "portfolio --budget 0.3"
`exact` must be the best of all, bounds must not exceed it, no method may beat it or hand over what is illegal while
something legal exists, and portfolio must not be worse than a single device or HEFT.  Prints what is not so."""
import collections, itertools, json, subprocess, sys, tempfile

import numpy as np

import gen_dagjson
from stream import first, runs, read, tensor, value, write

SEARCHES = ["exact", "anneal", "portfolio"]
ABOUT_ONE_MODEL = {"spine", "ideals"}   # and refuse the others
MUST_BE_LEGAL = {"exact", "portfolio", "anneal"}
OBJECTIVES = ["latency", "throughput", "energy", "memory", "latency=1,energy=0.02,memory=0.01", "latency=1,throughput=1"]


def call(*args):
    r = subprocess.run([str(a) for a in args], capture_output=True, text=True, timeout=120)
    return r.returncode, r.stderr.strip()


def values(path, options):
    assert call("devsim", *options, path, "-o", path + ".run")[0] == 0, path
    return [value(m) for m in runs(path + ".run")]


def every(tmp, k, n, options):
    """The values of all placements."""
    recs = read(f"{tmp}/p.mp")
    place = first(recs, "place")
    recs = [r for r in recs if r[0] != "place"]
    for i, on in enumerate(itertools.product(range(k), repeat=n)):
        recs.append(["place", {**place, "sample": i, "device": tensor(np.array(on, "u2"))}])
    write(f"{tmp}/all.mp", recs)
    return values(f"{tmp}/all.mp", options)


def general(seed):
    """A problem in the general form on 1 to 4 devices, and how it is judged."""
    k = 1 + seed % 4
    n = [8, 8, 7, 6][k - 1] if seed % 5 else [8, 8, 8, 7][k - 1]
    objective = OBJECTIVES[seed % len(OBJECTIVES)]
    watts = ",".join(f"d{i}={3 * i + 2}/{i % 2}" for i in range(k))
    return gen_dagjson.problem(seed, 1 + seed % n, k), k, objective, ["--objective", objective, "--watts", watts]


def dnnpart(seed):
    """The same of dnn-partitioning, on up to 4 devices; its values are latencies, or periods."""
    doc = gen_dagjson.dnnpart(seed, 2 + seed // 10 % 6)
    doc["maxCPUs"] = 1
    doc["maxFPGAs"] = 1 + seed // 5 % 3
    model = ["dnnpart-latency", "dnnpart-throughput"][seed // 5 % 2]
    return doc, 1 + doc["maxFPGAs"], "latency", ["--model", model]


def problem(seed, methods, found, tmp):
    doc, k, objective, options = dnnpart(seed) if seed % 5 == 4 else general(seed)
    json.dump(doc, open(f"{tmp}/p.json", "w"))
    call("json2dag", f"{tmp}/p.json", "-o", f"{tmp}/g.mp")
    call("placebase", "single", f"{tmp}/g.mp", "-o", f"{tmp}/p.mp")
    if len(first(read(f"{tmp}/g.mp"), "graph")["node_name"]) != len(doc["nodes"]):
        found["nodes are lost", seed] += 1
    best = min(every(tmp, k, len(doc["nodes"]), options))
    single, heft = min(values(f"{tmp}/p.mp", options)), float("inf")
    slack = 1e-9 * max(1, abs(best))

    def note(what):
        found[f"{what} ({objective}, {len(doc['nodes'])} nodes, {k} devices)", seed] += 1

    for method in ["heft"] + methods:
        command = method.split()
        method = command[0]
        rc, error = call("placebase", *command, *options, f"{tmp}/g.mp", "-o", f"{tmp}/m.mp")
        if rc == 2 and method in ABOUT_ONE_MODEL:
            continue
        if rc:
            if rc != 1 or best < float("inf") and method in MUST_BE_LEGAL:
                note(f"{method} fails: {error}")
            continue
        got = min(values(f"{tmp}/m.mp", options))
        place = first(read(f"{tmp}/m.mp"), "place")
        bound = place.get("bound_value", place.get("bound_s", 0) if objective == "latency" else 0)
        told = place.get("predicted_value", place.get("predicted_s") if objective == "latency" else None)
        if got < best - slack:
            note(f"{method} beats all placements: {got} < {best}")
        if bound > best + slack:
            note(f"{method}'s bound {bound} > {best}")
        if told is not None and got < float("inf") and abs(told - got) > slack:
            note(f"{method} predicts {told}, devsim {got}")
        if got == float("inf") and best < float("inf") and method in MUST_BE_LEGAL:
            note(f"{method} is illegal")
        if method == "exact" and got > best + slack:
            note(f"exact {got} > {best}")
        if method == "portfolio" and got > min(single, heft) + slack:
            note(f"portfolio {got} > single {single}, heft {heft}")
        heft = got if method == "heft" else heft


def main():
    found, methods = collections.Counter(), sys.argv[3:] or SEARCHES
    with tempfile.TemporaryDirectory() as tmp:
        for seed in range(int(sys.argv[1]), int(sys.argv[2])):
            before = set(found)
            problem(seed, methods, found, tmp)
            for what, _ in sorted(set(found) - before):
                print(f"problem {seed}: {what}", flush=True)
    print(len(found), "faults")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
