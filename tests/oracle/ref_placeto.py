"""ref_placeto.py - Placeto by its equations, in double precision, from the description alone (Addanki et al. 2019; the
first lines of lib/learn/net/placeto.c and of lib/learn/train/visits.h); and a comparison with what the programs did:

    ref_placeto.py KEPT.mp CHECKPOINT

KEPT.mp is what `reinforce --recipe placeto --keep` wrote of one episode, CHECKPOINT its state after it.  Compared are the
groups, the embeddings, the placements on the way, the log-probability of every sample, and the gradient of the loss in
entries of every matrix, by differences of the reference."""
import sys
import numpy as np
from ref_placers import compare_slopes, layer_norm, log_softmax, matrices, set_edges
from stream import array, first, read


def joined(n, edges, wanted):
    """Groups: sets are joined along edges, first those to an only reader, while no group has more than so many sets; so
    many is 2, 4, 8, ... until there are few enough groups."""
    readers = [len({b for a, b in edges if a == u}) for u in range(n)]
    most, group = 1, list(range(n))
    while len(set(group)) > wanted and most < n:
        most, group = 2 * most, list(range(n))
        for u, v in [e for e in edges if readers[e[0]] == 1] + edges:
            a, b = group[u], group[v]
            if a != b and group.count(a) + group.count(b) <= most:
                group = [min(a, b) if g in (a, b) else g for g in group]
    number = {}
    return np.array([number.setdefault(g, len(number)) for g in group])


def reachable(hears):
    """[v, u]: v hears u, directly or through others."""
    r = hears > 0
    for _ in range(len(r)):
        r = r | (r.astype(int) @ r.astype(int) > 0)
    return r


def logits(q, z, hears, device, visited):
    """Of the group that is visited; device: of every group at that time."""
    n, k3 = len(z), len(q["state"])
    when = np.where(np.arange(n) < visited, 2, np.where(np.arange(n) == visited, 1, 0))
    assert (device * 3 + when).max() < k3
    x = layer_norm(z, q["policy.norm.gain"], q["policy.norm.bias"]) @ q["policy.in.weight"] + q["policy.in.bias"]
    x = x + q["state"][device * 3 + when]
    both = []
    for way, heard in (("down", hears), ("up", hears.T)):
        e = x
        for _ in range(ROUNDS):
            f = np.maximum(0, e @ q[way + ".f.weight"] + q[way + ".f.bias"])
            g = heard @ f @ q[way + ".g.weight"] + q[way + ".g.bias"]
            e = np.maximum(0, layer_norm(g, q[way + ".g.norm.gain"], q[way + ".g.norm.bias"])) + x
        both.append(e)
    e, to = np.hstack(both), reachable(hears)
    own = np.arange(n) == visited
    before, behind = to[visited] & ~to[:, visited] & ~own, to[:, visited] & ~to[visited] & ~own
    pools = [e[visited]] + [e[s].mean(0) if s.any() else np.zeros(e.shape[1])
                            for s in (before, behind, ~before & ~behind & ~own)]
    hidden = np.maximum(0, np.concatenate(pools) @ q["out.0.weight"] + q["out.0.bias"][0])
    return hidden @ q["out.1.weight"] + q["out.1.bias"][0]


def walk(q, z, hears, action):
    """(groups, devices) log-probabilities, from all on device 0."""
    device, out = np.zeros(len(z), int), []
    for v, a in enumerate(action):
        out.append(log_softmax(logits(q, z, hears, device, v)))
        device[v] = a
    return np.array(out)


def main(kept, checkpoint):
    global ROUNDS
    records = read(kept)
    graph, feat = first(records, "graph"), first(records, "feat")
    edges, x = set_edges(graph), array(feat["x"]).astype("f8")
    blocks = {}
    for kind, m in records:  # the first of each block are the initial ones
        if kind == "params" and m["block"] not in blocks:
            blocks[m["block"]] = m
    p, q = matrices(blocks["embed"]), matrices(blocks["policy"])
    hyper, recipe = blocks["embed"]["hyper"], first(read(checkpoint), "checkpoint")["recipe"]
    ROUNDS = int(hyper["rounds"])
    parts = [m for kind, m in records if kind == "part"]
    group = array(parts[0]["group"]).astype(int)
    if not parts[0]["given"]:
        assert (joined(len(x), edges, hyper["groups"] or len(x)) == group).all(), "other groups"
    n = group.max() + 1
    hears = np.zeros((n, n))
    for u, v in edges:
        if group[u] != group[v]:
            hears[group[v], group[u]] = 1
    samples = [m for kind, m in records if kind == "place" and "action" in m]
    actions = [array(s["action"]).astype(int) for s in samples]
    place = {(m["source"], m["step"], m["sample"]): array(m["device"]) for kind, m in records if kind == "place"}
    time = {(m["source"], m["step"], m["sample"]): m["lat_s"] / m["ref_s"] for kind, m in records if kind == "run"}

    def embedded():
        sums = np.stack([x[group == g].sum(0) for g in range(n)]).astype(np.float32).astype(float)
        if hyper["standard"]:
            sums = (sums - sums.mean(0)) / (sums.std(0) + .01)
        return sums @ p["in.weight"] + p["in.bias"]

    def logps():
        return [walk(q, embedded(), hears, a) for a in actions]
    z, now = embedded(), logps()
    off = abs(array(parts[0]["z"]) - z).max() / abs(z).max()
    assert off < 1e-5, ("embeddings", off)
    chosen = [lp[np.arange(n), a].sum() for lp, a in zip(now, actions)]
    worst = max(abs(c - s["logp"]) for c, s in zip(chosen, samples))
    assert worst < 1e-4, ("log-probability", worst)
    entropy = [-(np.exp(lp) * lp).sum() for lp in now]
    assert max(abs(e - s["entropy"]) for e, s in zip(entropy, samples)) < 1e-4, "entropy"

    gains, on_the_way = [], 0
    for s, action in zip(samples, actions):
        device, last = np.zeros(n, int), time["start", s["step"], 0]
        assert (place["start", s["step"], 0] == 0).all()
        gained = np.zeros(n)
        for v, a in enumerate(action):
            changed, device[v] = device[v] != a, a
            key = ("visit", s["step"], s["sample"] * n + v + 1) if v + 1 < n else ("policy", s["step"], s["sample"])
            assert (key in place) == (changed or v + 1 == n), (key, "emitted although nothing changed, or not emitted")
            if key in place:
                assert (place[key] == device[group]).all(), (key, "another placement")
                gained[v], last = last - time[key], time[key]
                on_the_way += 1
        gains.append(gained)
    discount = recipe["discount"]
    returns = np.array([[sum(discount ** (i - v) * g[i] for i in range(v, n)) for v in range(n)] for g in gains])
    advantage = returns - returns.mean(0)
    if recipe["normalise"]:
        advantage = np.clip(advantage / (np.sqrt((advantage ** 2).mean()) + 1e-3), -4, 4)
    weight = -advantage / len(samples) / n
    steps = len(parts)

    def loss():
        now = logps()
        entropy = sum(-(np.exp(lp) * lp).sum() for lp in now) / len(samples)
        return sum((w * lp[np.arange(n), a]).sum() for w, lp, a in zip(weight, now, actions)) \
            - recipe["entropy"] / n * entropy
    assert steps == len(samples)
    entries, error = compare_slopes(checkpoint, p, q, loss)
    print(f"{n} groups, {len(samples)} samples, {on_the_way} placements: log-probabilities within {worst:.1e}, "
          f"{entries} slopes within {error:.1e}")


main(*sys.argv[1:])
