"""families.py - task graphs of the scheduling literature, made from their definitions, in the general JSON form.

    python tests/support/families.py FAMILY SIZE DEVICES SEED > problem.json
    python tests/support/families.py --list

SIZE is about the number of tasks.  Costs are those of unrelated devices (Topcuoglu, Hariri, Wu 2002, section 5.1: a mean
drawn from [0, 2 m], then each device within [1 - beta/2, 1 + beta/2] of it), copies a fraction ccr of the mean cost; graphs
of neural networks have a processor and accelerators that are good at large operations.  DEVICES are one processor and
accelerators there, else devices whose links differ by a factor of four."""
import json, math, random, sys

FAMILIES = {}


def family(f):
    FAMILIES[f.__name__] = f
    return f


class Graph:
    """Tasks with work, kind; edges with a relative size."""

    def __init__(self):
        self.work, self.kind, self.size, self.edges = [], [], [], []

    def task(self, work=1.0, after=(), kind="", size=1.0):
        self.work.append(work)
        self.kind.append(kind)
        self.size.append(size)
        self.edges += [(u, len(self.work) - 1) for u in after]
        return len(self.work) - 1


# ---- Topcuoglu, Hariri, Wu 2002, section 5 ----

@family
def topcuoglu(rng, size):
    """Random graphs of shape alpha and out-degree 1..5."""
    g, alpha, last, n = Graph(), rng.choice([0.5, 1.0, 2.0]), [], 0
    while n < size:
        level = [g.task(rng.uniform(0.1, 2), size=rng.uniform(0.1, 2)) for _ in
                 range(max(1, min(size - n, round(rng.uniform(0, 2) * alpha * math.sqrt(size)))))]
        n += len(level)
        for u in last:
            g.edges += [(u, v) for v in rng.sample(level, min(len(level), rng.randint(1, 5)))]
        for v in level if last else []:
            if not any(e[1] == v for e in g.edges[-5 * len(last):]):
                g.edges.append((rng.choice(last), v))
        last = level
    return g


@family
def gauss(rng, size):
    """Gaussian elimination: (m^2 + m - 2) / 2 tasks."""
    g, m = Graph(), max(2, round((math.sqrt(9 + 8 * size) - 1) / 2))
    column = [None] * m
    for k in range(m - 1):
        pivot = g.task(2 * (m - k) / m, [column[k]] if k else [])
        for j in range(k + 1, m):
            column[j] = g.task((m - k) / m, [pivot] + ([column[j]] if k else []))
    return g


@family
def fft(rng, size):
    """2 m - 1 recursive calls, then m log2 m butterflies."""
    g, m = Graph(), 2
    while 4 * m - 1 + 2 * m * (m.bit_length()) <= 1.5 * size:
        m *= 2
    level = [g.task()]
    while len(level) < m:
        level = [g.task(1, [u]) for u in level for _ in range(2)]
    step = 1
    while step < m:
        level = [g.task(1, [level[i], level[i ^ step]]) for i in range(m)]
        step *= 2
    return g


# ---- dense linear algebra on tiles ----

class Tiles(Graph):
    """A square of tiles; a task waits for those that wrote what it reads and writes."""

    def __init__(self, size, tasks):
        """n x n tiles have about tasks(n) tasks; the least n with `size` of them."""
        super().__init__()
        self.n, self.writer = 2, {}
        while tasks(self.n) < size:
            self.n += 1

    def put(self, kind, work, writes, reads=()):
        before = {self.writer.get(tile) for tile in [*writes, *reads]} - {None}
        t = self.task(work, sorted(before), kind)
        self.writer.update(dict.fromkeys(writes, t))


@family
def cholesky(rng, size):
    g = Tiles(size, lambda n: n * (n + 1) * (n + 2) / 6)
    for k in range(g.n):
        g.put("potrf", 1 / 3, [(k, k)])
        for i in range(k + 1, g.n):
            g.put("trsm", 1, [(i, k)], [(k, k)])
        for i in range(k + 1, g.n):
            g.put("syrk", 1, [(i, i)], [(i, k)])
            for j in range(k + 1, i):
                g.put("gemm", 2, [(i, j)], [(i, k), (j, k)])
    return g


@family
def lu(rng, size):
    g = Tiles(size, lambda n: n * (n + 1) * (2 * n + 1) / 6)
    for k in range(g.n):
        g.put("getrf", 2 / 3, [(k, k)])
        for i in range(k + 1, g.n):
            g.put("trsm", 1, [(i, k)], [(k, k)])
            g.put("trsm", 1, [(k, i)], [(k, k)])
        for i in range(k + 1, g.n):
            for j in range(k + 1, g.n):
                g.put("gemm", 2, [(i, j)], [(i, k), (k, j)])
    return g


@family
def qr(rng, size):
    g = Tiles(size, lambda n: n * (n + 1) * (2 * n + 1) / 6)
    for k in range(g.n):
        g.put("geqrt", 4 / 3, [(k, k)])
        for j in range(k + 1, g.n):
            g.put("unmqr", 2, [(k, j)], [(k, k)])
        for i in range(k + 1, g.n):
            g.put("tsqrt", 2, [(k, k), (i, k)])
            for j in range(k + 1, g.n):
                g.put("tsmqr", 4, [(k, j), (i, j)], [(i, k)])
    return g


# ---- scientific workflows: Bharathi et al., WORKS 2008 ----

@family
def montage(rng, size):
    g, n = Graph(), max(2, size // 6)
    project = [g.task(1.7, kind="mProjectPP") for _ in range(n)]
    pairs = [(i, i + 1) for i in range(n - 1)] + [(i, i + 2) for i in range(n - 2)]
    diff = [g.task(1, [project[i], project[j]], "mDiffFit", .1) for i, j in pairs]
    model = g.task(4, [g.task(2, diff, "mConcatFit", .1)], "mBgModel", .1)
    back = [g.task(1, [p, model], "mBackground") for p in project]
    add = g.task(6, [g.task(1, back, "mImgTbl", .1)] + back, "mAdd", 5)
    g.task(1, [g.task(3, [add], "mShrink")], "mJPEG")
    return g


@family
def cybershake(rng, size):
    g, n = Graph(), max(2, size // 9)
    sgt = [g.task(20, kind="ExtractSGT", size=10) for _ in range(n)]
    synth = [g.task(rng.uniform(3, 6), [s], "SeismogramSynthesis", .1) for s in sgt for _ in range(4)]
    peak = [g.task(.2, [s], "PeakValCalc", .01) for s in synth]
    g.task(2, synth, "ZipSeis")
    g.task(2, peak, "ZipPSA")
    return g


@family
def epigenomics(rng, size):
    g, ends = Graph(), []
    for _ in range(max(1, size // 50)):
        split, mapped = g.task(2, kind="fastQSplit", size=4), []
        for _ in range(12):
            a = g.task(.2, [split], "filterContams")
            b = g.task(.1, [g.task(.1, [a], "sol2sanger")], "fastq2bfq", .3)
            mapped.append(g.task(12, [b], "map", .1))
        ends.append(g.task(2, mapped, "mapMerge"))
    g.task(3, [g.task(1, [g.task(2, ends, "mapMerge")], "maqIndex")], "pileup")
    return g


@family
def ligo(rng, size):
    g, n = Graph(), max(2, size // 20)
    for _ in range(max(1, size // (4 * n + 2))):
        bank = [g.task(18, kind="TmpltBank", size=.5) for _ in range(n)]
        insp = [g.task(rng.uniform(200, 460) / 20, [b], "Inspiral", .5) for b in bank]
        thinca = g.task(5, insp, "Thinca", .1)
        trig = [g.task(.3, [thinca], "TrigBank", .1) for _ in range(n)]
        g.task(5, [g.task(rng.uniform(200, 460) / 20, [t], "Inspiral", .5) for t in trig], "Thinca")
    return g


@family
def moldyn(rng, size):
    """Steps of molecular dynamics over cells on a ring: neighbour lists, forces within and between cells, bonds,
    integration, energy.  Kim and Browne's graph (41 tasks; Topcuoglu et al. 2002, section 5.3) is printed as a figure
    alone: this has its irregular shape, not its edges."""
    g, cells = Graph(), max(3, min(8, size // 8))
    at = [g.task(.2, [s], "read") for s in [g.task(.5, kind="setup", size=2)] for _ in range(cells)]
    while len(g.work) < size:
        near = [g.task(rng.uniform(.5, 1.5), [at[i], at[(i + 1) % cells]], "neighbours", .5) for i in range(cells)]
        own = [g.task(rng.uniform(1, 3), [at[i], near[i]], "within", .3) for i in range(cells)]
        pair = [g.task(rng.uniform(1, 4), [near[i]], "between", .6) for i in range(cells)]
        bond = [g.task(rng.uniform(.1, .5), [at[i]], "bonds", .2) for i in rng.sample(range(cells), cells // 2)]
        at = [g.task(.4, [at[i], own[i], pair[i], pair[i - 1]] + bond[i:i + 1], "integrate") for i in range(cells)]
        g.task(.3, own + pair, "energy", .01)
    return g


# ---- other synthetic ones ----

@family
def layered(rng, size):
    """Of the standard task graph set: layers, each pair of neighbours an edge with equal probability."""
    g, last = Graph(), []
    while len(g.work) < size:
        now = [g.task(rng.uniform(.1, 2)) for _ in range(rng.randint(1, max(1, int(math.sqrt(size)))))]
        for v in now:
            g.edges += [(u, v) for u in rng.sample(last, min(len(last), rng.randint(1, 3)))]
        last = now
    return g


@family
def stencil(rng, size):
    g, w = Graph(), max(2, int(math.sqrt(size)))
    row = [g.task() for _ in range(w)]
    for _ in range(max(1, size // w - 1)):
        row = [g.task(1, row[max(0, i - 1):i + 2]) for i in range(w)]
    return g


@family
def forkjoin(rng, size):
    g, w = Graph(), rng.choice([4, 8, 16])
    join = g.task(.2)
    while len(g.work) < size:
        join = g.task(.2, [g.task(rng.uniform(.5, 2), [join]) for _ in range(w)])
    return g


@family
def intree(rng, size):
    g = Graph()
    level = [g.task(rng.uniform(.1, 2)) for _ in range(max(2, size // 2))]
    while len(level) > 1:
        level = [g.task(rng.uniform(.1, 2), level[i:i + 2]) for i in range(0, len(level), 2)]
    return g


# ---- neural networks: work and size of operations, large and small ----

@family
def inception(rng, size):
    g = Graph()
    x = g.task(.1, kind="Parameter", size=1)
    while len(g.work) < size:
        w = rng.uniform(.5, 1.5)
        conv = [g.task(.3 * w, [x], "Convolution", .3) for _ in range(3)]
        r = [g.task(.02, [c], "Relu", .3) for c in conv]
        b = g.task(2 * w, [r[1]], "Convolution", .4)
        c = g.task(2 * w, [g.task(1.5 * w, [r[2]], "Convolution", .4)], "Convolution", .4)
        p = g.task(.4 * w, [g.task(.1, [x], "MaxPool", 1)], "Convolution", .3)
        x = g.task(.05, [r[0], b, c, p], "Concat", 1)
    return g


@family
def transformer(rng, size):
    g = Graph()
    x = g.task(.1, kind="Gather", size=.5)
    while len(g.work) < size:
        n = g.task(.05, [x], "MVN", .5)
        heads = []
        for _ in range(4):
            q, k, v = (g.task(.5, [n], "MatMul", .125) for _ in range(3))
            heads.append(g.task(.2, [g.task(.05, [g.task(.2, [q, k], "MatMul", .3)], "Softmax", .3), v], "MatMul", .125))
        a = g.task(.05, [x, g.task(1, heads, "MatMul", .5)], "Add", .5)
        h = g.task(4, [g.task(.05, [a], "MVN", .5)], "MatMul", 2)
        x = g.task(.05, [a, g.task(4, [g.task(.1, [h], "Gelu", 2)], "MatMul", .5)], "Add", .5)
    return g


@family
def lstm(rng, size):
    """Layers by steps of cells, then a product for each step."""
    g, layers = Graph(), rng.choice([2, 4])
    below = [g.task(.05, kind="Gather", size=.1) for _ in range(max(2, size // (layers + 2)))]
    for _ in range(layers):
        state, cells = [], []
        for x in below:
            state = [g.task(2, [x] + state, "LSTMCell", .1)]
            cells += state
        below = cells
    for x in below:
        g.task(3, [x], "MatMul", .5)
    return g


NETWORKS = {"inception", "transformer", "lstm"}


def network_costs(g, rng, k):
    """Seconds: the processor is even; accelerators need large operations."""
    speed = [1.0] + [rng.uniform(4, 8) for _ in range(k - 1)]
    start = [2e-6] + [2e-5] * (k - 1)
    return [[w * 4e-4 / s + t for s, t in zip(speed, start)] for w in g.work]


def unrelated_costs(g, rng, k, beta):
    mean = [w * rng.uniform(.5, 1.5) * 1e-3 for w in g.work]
    return [[m * rng.uniform(1 - beta / 2, 1 + beta / 2) for _ in range(k)] for m in mean]


def make(name, size, k, seed, ccr=None, beta=None):
    rng = random.Random(f"{name} {size} {k} {seed}")
    g = FAMILIES[name](rng, size)
    ccr = rng.choice([.1, .5, 1, 5]) if ccr is None else ccr
    beta = rng.choice([.25, .5, 1, 1.5]) if beta is None else beta
    cost = network_costs(g, rng, k) if name in NETWORKS else unrelated_costs(g, rng, k, beta)
    names = ["cpu:0"] + [f"gpu:{i}" for i in range(1, k)] if name in NETWORKS else [f"p{i}" for i in range(k)]
    mean = sum(map(sum, cost)) / k / len(cost)
    unit = ccr * mean * 1e9 / (sum(g.size) / len(g.size))          # bytes of size 1 at 1 GB/s
    links = [{"src": a, "dst": b, "latency_s": 1e-6, "bytes_per_s": 1e9 * rng.choice([.5, 1, 2])}
             for a in names for b in names if a != b]
    nodes = [{"id": i, "name": f"{g.kind[i] or 't'}{i}", "type": g.kind[i] or "Task",
              "cost_s": dict(zip(names, cost[i])), "out_bytes": int(unit * g.size[i]), "mem_bytes": 0}
             for i in range(len(cost))]
    edges = [{"src": u, "dst": v} for u, v in sorted(set(g.edges))]
    return {"name": f"{name} {len(nodes)} tasks, {k} devices, ccr {ccr}, beta {beta}",
            "devices": [{"name": n} for n in names], "links": links, "nodes": nodes, "edges": edges}


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print("\n".join(FAMILIES))
    else:
        print(json.dumps(make(sys.argv[1], *map(int, sys.argv[2:5]))))
