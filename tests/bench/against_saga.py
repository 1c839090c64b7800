"""against_saga.py - HEFT, CPOP and the speed of evaluations beside SAGA, a public simulator in Python (Coleman,
Krishnamachari; `pip install anrg-saga`; written against 2.0.2).

    python tests/bench/against_saga.py [-f FAMILIES] [-n SIZE] [-k DEVICES] [-s SEEDS] [-p SECONDS]
Needs json2dag, placebase and devsim in PATH; says so and ends with status 0 where SAGA is missing.  Graphs are those of
families.py.  SAGA knows related machines alone: a task costs work / speed, links are symmetric and carry any number of
tensors at once, so both sides get such problems, with one entry and one exit.

Makespans are those of each method's own schedule, relative to ours.  "Paper's ranks" are SAGA's methods with the ranks of
Topcuoglu, Hariri and Wu (2002), section 3.  SAGA's own differ in two places: it takes the mean copy time over all links,
each device's link to itself among them, which makes copies cheaper by (k - 1) / (k + 1); and its downward rank adds a
task's own cost where equation 9 has its predecessor's.  An evaluation is one placement scheduled and measured: devsim as a
process, with all that it reads and writes, and SAGA's Schedule with the tasks added in order of rank.
-p: processor seconds that each side spends on evaluations of a graph."""
import argparse, json, logging, math, os, random, resource, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import families

logging.disable(logging.WARNING)             # SAGA tells of entries and exits that it adds
try:
    import saga
    from saga.schedulers import cpop, heft
except ImportError:
    print("SAGA is not there (pip install anrg-saga): nothing to compare with", file=sys.stderr)
    sys.exit(0)


def problem(name, size, k, seed):
    """A family's graph on related machines: ([work], [(u, v, bytes)], [speed], {(a, b): bytes/s})."""
    rng = random.Random(f"saga {name} {size} {k} {seed}")
    g = families.FAMILIES[name](rng, size)
    work = [w * rng.uniform(0.5, 1.5) for w in g.work]
    unit = rng.choice([0.1, 0.5, 1, 5]) * sum(work) / sum(g.size)
    edges = [(u, v, unit * g.size[u]) for u, v in sorted(set(g.edges))]
    n = len(work)
    entries, exits = set(range(n)) - {e[1] for e in edges}, set(range(n)) - {e[0] for e in edges}
    edges += [(n, v, 0) for v in sorted(entries)] + [(u, n + 1, 0) for u in sorted(exits)]
    rate = {(a, b): rng.choice([0.5, 1, 2]) for a in range(k) for b in range(a)}
    return work + [0, 0], edges, [rng.uniform(1, 3) for _ in range(k)], rate


def as_json(work, edges, speed, rate):
    both = [(a, b, r) for (a, b), r in rate.items()] + [(b, a, r) for (a, b), r in rate.items()]
    return {"devices": [{"name": f"p{d}"} for d in range(len(speed))],
            "links": [{"src": f"p{a}", "dst": f"p{b}", "latency_s": 0, "bytes_per_s": r * 1e6} for a, b, r in both],
            "nodes": [{"id": i, "cost_s": {f"p{d}": w / s for d, s in enumerate(speed)}} for i, w in enumerate(work)],
            "edges": [{"src": u, "dst": v, "bytes": round(1e6 * size)} for u, v, size in edges],
            "options": {"contention": False}}


def as_saga(work, edges, speed, rate):
    network = saga.Network.create([(f"p{d}", s) for d, s in enumerate(speed)],
                                  [(f"p{b}", f"p{a}", r) for (a, b), r in rate.items()])
    return network, saga.TaskGraph.create([(f"t{i}", w) for i, w in enumerate(work)],
                                          [(f"t{u}", f"t{v}", round(1e6 * size) / 1e6) for u, v, size in edges])


def mean_work(network, task):
    return sum(task.cost / d.speed for d in network.nodes) / len(network.nodes)


def mean_copy(network, edge):
    """Over pairs of different devices."""
    links = [e for e in network.edges if e.source != e.target]
    return sum(edge.size / e.speed for e in links) / max(1, len(links))


def paper_upward(network, graph):
    """Equation 8."""
    rank = {}
    for task in reversed(graph.topological_sort()):
        after = [rank[e.target] + mean_copy(network, e) for e in graph.out_edges(task.name)]
        rank[task.name] = mean_work(network, task) + max(after, default=0)
    return rank


def paper_downward(network, graph):
    """Equation 9."""
    rank, work = {}, {t.name: mean_work(network, t) for t in graph.tasks}
    for task in graph.topological_sort():
        before = [rank[e.source] + work[e.source] + mean_copy(network, e) for e in graph.in_edges(task.name)]
        rank[task.name] = max(before, default=0)
    return rank


def theirs(scheduler, network, graph):
    return scheduler().schedule(network, graph).makespan


def with_papers_ranks(scheduler, network, graph):
    """The same after SAGA's ranks have been replaced."""
    own = heft.upward_rank, cpop.upward_rank, cpop.downward_rank
    heft.upward_rank = cpop.upward_rank = paper_upward
    cpop.downward_rank = paper_downward
    cpop.cpop_ranks.cache_clear()
    try:
        return theirs(scheduler, network, graph)
    finally:
        heft.upward_rank, cpop.upward_rank, cpop.downward_rank = own
        cpop.cpop_ranks.cache_clear()


def run(*command):
    r = subprocess.run(command, capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    return r.stderr


def ours(method, path):
    return float(run("placebase", "-v", method, path, "-o", os.devnull).split("schedule takes ")[1].split()[0])


def children_s():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def our_rate(path, tmp, seconds):
    """Evaluations of distinct random placements per processor second, devsim's reading and writing included."""
    n, spent = 1000, 0
    while spent < seconds / 2:
        n *= 2 if spent > seconds / 8 else 4
        run("placebase", "random", "-n", str(n), path, "-o", f"{tmp}/p.mp")
        before = children_s()
        run("devsim", f"{tmp}/p.mp", "-o", os.devnull)
        spent = children_s() - before
    return n / spent


def their_rate(network, graph, seconds):
    rng, nodes, n = random.Random(1), sorted(network.nodes), 0
    order, start = heft.heft_rank_sort(network, graph), time.process_time()
    while time.process_time() - start < seconds:
        s = saga.Schedule(graph, network)
        for name in order:
            node = rng.choice(nodes)
            begin = s.get_earliest_start_time(name, node, append_only=True)
            s.add_task(saga.ScheduledTask(node=node.name, name=name, start=begin,
                                          end=begin + graph.get_task(name).cost / node.speed))
        n += 1
    return n / (time.process_time() - start)


def compare(case, seconds, tmp):
    p = problem(*case)
    with open(f"{tmp}/p.json", "w") as f:
        json.dump(as_json(*p), f)
    run("json2dag", f"{tmp}/p.json", "-o", f"{tmp}/g.mp")
    network, graph = as_saga(*p)
    row = {"tasks": len(p[0])}
    for name, scheduler in (("heft", heft.HeftScheduler), ("cpop", cpop.CpopScheduler)):
        own = ours(name, f"{tmp}/g.mp")
        row[name] = theirs(scheduler, network, graph) / own
        row["paper's " + name] = with_papers_ranks(scheduler, network, graph) / own
    if seconds > 0:
        row["ours/s"], row["theirs/s"] = our_rate(f"{tmp}/g.mp", tmp, seconds), their_rate(network, graph, seconds)
        row["ratio"] = row["ours/s"] / row["theirs/s"]
    return row


def mean(x):
    return math.exp(sum(map(math.log, x)) / len(x))


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag, default, kind in (("-f", "", str), ("-n", 60, int), ("-k", "3", str), ("-s", "1", str), ("-p", 1.0, float)):
        a.add_argument(flag, default=default, type=kind)
    o = a.parse_args()
    cases = [(name, o.n, int(k), int(s)) for name in (o.f.split(",") if o.f else families.FAMILIES)
             for k in o.k.split(",") for s in o.s.split(",")]
    columns = ["tasks", "heft", "paper's heft", "cpop", "paper's cpop"] + ["ours/s", "theirs/s", "ratio"] * (o.p > 0)
    title = {"heft": "HEFT, SAGA / ours", "paper's heft": "paper's ranks", "cpop": "CPOP, SAGA / ours",
             "paper's cpop": "paper's ranks", "ours/s": "evaluations/s, devsim", "theirs/s": "SAGA"}
    print("| graph | " + " | ".join(title.get(c, c) for c in columns) + " |\n" + "|---" * (len(columns) + 1) + "|")
    rows = []
    with tempfile.TemporaryDirectory() as tmp:
        for case in cases:
            rows.append(compare(case, o.p, tmp))
            print(f"| {case[0]}, {case[2]} devices | " +
                  " | ".join(f"{rows[-1][c]:,.0f}" if c[-2:] == "/s" or c in ("tasks", "ratio") else f"{rows[-1][c]:.4f}"
                             for c in columns) + " |", flush=True)
    print(f"\nGeometric means over {len(rows)} graphs: " + ", ".join(
        f"{c} {mean([r[c] for r in rows]):,.4g}" for c in columns if c != "tasks"))


if __name__ == "__main__":
    main()
