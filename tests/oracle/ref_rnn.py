"""ref_rnn.py - the recurrent placer by its equations, in double precision, from the description alone
(Mirhoseini et al. 2017; the first lines of lib/learn/net/rnn.c); and a comparison with what the programs did:

    ref_rnn.py KEPT.mp CHECKPOINT

KEPT.mp is what `reinforce --keep` wrote of one episode, CHECKPOINT its state after it.  Compared are the groups, the
embeddings, the log-probability of every sample, and the gradient of the loss in entries of every matrix, by
differences of the reference."""
import sys
import numpy as np
from stream import array, first, read


def groups_of(n, edges):
    """By the sole consumer: numbered by their first set."""
    readers = [set() for _ in range(n)]
    for u, v in edges:
        readers[u].add(v)
    up = list(range(n))

    def root(i):
        while up[i] != i:
            i = up[i]
        return i
    for u in range(n):
        if len(readers[u]) == 1:
            up[root(u)] = root(next(iter(readers[u])))
    number, out = {}, []
    for i in range(n):
        out.append(number.setdefault(root(i), len(number)))
    return np.array(out)


def set_edges(graph):
    """Distinct pairs of sets, the second of which reads the first."""
    of, ptr, node = array(graph["set"]), array(graph["in_ptr"]), array(graph["in_node"])
    none = 2**32 - 1
    return sorted({(int(of[node[i]]), int(of[v])) for v in range(len(of)) for i in range(ptr[v], ptr[v + 1])
                   if node[i] != none and of[node[i]] != none and of[v] != none and of[node[i]] != of[v]})


def matrices(params):
    rows, cols, data = array(params["rows"]), array(params["cols"]), array(params["data"]).astype("f8")
    out, at = {}, 0
    for name, r, c in zip(params["names"], rows, cols):
        out[name] = data[at:at + r * c].reshape(r, c).copy()
        at += r * c
    assert at == len(data)
    return out


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, w, h, c):
    i, f, g, o = np.split(x + h @ w, 4)
    c = sigmoid(i) * np.tanh(g) + sigmoid(f + 1) * c
    return sigmoid(o) * np.tanh(c), c


def embed(p, x, group, edges):
    n = group.max() + 1
    mean = np.stack([x[group == g].mean(0) for g in range(n)])
    z = mean @ p["in.weight"] + p["in.bias"]
    adjacency = p["adjacency.weight"]
    for a, b in {(group[u], group[v]) for u, v in edges} | {(group[v], group[u]) for u, v in edges}:
        if a != b:
            z[a] += adjacency[b % len(adjacency)]
    return z


def log_probabilities(q, z, k, actions):
    """(samples, groups) of the chosen devices."""
    x = (z - z.mean(1, keepdims=True)) / np.sqrt(z.var(1, keepdims=True) + 1e-5)
    x = x * q["policy.norm.gain"] + q["policy.norm.bias"]
    width = len(q["encoder.state"])
    h = c = np.zeros(width)
    enc = []
    for row in x @ q["encoder.in.weight"] + q["encoder.in.bias"]:
        h, c = lstm(row, q["encoder.state"], h, c)
        enc.append(h)
    enc, start = np.array(enc), (h, c)
    keys = enc @ q["attention.key"]
    out = []
    for action in actions:
        (h, c), before, logp = start, k, []
        for g, a in enumerate(action):
            row = (q["device"][before] @ q["decoder.in.weight"] + q["decoder.in.bias"])[0]
            if "decoder.own" in q:
                row = row + enc[g] @ q["decoder.own"]
            h, c = lstm(row, q["decoder.state"], h, c)
            score = np.tanh(h @ q["attention.query"] + keys) @ q["attention.v"][0]
            weight = np.exp(score - score.max())
            context = weight / weight.sum() @ enc
            logits = (h @ q["out.state.weight"] + context @ q["out.context"] + q["out.state.bias"])[0]
            top = logits.max()
            logp.append(logits[a] - top - np.log(np.exp(logits - top).sum()))
            before = a
        out.append(logp)
    return np.array(out)


def weights(samples, runs):
    """Of the samples in the loss: the mean, reward -sqrt(latency / best single device), minus its mean."""
    reward = np.array([-np.sqrt(runs[s["step"], s["sample"]]["lat_s"] / runs[s["step"], s["sample"]]["ref_s"])
                       for s in samples])
    return -(reward - reward.mean()) / len(reward)


def main(kept, checkpoint):
    records = read(kept)
    graph, feat = first(records, "graph"), first(records, "feat")
    edges, x = set_edges(graph), array(feat["x"]).astype("f8")
    blocks = {}
    for kind, m in records:  # the first of each block are the initial ones
        if kind == "params" and m["block"] not in blocks:
            blocks[m["block"]] = m
    p, q = matrices(blocks["embed"]), matrices(blocks["policy"])
    k = len(first(records, "devs")["names"])
    parts = [m for kind, m in records if kind == "part"]
    samples = [m for kind, m in records if kind == "place" and "action" in m]
    runs = {(m["step"], m["sample"]): m for kind, m in records if kind == "run" and m["source"] == "policy"}
    group = array(parts[0]["group"]).astype(int)
    if not parts[0]["given"]:
        own = groups_of(len(x), edges) if parts[0]["rounds"] else np.arange(len(x))
        assert (own == group).all(), "other groups"
    z = embed(p, x, group, edges)
    for part in parts:  # no state update: all steps see the same
        worst = abs(array(part["z"]) - z).max() / abs(z).max()
        assert worst < 1e-5, ("embeddings", worst)
    actions = [array(s["action"]).astype(int) for s in samples]
    logp = log_probabilities(q, z, k, actions).sum(1)
    worst = max(abs(a - s["logp"]) for a, s in zip(logp, samples))
    assert worst < 1e-4, ("log-probability", worst)

    coefficient = weights(samples, runs)

    def loss():
        return coefficient @ log_probabilities(q, embed(p, x, group, edges), k, actions).sum(1)
    moments = {m["block"]: array(m["m"]) / 0.1 for kind, m in read(checkpoint) if kind == "moments"}
    rng, entries, error, length = np.random.default_rng(1), 0, 0, 0
    for block, table in (("embed", p), ("policy", q)):
        at = 0
        for name, w in table.items():
            gradient = moments[block][at:at + w.size].reshape(w.shape)
            at += w.size
            used = np.argwhere(abs(gradient) > abs(gradient).max() / 100)
            assert len(used), (name, "no gradient")
            for i in map(tuple, rng.permutation(used)[:6]):
                old, width = w[i], 1e-5
                w[i] = old + width
                up = loss()
                w[i] = old - width
                slope = (up - loss()) / (2 * width)
                w[i] = old
                off = abs(slope - gradient[i]) / abs(gradient).max()
                assert off < 2e-3, (name, i, slope, gradient[i])
                entries, error = entries + 1, max(error, off)
        assert at == len(moments[block])
    print(f"{len(np.unique(group))} groups, {len(samples)} samples: log-probabilities within {worst:.1e}, "
          f"{entries} slopes within {error:.1e}")


main(*sys.argv[1:])
