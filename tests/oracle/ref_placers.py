"""ref_placers.py - the recurrent placers by their equations, in double precision, from the descriptions alone
(Mirhoseini et al. 2017, 2018; the first lines of lib/learn/net/rnn.c, hierarchical.c and of seq2seq.h); and a comparison
with what the programs did:

    ref_placers.py KEPT.mp CHECKPOINT

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


def layer_norm(x, gain, bias):
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * gain + bias


def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def embed(p, x, group, edges, row, pool):
    """pool: np.mean of a group's rows or np.sum; row: of the adjacency's matrix, of each group."""
    z = np.stack([pool(x[group == g], 0) for g in range(group.max() + 1)]) @ p["in.weight"] + p["in.bias"]
    for a, b in {(group[u], group[v]) for u, v in edges} | {(group[v], group[u]) for u, v in edges}:
        if a != b:
            z[a] += p["adjacency.weight"][row[b]]
    return z


def group_logp(p, x, edges, drawn):
    """Log-probability of the groups that the grouper drew for the sets."""
    hat = np.eye(len(x))
    for u, v in edges:
        hat[u, v] = hat[v, u] = 1
    root = np.sqrt(hat.sum(1))
    h = x @ p["grouper.own.weight"] + p["grouper.own.bias"] + hat / root / root[:, None] @ (x @ p["grouper.beside"])
    h = np.maximum(0, layer_norm(h, p["grouper.norm.gain"], p["grouper.norm.bias"]))
    return log_softmax(h @ p["grouper.out.weight"] + p["grouper.out.bias"])[np.arange(len(x)), drawn].sum()


def run(q, name, rows, weight):
    """All states [h, c] of an LSTM over the rows."""
    h = c = np.zeros(len(q[weight]))
    out = []
    for row in rows @ q[name + ".weight"] + q[name + ".bias"]:
        h, c = lstm(row, q[weight], h, c)
        out.append((h, c))
    return np.array(out)


def log_probabilities(q, z, k, actions, bound):
    """Of each sample's devices, all groups together.  bound: of the logits, 0: none."""
    x = layer_norm(z, q["policy.norm.gain"], q["policy.norm.bias"])
    states = run(q, "encoder.in", x, "encoder.state")
    enc, start = states[:, 0], states[-1]
    if "backwards.in.weight" in q:
        back = run(q, "backwards.in", x[::-1], "backwards.state")
        enc, start = np.hstack([enc, back[::-1, 0]]), np.hstack([start, back[-1]])
    keys, out = enc @ q["attention.key"], []
    for action in actions:
        (h, c), before, logp = start, k, 0
        for g, a in enumerate(action):
            row = (q["device"][before] @ q["decoder.in.weight"] + q["decoder.in.bias"])[0]
            if "decoder.own" in q:
                row = row + enc[g] @ q["decoder.own"]
            h, c = lstm(row, q["decoder.state"], h, c)
            score = np.tanh(h @ q["attention.query"] + keys) @ q["attention.v"][0]
            context = np.exp(log_softmax(score)) @ enc
            logits = (h @ q["out.state.weight"] + context @ q["out.context"] + q["out.state.bias"])[0]
            logp += log_softmax(bound * np.tanh(logits / bound) if bound else logits)[a]
            before = a
        out.append(logp)
    return np.array(out)


def weights(samples, runs):
    """Of the samples in the loss: the mean, reward -sqrt(latency / best single device), minus its mean."""
    reward = np.array([-np.sqrt(runs[s["step"], s["sample"]]["lat_s"] / runs[s["step"], s["sample"]]["ref_s"])
                       for s in samples])
    return -(reward - reward.mean()) / len(reward)


def compare_slopes(checkpoint, p, q, loss, idle=lambda name: False):
    """The gradient that one step of Adam from nothing left in its moments, beside differences of the loss in some entries
    of every matrix; idle(name): there is none.  Returns how many entries, and the largest error."""
    moments = {m["block"]: array(m["m"]) / 0.1 for kind, m in read(checkpoint) if kind == "moments"}
    rng, entries, error = np.random.default_rng(1), 0, 0
    for block, table in (("embed", p), ("policy", q)):
        at = 0
        for name, w in table.items():
            gradient = moments[block][at:at + w.size].reshape(w.shape)
            at += w.size
            if idle(name):
                assert not gradient.any(), (name, "a gradient")
                continue
            used = np.argwhere(abs(gradient) > abs(gradient).max() / 10)
            assert len(used) > 0, (name, "no gradient")
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
    return entries, error


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
    groups = [array(m["group"]).astype(int) for m in parts]
    labels = [array(m["label"]).astype(int) if "label" in m else None for m in parts]
    n_rows = len(p["adjacency.weight"])
    rows = [(np.arange(g.max() + 1) if label is None else label) % n_rows for g, label in zip(groups, labels)]
    hierarchical = blocks["embed"]["net"] == "hierarchical"
    bound = blocks["policy"]["hyper"].get("tanh_constant", 0)
    for part, group, label in zip(parts, groups, labels):
        if label is not None:
            assert len(set(label)) == len(label), "two groups of one label"
        elif not part["given"]:
            own = groups_of(len(x), edges) if part["rounds"] else np.arange(len(x))
            assert (own == group).all(), "other groups"

    def embedded():
        return [embed(p, x, g, edges, row, np.sum if hierarchical else np.mean) for g, row in zip(groups, rows)]

    def drawn():
        return [0 if label is None else group_logp(p, x, edges, label[g]) for g, label in zip(groups, labels)]

    actions = [array(s["action"]).astype(int) for s in samples]
    steps = np.array([s["step"] for s in samples])

    def logps():
        out = np.zeros(len(samples))
        for step, z in enumerate(embedded()):
            mine = np.flatnonzero(steps == step)
            out[mine] = log_probabilities(q, z, k, [actions[i] for i in mine], bound)
        return out
    for part, z, logp in zip(parts, embedded(), drawn()):
        off = abs(array(part["z"]) - z).max() / abs(z).max()
        assert off < 1e-5, ("embeddings", off)
        assert abs(part.get("logp", 0) - logp) < 1e-5 * max(1, abs(logp)), ("groups", part.get("logp"), logp)
    worst = max(abs(a - s["logp"]) for a, s in zip(logps(), samples))
    assert worst < 1e-4, ("log-probability", worst)

    coefficient = weights(samples, runs)

    def loss():
        return coefficient @ (logps() + np.array(drawn())[steps])
    entries, error = compare_slopes(checkpoint, p, q, loss, lambda name: name.startswith("grouper.") and labels[0] is None)
    print(f"{groups[0].max() + 1} groups, {len(samples)} samples: log-probabilities within {worst:.1e}, "
          f"{entries} slopes within {error:.1e}")


if __name__ == "__main__":
    main(*sys.argv[1:])
