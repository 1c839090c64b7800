"""task_graphs.py - task graphs for equal processors, in the general JSON form: fork-joins, trees, series-parallel graphs,
pipelines and random graphs.  Costs and copies are whole numbers; copies take the number of their bytes.

    python tests/support/task_graphs.py KIND TASKS PROCESSORS RATIO SEED > problem.json

RATIO: what all copies take, over what all tasks take, about."""
import json, random, sys

KINDS = ("fork-join", "in-tree", "out-tree", "series-parallel", "pipeline", "sparse", "dense")
PROCESSORS = (2, 4, 8, 16)
RATIOS = (0.1, 0.5, 1, 2, 10)
MOST = 10     # a task takes 1 to so many


def fork_join(rng, n):
    return [(0, v) for v in range(1, n - 1)] + [(v, n - 1) for v in range(1, n - 1)]


def out_tree(rng, n):
    return [(rng.randrange(max(0, v - 4), v), v) for v in range(1, n)]


def in_tree(rng, n):
    return [(n - 1 - b, n - 1 - a) for a, b in out_tree(rng, n)]


def series_parallel(rng, n):
    """Edges become two in a row, or two beside each other with a task in each, until there are n tasks."""
    edges, n_now = [(0, 1)], 2
    while n_now < n:
        a, b = edges.pop(rng.randrange(len(edges)))
        if rng.random() < 0.5 or n - n_now < 2:
            edges += [(a, n_now), (n_now, b)]
            n_now += 1
        else:
            edges += [(a, n_now), (n_now, b), (a, n_now + 1), (n_now + 1, b)]
            n_now += 2
    return in_order(n, edges)


def pipeline(rng, n):
    """Chains beside each other, each stage with some edges to its neighbours' next stage."""
    width = rng.randint(2, 3)
    edges = [(v, v + width) for v in range(n - width)]
    for v in range(n - width):
        to = v + width + rng.choice((-1, 1))
        if rng.random() < 0.4 and v < to < n and to // width == v // width + 1:
            edges.append((v, to))
    return edges


def sparse(rng, n, density=1.5):
    edges = set()
    while len(edges) < min(density * n, n * (n - 1) // 2):
        a, b = sorted(rng.sample(range(n), 2))
        edges.add((a, b))
    return sorted(edges)


def dense(rng, n):
    return sparse(rng, n, 3 if n > 7 else 2)


def in_order(n, edges):
    """Tasks numbered anew, so that edges go up."""
    before, number = {v: [a for a, b in edges if b == v] for v in range(n)}, {}
    while len(number) < n:
        for v in range(n):
            if v not in number and all(a in number for a in before[v]):
                number[v] = len(number)
    return sorted((number[a], number[b]) for a, b in edges)


def problem(kind, n, k, ratio, seed):
    rng = random.Random(f"{kind} {n} {k} {ratio} {seed}")
    edges = {"fork-join": fork_join, "in-tree": in_tree, "out-tree": out_tree, "series-parallel": series_parallel,
             "pipeline": pipeline, "sparse": sparse, "dense": dense}[kind](rng, n)
    costs = [rng.randint(1, MOST) for _ in range(n)]
    mean = ratio * sum(costs) / max(1, len(edges))
    return {"name": f"{kind}-{n}-{k}-{ratio}-{seed}", "devices": [{"name": f"p{i}"} for i in range(k)],
            "links": [{"src": "*", "dst": "*", "latency_s": 0, "bytes_per_s": 1}],
            "nodes": [{"id": v, "cost_s": costs[v]} for v in range(n)],
            "edges": [{"src": a, "dst": b, "bytes": max(1, round(mean * rng.uniform(0.2, 1.8)))} for a, b in edges]}


def campaign(tasks, count):
    """`count` problems, all kinds, processors and ratios in turn; tasks: a function of the problem's number."""
    for i in range(count):
        yield problem(KINDS[i % len(KINDS)], tasks(i), PROCESSORS[i // len(KINDS) % len(PROCESSORS)],
                      RATIOS[i // (len(KINDS) * len(PROCESSORS)) % len(RATIOS)], i)


if __name__ == "__main__":
    print(json.dumps(problem(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))))
