"""train_step.py - a traced network as a graph of operations, and what a step of training makes of it: stages, recomputation,
microbatches, schedules of pipelines, optimizers.  For torch2dag; needs nothing but Python.

A Traced has operations in an order in which they can run.  build() gives the JSON form `operators` of json2dag, in which
  - a parameter is a node that holds its bytes, and shares a device with all that read it and with its update;
  - an operation is a node with FLOPs and bytes, and an edge for each tensor that it reads;
  - what backward reads of forward is an edge as any other, so that activations take memory until then;
  - order alone is an edge of no bytes."""
import dataclasses

FORWARD, BACKWARD = "forward", "backward"
OPTIMIZERS = {"none": (0, 0), "sgd": (0, 3), "adam": (2, 7)}    # tensors of its state; tensors that an update moves
SCHEDULES = ("gpipe", "1f1b", "interleaved")


@dataclasses.dataclass
class Op:
    id: str
    type: str
    phase: str = FORWARD
    name: str = ""                  # for people
    flops: int = 0
    bytes: int = 0                  # that it reads and writes; with 0 flops it takes no time: an input
    out_bytes: int = 0              # that it makes
    reads: list = dataclasses.field(default_factory=list)    # (id of an operation, bytes, which of its outputs)
    params: list = dataclasses.field(default_factory=list)   # ids
    after: list = dataclasses.field(default_factory=list)    # ids of operations that end before it begins
    same: list = dataclasses.field(default_factory=list)     # ids of those with whom it shares a device
    of: str = None                  # of a backward operation: the forward one that it is the gradient of
    block: str = None               # the repeated module that it is of
    stage: int = 0


@dataclasses.dataclass
class Traced:
    ops: list                       # in an order in which they can run
    params: dict                    # id: (name, bytes)
    grads: dict = dataclasses.field(default_factory=dict)    # id of a parameter: (id of an operation, bytes, output)


# ---- stages: forward in a row of pieces, backward with what it is the gradient of ----

def cut_into_stages(traced, n, ridge, optimizer="none", microbatches=1):
    """Gives each operation a stage of 0 .. n - 1, of about equal times; ridge: FLOPs in the time of a byte.
    Cuts are where one tensor goes on, as between the layers of a network, unless stages are then a tenth longer than they need be."""
    by_id = {op.id: op for op in traced.ops}
    forward = [op for op in traced.ops if op.phase == FORWARD and not is_input(op)]
    if len(forward) < n:
        raise ValueError(f"{len(forward)} operations are no {n} stages")
    at = {op.id: i for i, op in enumerate(forward)}
    time = [max(op.flops / ridge, op.bytes) for op in forward]
    for op in traced.ops:
        if op.phase == BACKWARD and op.of in at:
            time[at[op.of]] += max(op.flops / ridge, op.bytes)
    moved = OPTIMIZERS[optimizer][1] / microbatches + 3 * (microbatches - 1) / microbatches
    for p in traced.grads:                           # sums and updates are where it is read first
        time[min((at[op.id] for op in forward if p in op.params), default=0)] += moved * traced.params[p][1]
    last = [i for i in range(len(forward))]          # who reads it last
    for i, op in enumerate(forward):
        for source, _, _ in op.reads:
            if source in at:
                last[at[source]] = max(last[at[source]], i)
    crossing = [0] * (len(forward) + 1)              # tensors that go from before position i to it or behind
    for i, end in enumerate(last):
        for position in range(i + 1, end + 1):
            crossing[position] += 1
    bounds, longest = _split(time, list(range(1, len(forward))), n)
    cuts = [i for i in range(1, len(forward)) if crossing[i] <= 1]
    if len(cuts) >= n - 1:
        few, longer = _split(time, cuts, n)
        bounds = few if longer <= 1.1 * longest else bounds
    for i, op in enumerate(forward):
        op.stage = sum(b <= i for b in bounds)
    for op in traced.ops:
        if op.phase == BACKWARD:
            above = [by_id[i].stage for i, _, _ in op.reads if by_id[i].phase == BACKWARD]
            if op.of in at:
                above.append(by_id[op.of].stage)
            op.stage = min(above, default=n - 1)
    for op in traced.ops:                            # inputs go to who reads them first
        if is_input(op) and op.phase == FORWARD:
            op.stage = min((r.stage for r in forward if any(i == op.id for i, _, _ in r.reads)), default=0)


def _split(time, cuts, n):
    """n - 1 of the cuts, so that the largest sum of times between two is as small as can be; and that sum."""
    ends = cuts + [len(time)]
    piece, begin = [], 0
    for end in ends:
        piece.append(sum(time[begin:end]))
        begin = end

    def pieces(limit):
        taken, total = [], 0
        for i, t in enumerate(piece):
            # As many pieces have to be left as there are stages to come.
            if i and (total + t > limit or len(piece) - i == n - 1 - len(taken)):
                taken.append(i)
                total = 0
            total += t
        return taken

    low, high = max(piece), sum(piece)
    for _ in range(60):
        middle = (low + high) / 2
        if len(pieces(middle)) < n:
            high = middle
        else:
            low = middle
    bounds = [0] + [ends[i - 1] for i in pieces(high * (1 + 1e-12))] + [len(time)]
    return bounds[1:-1], max(sum(time[a:b]) for a, b in zip(bounds, bounds[1:]))


def is_input(op):
    return op.type == "input"


# ---- recomputation: backward reads a second run of forward ----

def recompute(traced, how):
    """how: "all", each stage anew from what comes into it, or "block", each repeated module."""
    by_id = {op.id: op for op in traced.ops}

    def block_of(op):
        return str(op.stage) if how == "all" else op.block and f"{op.stage} {op.block}"

    block = {op.id: None if is_input(op) else block_of(op if op.block or how == "all" else by_id.get(op.of, op)) for op in traced.ops}
    readers = {op.id: [] for op in traced.ops}
    for op in traced.ops:
        for i, _, _ in op.reads:
            readers[i].append(op)
    # What nobody outside a block reads, and backward does.
    inner = {op.id for op in traced.ops if op.phase == FORWARD and block[op.id] and readers[op.id]
             and all(block[r.id] == block[op.id] for r in readers[op.id])}
    wanted = [i for i in inner if any(r.phase == BACKWARD for r in readers[i])]
    again = set()
    while wanted:
        i = wanted.pop()
        if i not in again:
            again.add(i)
            wanted += [j for j, _, _ in by_id[i].reads if j in inner]
    gates = {b: _gate(traced, by_id, block, again, b) for b in {block[i] for i in again}}
    name = lambda i: i + ".again" if i in again else i
    copies = {}                                      # block: copies in order
    for op in traced.ops:
        if op.id in again:
            copies.setdefault(block[op.id], []).append(dataclasses.replace(
                op, id=op.id + ".again", phase=BACKWARD, of=op.id, reads=[(name(i), b, k) for i, b, k in op.reads],
                same=[name(i) for i in op.same], after=[name(i) for i in op.after if i in again] + gates[block[op.id]]))
    ops = []
    for op in traced.ops:
        if op.phase == FORWARD:
            ops.append(op)
            continue
        ops.append(dataclasses.replace(op, reads=[(name(i), b, k) for i, b, k in op.reads]))
    traced.ops = _in_order(ops + [c for row in copies.values() for c in row])


def _gate(traced, by_id, block, again, b):
    """When copies of block b begin: ids of what brings gradients into it; where nothing does, of what ends forward."""
    below, gate = set(), {}
    for op in traced.ops:
        if op.phase == BACKWARD and any(i in below or (i in again and block[i] == b) for i, _, _ in op.reads):
            below.add(op.id)
    for op in traced.ops:
        if op.phase == BACKWARD and block[op.id] == b:
            gate.update((i, None) for i, _, _ in op.reads
                        if by_id[i].phase == BACKWARD and block[i] != b and i not in below and not is_input(by_id[i]))
    return list(gate) or [[op.id for op in traced.ops if op.phase == FORWARD and not is_input(op)][-1]]


def _in_order(ops):
    """The same, each behind what it waits for, and else as they were."""
    by_id, done, out = {op.id: op for op in ops}, set(), []
    for op in ops:
        stack = [op]
        while stack:
            x = stack[-1]
            missing = [i for i in [r[0] for r in x.reads] + x.after if i not in done]
            if missing and x.id not in done:
                stack += [by_id[i] for i in missing]
                if len(stack) > 4 * len(ops) ** 2 + 9:
                    raise ValueError("operations wait for each other")
                continue
            stack.pop()
            if x.id not in done:
                done.add(x.id)
                out.append(x)
    return out


# ---- microbatches, and the order in which pipelines take them ----

def order_of(schedule, rank, ranks, chunks, microbatches):
    """What device `rank` of a pipeline does in turn: (stage, microbatch, phase), where stage s is on device s % ranks.
    gpipe: all forward, then all backward (Huang et al., NeurIPS 2019).  1f1b: one forward, one backward as soon as there is
    one (Narayanan et al., PipeDream, SOSP 2019, with a flush).  interleaved: the same with several stages on each device
    (Narayanan et al., SC 2021, section 2.2), microbatches in groups of as many as devices."""
    def task(i, phase):
        if schedule != "interleaved":
            return (rank, i, phase)
        group, rest = divmod(i, ranks * chunks)
        chunk = rest // ranks
        return ((chunk if phase == FORWARD else chunks - 1 - chunk) * ranks + rank, group * ranks + rest % ranks, phase)

    n = microbatches * chunks
    ahead = {"gpipe": n, "1f1b": ranks - rank - 1, "interleaved": (ranks - rank - 1) * 2 + (chunks - 1) * ranks}[schedule]
    ahead = min(n, ahead)
    order = [task(i, FORWARD) for i in range(ahead)]
    for i in range(n - ahead):
        order += [task(ahead + i, FORWARD), task(i, BACKWARD)]
    return order + [task(i, BACKWARD) for i in range(n - ahead, n)]


class _Dag:
    def __init__(self):
        self.nodes, self.edges, self.colour = {}, {}, {}
        self.readers = {}                            # id: {id of who waits for it: None}

    def node(self, id, type, name="", flops=0, bytes=0, **more):
        self.nodes[id] = {"id": id, **({"name": name} if name else {}), "type": type, "flops": flops, "bytes": bytes,
                          **{k: v for k, v in more.items() if v}}
        self.colour[id] = id

    def edge(self, src, dst, bytes=0, tensor=0):
        # Order alone adds nothing where there is an edge.
        readers = self.readers.setdefault(src, {})
        if bytes or dst not in readers:
            self.edges[src, dst, bytes, tensor] = readers[dst] = None

    def root(self, id):
        while self.colour[id] != id:
            self.colour[id] = id = self.colour[self.colour[id]]
        return id

    def together(self, a, b):
        self.colour[self.root(a)] = self.root(b)


def build(traced, name="", optimizer="none", microbatches=1, ranks=0, chunks=1, schedule=None, devices=None):
    """The problem as the JSON form `operators`.  ranks: devices of a pipeline, whose stages the operations have; 0: none.
    devices: their names, where it is told that they are these."""
    dag = _Dag()
    staged = ranks > 0
    stage_of = {op.id: op.stage if staged else 0 for op in traced.ops}
    at = lambda id, m: id if microbatches == 1 else f"{id}@{m}"
    holders = {}                                     # (parameter, stage): its node
    state, moved = OPTIMIZERS[optimizer]

    def param_node(p, stage):
        if (p, stage) not in holders:
            first = not any(q == p for q, _ in holders)
            holders[p, stage] = id = p if first else f"{p}@stage{stage}"
            name, size = traced.params[p]
            dag.node(id, "parameter", name, mem_bytes=size * (1 + (state if p in traced.grads else 0)))
        return holders[p, stage]

    for m in range(microbatches):
        for op in traced.ops:
            id = at(op.id, m)
            dag.node(id, op.type, op.name, op.flops, op.bytes, out_bytes=op.out_bytes)
            for source, size, tensor in op.reads:
                dag.edge(at(source, m), id, size, tensor)
            for source in op.after:
                dag.edge(at(source, m), id)
            for p in op.params:
                holder = param_node(p, stage_of[op.id])
                dag.edge(holder, id)
                dag.together(holder, id)
            for other in op.same:
                dag.together(at(other, m), id)
    sums = _accumulate(dag, traced, at, microbatches, param_node, holders, stage_of, optimizer, moved)
    if staged:
        first = _pipeline(dag, traced, at, microbatches, ranks, chunks, schedule, holders)
        for id, stage, m in sums:
            dag.edge(id, f"end:{BACKWARD}:{stage}@{m}")
        for id in dag.nodes if devices else ():
            dag.nodes[id]["allowed"] = [devices[r] for r in first if dag.root(first[r]) == dag.root(id)]
    members = {}
    for id in dag.nodes:
        members.setdefault(dag.root(id), []).append(id)
    for number, ids in enumerate(i for i in members.values() if len(i) > 1):
        for id in ids:
            dag.nodes[id]["colocate"] = number
    edges = [{"src": s, "dst": d, "bytes": b, **({"tensor": k} if k else {})} for s, d, b, k in dag.edges]
    return {"name": name, "nodes": list(dag.nodes.values()), "edges": edges}


def _accumulate(dag, traced, at, microbatches, param_node, holders, stage_of, optimizer, moved):
    """Gradients of microbatches are summed up one after another beside their parameter; then it is updated.  Gives
    the sums: id, stage, microbatch."""
    sums = []
    for p, (source, size, tensor) in traced.grads.items():
        name, bytes = traced.params[p]
        home = param_node(p, stage_of[source])
        total = (at(source, 0), size, tensor)
        for m in range(1, microbatches):
            id = f"accumulate:{p}@{m}"
            dag.node(id, "accumulate", "", 0, 3 * size, out_bytes=size)
            dag.edge(total[0], id, *total[1:])
            dag.edge(at(source, m), id, size, tensor)
            dag.together(home, id)
            total = (id, size, 0)
            sums.append((id, stage_of[source], m))
        if optimizer == "none":
            continue
        for (q, stage), holder in list(holders.items()):
            if q == p:
                id = f"{optimizer}:{holder}"
                dag.node(id, optimizer, "", 0, moved * bytes)
                dag.edge(total[0], id, *total[1:])
                dag.edge(holder, id)
                # Who reads the old value reads it first.
                for reader in [r for r in dag.readers[holder] if r != id]:
                    dag.edge(reader, id)
                dag.together(holder, id)
    return sums


def _pipeline(dag, traced, at, microbatches, ranks, chunks, schedule, holders):
    """Each stage's forward, and its backward, of a microbatch is a task: nothing of it begins before all that it waits for has
    ended, and tasks of a device go one after another in the schedule's order."""
    first = {}                                       # of a device: a node of it
    place = lambda id, stage: dag.together(first.setdefault(stage % ranks, id), id)
    inside = {}                                      # (stage, phase): ids of its operations
    for op in traced.ops:
        if not is_input(op):
            inside.setdefault((op.stage, op.phase), []).append(op)
        for m in range(microbatches):
            place(at(op.id, m), op.stage)
    for (p, stage), holder in holders.items():
        place(holder, stage)
    key = lambda op: (op.stage, op.phase)
    by_id = {op.id: op for op in traced.ops}
    for m in range(microbatches):
        for (stage, phase), ops in inside.items():
            begin, end = (f"{w}:{phase}:{stage}@{m}" for w in ("begin", "end"))
            for id in (begin, end):
                dag.node(id, id.split(":")[0])
                place(id, stage)
            waited = set()
            for op in ops:
                before = [i for i in [r[0] for r in op.reads] + op.after if not is_input(by_id[i])]
                own = [i for i in before if key(by_id[i]) == (stage, phase)]
                waited.update(own)
                if not own:
                    dag.edge(begin, at(op.id, m))
                for i in before:
                    other = key(by_id[i])
                    if other != (stage, phase) and (other[0] == stage or other[1] == phase):
                        dag.edge(f"end:{other[1]}:{other[0]}@{m}", begin)
            for op in ops:
                if op.id not in waited:
                    dag.edge(at(op.id, m), end)
    for rank in range(ranks if schedule else 0):
        order = [t for t in order_of(schedule, rank, ranks, chunks, microbatches) if (t[0], t[2]) in inside]
        for before, then in zip(order, order[1:]):
            dag.edge(f"end:{before[2]}:{before[0]}@{before[1]}", f"begin:{then[2]}:{then[0]}@{then[1]}")
    return first
