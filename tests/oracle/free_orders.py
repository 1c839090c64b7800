"""free_orders.py - `exact --order free` beside all placements and all orders of small problems, with and without contention.

    python tests/oracle/free_orders.py FIRST LAST TASKS        seeds; needs json2dag, placebase, devsim in PATH

Here a schedule follows from devices and from the order of tasks on each of them: a task starts when the one before it on its
device has ended and what it reads is there; a copy of an edge takes latency and bytes over rate, and with contention
copies on one link go one after another, in the order in which they came.  The best of all is what exact must reach and
prove; no bound may be above it, and devsim must predict what was found.  Each problem comes twice: in whole seconds, and
with times that are far below one beside them.  Prints what is not so."""
import itertools, json, random, subprocess, sys, tempfile

from stream import first, read


def problem(seed, most):
    """2 or 3 devices, equal ones and not, links that differ or not, one that takes no time now and then."""
    rng = random.Random(seed)
    n, k = rng.randint(2, most), 2 if rng.random() < 0.7 else 3
    n = min(n, most - 2) if k == 3 else n
    equal, names = rng.random() < 0.5, [f"d{i}" for i in range(k)]
    edges = {tuple(sorted(rng.sample(range(n), 2))) for _ in range(rng.randint(0, 2 * n))}
    costs = [[rng.randint(0 if rng.random() < 0.1 else 1, 9)] * k for _ in range(n)]
    if not equal:
        costs = [[rng.randint(1, 9) for _ in range(k)] for _ in range(n)]
    far = rng.choice((1, 4, 12))
    links = [{"src": a, "dst": b, "latency_s": 0 if equal else rng.randint(0, 2), "bytes_per_s": 1 if equal else rng.choice([1, 2])}
             for a in names for b in names if a != b]
    return {"devices": [{"name": d} for d in names], "links": links,
            "nodes": [{"id": v, "cost_s": dict(zip(names, costs[v]))} for v in range(n)],
            "edges": [{"src": a, "dst": b, "bytes": rng.randint(1, 4) * far} for a, b in sorted(edges)]}


def with_fractions(doc, seed):
    """The same beside times that are far below a second, or not whole by as little: copies, costs, or both."""
    rng = random.Random(seed)
    kind, small = rng.choice(("copies", "costs", "both")), rng.choice((1e-5, 3e-6, 1e-7))
    if kind != "costs":
        for x in doc["links"]:
            x["latency_s"] *= small
            x["bytes_per_s"] /= small
    if kind != "copies":
        for v in doc["nodes"]:
            part = rng.choice((0, 0, 1, -1)) * rng.randint(1, 3) * small
            v["cost_s"] = {d: s + part if s else s for d, s in v["cost_s"].items()}
    return doc


def makespan(doc, device, orders, contention, best):
    """None: the orders wait for each other, or it is not below the best."""
    names = [d["name"] for d in doc["devices"]]
    links = {(names.index(x["src"]), names.index(x["dst"])): x for x in doc["links"]}
    reads = {v["id"]: [] for v in doc["nodes"]}
    for e in doc["edges"]:
        reads[e["dst"]].append(e)
    end, arrives, free, at, left = {}, {}, [0] * len(names), [0] * len(names), len(doc["nodes"])
    link_free = {}
    while left:
        moved = False
        for d, order in enumerate(orders):
            while at[d] < len(order) and all((e["src"], e["dst"]) in arrives for e in reads[order[at[d]]]):
                v = order[at[d]]
                start = max([free[d]] + [arrives[e["src"], v] for e in reads[v]])
                end[v] = free[d] = start + doc["nodes"][v]["cost_s"][names[d]]
                if end[v] >= best:
                    return None
                for e in doc["edges"]:
                    if e["src"] != v:
                        continue
                    to = device[e["dst"]]
                    if to == d:
                        arrives[v, e["dst"]] = end[v]
                        continue
                    link = links[d, to]
                    begin = max(end[v], link_free.get((d, to), 0)) if contention else end[v]
                    arrives[v, e["dst"]] = link_free[d, to] = begin + link["latency_s"] + e["bytes"] / link["bytes_per_s"]
                at[d] += 1
                left -= 1
                moved = True
        if not moved:
            return None
    return max(end.values())


def least(doc, contention):
    n, k = len(doc["nodes"]), len(doc["devices"])
    best = float("inf")
    for device in itertools.product(range(k), repeat=n):
        tasks = [[v for v in range(n) if device[v] == d] for d in range(k)]
        for orders in itertools.product(*map(itertools.permutations, tasks)):
            best = min(best, makespan(doc, device, orders, contention, best) or best)
    return best


def call(*args):
    r = subprocess.run(args, capture_output=True, text=True, timeout=300)
    assert r.returncode == 0, (args, r.stderr)
    return r.stderr


def check(doc, tmp):
    faults = []
    json.dump(doc, open(f"{tmp}/p.json", "w"))
    call("json2dag", f"{tmp}/p.json", "-o", f"{tmp}/g.mp")
    for contention in (False, True):
        how = ["--contention" if contention else "--no-contention"]
        best = least(doc, contention)
        said = call("placebase", "exact", "--order", "free", "-v", "--evals", "3000000", *how, f"{tmp}/g.mp", "-o", f"{tmp}/e.mp")
        call("devsim", *how, f"{tmp}/e.mp", "-o", f"{tmp}/r.mp")
        place, run = first(read(f"{tmp}/e.mp"), "place"), first(read(f"{tmp}/r.mp"), "run")
        if abs(run["lat_s"] - best) > 1e-9 * best or "not proved" in said:
            faults.append(f"exact {run['lat_s']:g}, the best of all {best:g}; {said.splitlines()[-1]}")
        if abs(place["bound_s"] - best) > 1e-8 * best or place["predicted_s"] != run["lat_s"]:
            faults.append(f"bound {place['bound_s']:g}, best {best:g}, predicted {place['predicted_s']:g}, ran {run['lat_s']:g}")
        if "bound_rule_s" in place:
            faults.append("a bound of a rule where there is none")
        call("placebase", "exact", "--order", "free", "--evals", "400", *how, f"{tmp}/g.mp", "-o", f"{tmp}/e.mp")
        place = first(read(f"{tmp}/e.mp"), "place")
        if place["bound_s"] > best * (1 + 1e-9):
            faults.append(f"a short search: bound {place['bound_s']:.9g}, best {best:.9g}")
        for rule in ("rank", "improved", "fifo"):
            call("placebase", "exact", "--order", rule, *how, f"{tmp}/g.mp", "-o", f"{tmp}/e.mp")
            place = first(read(f"{tmp}/e.mp"), "place")
            if place["bound_s"] > best * (1 + 1e-9):
                faults.append(f"{rule}: bound {place['bound_s']:g} of every order, and {best:g} is possible")
            if place["predicted_s"] < best * (1 - 1e-9):
                faults.append(f"{rule}: {place['predicted_s']:g} is below the best of all, {best:g}")
    return faults


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as tmp:
        for seed in range(int(sys.argv[1]), int(sys.argv[2])):
            whole = problem(seed, int(sys.argv[3]))
            fractions = with_fractions(problem(seed, int(sys.argv[3])), seed)
            for kind, doc in (("whole", whole), ("fractions", fractions)):
                for fault in check(doc, tmp):
                    print(f"problem {seed}, {kind}: {fault}", flush=True)
                    wrong += 1
    print(wrong, "faults")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
