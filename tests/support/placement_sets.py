"""placement_sets.py - placement problems that learned methods are tested on, in the general JSON form.  No training uses
these families or their generators; what trains on generated graphs makes its own.

    python tests/support/placement_sets.py giph TASKS SEED > problem.json
    python tests/support/placement_sets.py doppler KIND SEED > problem.json
    python tests/support/placement_sets.py --list

--list prints the arguments of a whole set, one problem a line: FOLDER, NAME, then the arguments.

giph     Random layered task graphs on 20 devices, after Hu et al., MLSys 2023 (GiPH): tasks have types that only some
         devices run, devices have speeds, all pairs have links of their own bandwidth and delay.
doppler  Sharded dataflow graphs on 4 or 8 GPUs, after Yao et al., 2025 (Doppler, arXiv 2505.23131): chainmm, ffnn,
         llama-block, llama-layer.  Every matrix is cut into s x s shards; shards of inputs cost nearly nothing."""
import json, math, random, sys

# ---- giph ----

DEVICES = 20
TYPES = 5


def layered(rng, n):
    """[(task, its parents)] of about n tasks: depth and width by a shape, links to any earlier layer, some skip far."""
    shape = rng.choice([.3, .5, .8, 1.2, 2])               # width over depth
    depth = max(2, round(math.sqrt(n / shape)))
    most_in, near = rng.choice([2, 3, 5, 8]), rng.choice([.5, .8, 1])
    level, parents = [[] for _ in range(depth)], []
    for i in range(n):
        level[i if i < depth else min(depth - 1, int(rng.triangular(0, depth, depth * rng.random())))].append(i)
    order = {}
    for l, tasks in enumerate(level):
        for t in tasks:
            order[t] = len(parents)
            before = [u for below in level[:l] for u in below]
            want = rng.randint(1, most_in) if l else 0
            chosen = {rng.choice(level[l - 1] if rng.random() < near else before) for _ in range(want)}
            parents.append(sorted(order[u] for u in chosen))
    return parents


def spread(rng, mean, h):
    return mean * rng.uniform(1 - h / 2, 1 + h / 2)


def giph(n, seed):
    rng = random.Random(f"giph {n} {seed}")
    parents = layered(rng, n)
    h_task, h_speed, h_link, h_data = (rng.choice([.2, .6, 1, 1.6]) for _ in range(4))
    ccr, constrained = rng.choice([.05, .1, .25, .6]), rng.choice([.3, 1])
    names = [f"d{i}" for i in range(DEVICES)]
    speed = [spread(rng, 1, h_speed) for _ in names]
    can = [{0} | {t for t in range(1, TYPES) if rng.random() < .4} for _ in names]
    for t in range(1, TYPES):                              # two devices at least run each type
        for d in rng.sample(range(DEVICES), 2):
            can[d].add(t)
    kind = [rng.randrange(1, TYPES) if rng.random() < constrained else 0 for _ in parents]
    work = [spread(rng, 1e-3, h_task) for _ in parents]
    data = [int(spread(rng, 1e6, h_data)) for _ in parents]
    copy = ccr * 1e-3                                      # seconds of a mean copy
    delay = rng.choice([.02, .2, .5])                      # of which this part is the link's delay
    links = [{"src": a, "dst": b, "latency_s": spread(rng, delay * copy, h_link),
              "bytes_per_s": spread(rng, 1e6 / ((1 - delay) * copy), h_link)} for a in names for b in names if a != b]
    nodes = [{"id": i, "name": f"t{i}", "type": f"type{kind[i]}", "out_bytes": data[i],
              "cost_s": {names[d]: work[i] / speed[d] for d in range(DEVICES) if kind[i] in can[d]}}
             for i in range(len(parents))]
    edges = [{"src": u, "dst": v} for v, p in enumerate(parents) for u in p]
    return {"name": f"giph {n} {seed}", "devices": [{"name": x} for x in names], "links": links, "nodes": nodes,
            "edges": edges, "options": {"contention": rng.random() < .5}}


# ---- doppler ----

class Shards:
    """A dataflow graph over shards.  A matrix is a dict {(i, j): node} with the sides of its shards."""

    def __init__(self, rng, s):
        self.s, self.fold = s, rng.choice(["tree", "chain", "all"])
        self.nodes, self.edges = [], []

    def node(self, kind, flops, touched, made, parents):
        """Seconds follow from operations and bytes touched; made: bytes of what comes out."""
        self.nodes.append((kind, flops, touched, made))
        v = len(self.nodes) - 1
        self.edges += [(u, v) for u in sorted(set(parents))]
        return v

    def grid(self):
        return [(i, j) for i in range(self.s) for j in range(self.s)]

    def input(self, rows, cols):
        r, c = rows // self.s, cols // self.s
        return {ij: self.node("input", 0, 0, 4 * r * c, []) for ij in self.grid()}, r, c

    def total(self, parts, size, kind="add"):
        """The sum of parts, which have `size` numbers each: pairwise, one after another, or at once."""
        def add(xs):
            return self.node(kind, size * (len(xs) - 1), 4 * size * (len(xs) + 1), 4 * size, xs)
        if self.fold == "all" and len(parts) > 1:
            return add(parts)
        while len(parts) > 1:
            parts = ([add(parts[:2])] + parts[2:] if self.fold == "chain"
                     else [add(parts[i:i + 2]) if len(parts[i:i + 2]) > 1 else parts[i] for i in range(0, len(parts), 2)])
        return parts[0]

    def product(self, a, b, flops=1.0):
        """flops: how much more a partial product takes than its sides say."""
        (x, r, m), (y, m2, c) = a, b
        assert m == m2
        out = {}
        for i, j in self.grid():
            parts = [self.node("matmul", flops * 2 * r * m * c, 4 * (r * m + m * c + r * c), 4 * r * c,
                               [x[i, k], y[k, j]]) for k in range(self.s)]
            out[i, j] = self.total(parts, r * c)
        return out, r, c

    def each(self, kind, *xs, per_row=None):
        """Shard by shard; per_row: {i: node} is one more operand."""
        _, r, c = xs[0]
        return {(i, j): self.node(kind, 4 * r * c, 4 * r * c * (len(xs) + 1), 4 * r * c,
                                  [x[0][i, j] for x in xs] + ([per_row[i]] if per_row else []))
                for i, j in self.grid()}, r, c

    def rows(self, kind, x):
        """{i: node}: a number for each row, from all shards of the row."""
        m, r, c = x
        part = {(i, j): self.node(kind, 2 * r * c, 4 * r * c, 4 * r, [m[i, j]]) for i, j in self.grid()}
        return {i: self.total([part[i, j] for j in range(self.s)], r) for i in range(self.s)}

    def norm(self, x):
        return self.each("scale", x, per_row=self.rows("squares", x))

    def softmax(self, x):
        e = self.each("exp", x, per_row=self.rows("max", x))
        return self.each("divide", e, per_row=self.rows("sum", e))


def chainmm(g, rng, n):
    """A product of matrices in an order that is drawn: (A B) + (C (D E)) and the like."""
    def value(m):
        if m == 1:
            return g.input(n, n)
        left = rng.randint(1, m - 1)
        a, b = value(left), value(m - left)
        return g.each("plus", a, b) if m > 2 and rng.random() < .25 else g.product(a, b)
    value(max(3, round(rng.choice([5, 7, 9, 12]) * (2 if g.s == 2 else 1))))


def ffnn(g, rng, n):
    """Layers of product, bias, activation; softmax in the end."""
    wide = n * rng.choice([1, 2])
    x, width = g.input(n, n), n
    for _ in range(rng.choice([2, 3, 4, 6]) * (3 if g.s == 2 else 1)):
        to = wide if width == n else n
        x = g.product(x, g.input(width, to))
        x, width = g.each("relu", g.each("bias", x)), to
    g.softmax(x)


def attention(g, x, n, heads):
    q, k, v = (g.product(x, g.input(n, n)) for _ in range(3))
    q, k = g.each("rotate", q), g.each("rotate", k)
    # Column shards are groups of heads: scores of group h are between row shards i and j.
    out = {}
    m, r, c = q
    parts = {}
    for h in range(g.s):
        scores = {(i, j): g.node("scores", 2 * r * c * r, 4 * (2 * r * c + heads * r * r), 4 * heads * r * r,
                                 [q[0][i, h], k[0][j, h]]) for i, j in g.grid()}
        p = g.softmax((scores, r, heads * r))
        for i in range(g.s):
            parts[i, h] = [g.node("mix", 2 * r * r * c, 4 * (heads * r * r + 2 * r * c), 4 * r * c,
                                  [p[0][i, j], v[0][j, h]]) for j in range(g.s)]
    for ih in parts:
        out[ih] = g.total(parts[ih], r * c)
    return g.product((out, r, c), g.input(n, n))


def feed_forward(g, x, n, inner):
    up, gate = g.product(x, g.input(n, inner)), g.each("silu", g.product(x, g.input(n, inner)))
    return g.product(g.each("times", up, gate), g.input(inner, n))


def llama_block(g, rng, n):
    x = g.input(n, n)
    g.each("plus", x, attention(g, g.norm(x), n, rng.choice([1, 2])))


def llama_layer(g, rng, n):
    x = g.input(n, n)
    x = g.each("plus", x, attention(g, g.norm(x), n, 1))
    g.each("plus", x, feed_forward(g, g.norm(x), n, n * rng.choice([2, 3])))


KINDS = {"chainmm": chainmm, "ffnn": ffnn, "llama-block": llama_block, "llama-layer": llama_layer}


def doppler(kind, seed):
    rng = random.Random(f"doppler {kind} {seed}")
    while True:
        g = Shards(rng, rng.choice([2, 3, 4]))
        n = 12 * g.s * rng.choice([128, 192, 256])
        KINDS[kind](g, rng, n)
        if 100 <= len(g.nodes) <= 900:
            break
    k = rng.choice([4, 8])
    flops, memory = rng.choice([(3e13, 1.6e12), (6e13, 2e12), (1e14, 3e12)])
    slow = rng.choice([1, 1, 1, .6])                       # of every other GPU: two kinds of them
    near, far = rng.choice([(2.5e10, 1e10), (5e10, 1.2e10), (1e11, 2.4e10)])
    names = [f"gpu:{i}" for i in range(k)]
    rate = [slow if i % 2 else 1 for i in range(k)]
    links = [{"src": a, "dst": b, "latency_s": 8e-6 if i // 4 == j // 4 else 1.5e-5,
              "bytes_per_s": near if i // 4 == j // 4 else far}
             for i, a in enumerate(names) for j, b in enumerate(names) if i != j]

    def seconds(what, ops, touched, speed):
        return 1e-7 if what == "input" else 5e-6 + max(ops / (.7 * flops), touched / memory) / speed
    nodes = [{"id": i, "name": f"{what}{i}", "type": what, "out_bytes": made,
              "cost_s": {d: seconds(what, ops, touched, rate[j]) for j, d in enumerate(names)}}
             for i, (what, ops, touched, made) in enumerate(g.nodes)]
    return {"name": f"doppler {kind} {seed}", "devices": [{"name": x, "type": "gpu"} for x in names], "links": links,
            "nodes": nodes, "edges": [{"src": u, "dst": v} for u, v in g.edges], "options": {"contention": True}}


# ---- sets ----

def problems(count=60):
    """(folder, name, arguments) of each problem: even ones are to develop on (dev), odd ones to test on (test)."""
    half = ["dev", "test"]
    for i in range(count):
        n = round(20 * 15 ** (i // 2 / max(1, (count - 1) // 2)))
        yield "giph", f"{i:02d}-{n}.{half[i % 2]}", ["giph", n, 100 + i]
    kinds = list(KINDS)
    for i in range(count):
        kind = kinds[i // 2 % len(kinds)]
        yield "doppler", f"{i:02d}-{kind}.{half[i % 2]}", ["doppler", kind, 100 + i]


def make(family, what, seed):
    return giph(int(what), int(seed)) if family == "giph" else doppler(what, int(seed))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--list"]:
        for folder, name, args in problems(*map(int, sys.argv[2:3])):
            print(folder, name, *args)
    elif len(sys.argv) == 4 and (sys.argv[1] == "giph" or sys.argv[1] == "doppler" and sys.argv[2] in KINDS):
        print(json.dumps(make(*sys.argv[1:])))
    else:
        sys.exit(__doc__)
