"""refsim.py - a second simulator of the general JSON form and of dnn-partitioning's two models,
written from their description alone, for the tests to compare with.  Slow and plain on purpose:
exact ranks, one list of events, memory from intervals after the fact.

    python tests/oracle/refsim.py PROBLEM.json PLACEMENT.json      placement: {"node name": "device"}
prints the run as JSON."""
import heapq, json, sys
from fractions import Fraction


class Infeasible(Exception):
    """The placement breaks a rule of the problem."""


class Problem:
    """The general form; nodes are numbered by their place in the file, devices by theirs."""

    def __init__(self, doc):
        self.devices = [d["name"] for d in doc["devices"]]
        self.mem_limit = [d.get("mem_bytes", 0) for d in doc["devices"]]
        nodes, number = doc["nodes"], {d: i for i, d in enumerate(self.devices)}
        self.turns = [set() for _ in self.devices]
        for i, d in enumerate(doc["devices"]):
            for o in d.get("turns", []):
                self.turns[i].add(number[o])
                self.turns[number[o]].add(i)
        self.names = [str(v.get("name", v["id"])) for v in nodes]
        self.mem = [v.get("mem_bytes", 0) for v in nodes]
        self.colocate = [json.dumps(v["colocate"]) if "colocate" in v else None for v in nodes]
        self.cost = []                       # per node {device: seconds}, where it may run
        for v in nodes:
            c, allowed = v["cost_s"], v.get("allowed", self.devices)
            c = {d: c for d in self.devices} if not isinstance(c, dict) else c
            self.cost.append({number[d]: c[d] for d in c if d in number and d in allowed})
        at = {self.key(v["id"]): i for i, v in enumerate(nodes)}
        self.tensors = [[] for _ in nodes]   # per node [bytes, consumers]; another size, another tensor
        for e in doc.get("edges", []):
            u, w = at[self.key(e["src"])], at[self.key(e["dst"])]
            size = e.get("bytes", nodes[u].get("out_bytes", 0))
            t = next((t for t in self.tensors[u] if t[0] == size), None)
            if t is None:
                self.tensors[u].append(t := [size, []])
            if w not in t[1]:
                t[1].append(w)
        self.unread = [v.get("out_bytes", 0) if not t else 0 for v, t in zip(nodes, self.tensors)]
        self.links, wild = {}, {}
        for l in doc.get("links", []):
            exact = "*" not in (l["src"], l["dst"])
            for s in self.devices if l["src"] == "*" else [l["src"]]:
                for d in self.devices if l["dst"] == "*" else [l["dst"]]:
                    (self.links if exact else wild)[number[s], number[d]] = l["latency_s"], l["bytes_per_s"]
        self.links = {**wild, **self.links}
        options = doc.get("options", {})
        self.contention, self.overlap = options.get("contention", True), options.get("overlap", True)
        self.fifo = options.get("order") == "fifo"
        self.topo = self.order()
        self.rank = self.ranks()

    @staticmethod
    def key(x):
        return type(x).__name__, x

    def order(self):
        """Place of each node in the topological order by file position."""
        wait = [0] * len(self.names)
        for ts in self.tensors:
            for _, ws in ts:
                for w in ws:
                    wait[w] += 1
        heap, place, n = [v for v in range(len(wait)) if wait[v] == 0], [0] * len(wait), 0
        while heap:
            v = heapq.heappop(heap)
            place[v], n = n, n + 1
            for _, ws in self.tensors[v]:
                for w in ws:
                    wait[w] -= 1
                    if wait[w] == 0:
                        heapq.heappush(heap, w)
        assert n == len(wait), "cycle"
        return place

    def copy_s(self, src, dst, size):
        latency, rate = self.links[src, dst]
        return latency + size / rate

    def ranks(self):
        """Upward ranks: mean costs, mean copies over all linked pairs, a device with itself being 0."""
        rank = [Fraction(0)] * len(self.names)
        for v in sorted(range(len(rank)), key=lambda v: -self.topo[v]):
            after = Fraction(0)
            for size, ws in self.tensors[v]:
                for w in ws:
                    pairs = [Fraction(0) if p == q else
                             Fraction(self.links[p, q][0]) + Fraction(size) / Fraction(self.links[p, q][1])
                             for p in self.cost[v] for q in self.cost[w] if p == q or (p, q) in self.links]
                    after = max(after, rank[w] + (sum(pairs) / len(pairs) if pairs else 0))
            own = [Fraction(s) for s in self.cost[v].values()]
            rank[v] = after + (sum(own) / len(own) if own else 0)
        return rank

    def check(self, on):
        group = {}
        for v, d in enumerate(on):
            if d not in self.cost[v]:
                raise Infeasible(f"{self.names[v]} cannot run on {self.devices[d]}")
            if self.colocate[v] is not None and group.setdefault(self.colocate[v], d) != d:
                raise Infeasible(f"{self.names[v]} shares a device")
            for _, ws in self.tensors[v]:
                for w in ws:
                    if on[w] != d and (d, on[w]) not in self.links:
                        raise Infeasible(f"no link {self.devices[d]} to {self.devices[on[w]]}")


class Run:
    """One placement, on: device of each node."""

    def __init__(self, problem, on):
        self.p, self.on = problem, on
        problem.check(on)
        n, k = len(on), len(problem.devices)
        self.start, self.end = [None] * n, [None] * n
        self.copies = []                     # [start, end, source node, tensor, from, to]
        self.node_busy, self.copy_busy, self.link_busy = [False] * k, [0] * k, set()
        self.ready, self.waiting, self.events = [[] for _ in range(k)], [], []
        self.wait = [0] * n
        for ts in problem.tensors:
            for _, ws in ts:
                for w in ws:
                    self.wait[w] += 1
        self.t = 0.0
        for v in range(n):
            if self.wait[v] == 0:
                self.becomes_ready(v)
        self.pick()
        while self.events:
            self.t = self.events[0][0]
            while self.events and self.events[0][0] == self.t:
                _, what, x = heapq.heappop(self.events)
                (self.node_ends if what == 0 else self.copy_ends)(x)
            self.pick()
        assert None not in self.end
        self.makespan = max(self.end, default=0.0)
        self.measure()

    def becomes_ready(self, v):
        p = self.p
        rank = (-p.rank[v], p.topo[v])
        heapq.heappush(self.ready[self.on[v]], ((self.t,) + rank if p.fifo else rank, v))

    def arrived(self, consumers, dev):
        for w in consumers:
            if self.on[w] == dev:
                self.wait[w] -= 1
                if self.wait[w] == 0:
                    self.becomes_ready(w)

    def node_ends(self, v):
        dev = self.on[v]
        self.end[v], self.node_busy[dev] = self.t, False
        for i, (size, ws) in enumerate(self.p.tensors[v]):
            self.arrived(ws, dev)
            for d in sorted({self.on[w] for w in ws} - {dev}):
                self.waiting.append((self.t, -self.p.rank[v], self.p.topo[v], d, i, v))

    def copy_ends(self, c):
        _, _, v, i, src, dst = self.copies[c]
        self.link_busy.discard((src, dst))
        self.copy_busy[src] -= 1
        self.copy_busy[dst] -= 1
        self.arrived(self.p.tensors[v][i][1], dst)

    def pick(self):
        """Idle links and devices take what waits for them, copies before nodes."""
        left = []
        for c in sorted(self.waiting):
            _, _, _, dst, i, v = c
            src = self.on[v]
            busy = self.p.contention and (src, dst) in self.link_busy
            if not self.p.overlap:
                busy = busy or any(self.node_busy[d] or self.copy_busy[d] for d in (src, dst))
            if busy:
                left.append(c)
                continue
            end = self.t + self.p.copy_s(src, dst, self.p.tensors[v][i][0])
            self.link_busy.add((src, dst))
            self.copy_busy[src] += 1
            self.copy_busy[dst] += 1
            self.copies.append([self.t, end, v, i, src, dst])
            heapq.heappush(self.events, (end, 1, len(self.copies) - 1))
        self.waiting = left
        busy = lambda d: self.node_busy[d] or (not self.p.overlap and self.copy_busy[d])
        held = set()
        while True:
            first = min(((q[0], d) for d, q in enumerate(self.ready) if q and d not in held and not busy(d)), default=None)
            if first is None:
                return
            dev = first[1]
            held.add(dev)
            if any(busy(d) for d in self.p.turns[dev]):
                held |= self.p.turns[dev]
                continue
            v = heapq.heappop(self.ready[dev])[1]
            self.node_busy[dev], self.start[v] = True, self.t
            heapq.heappush(self.events, (self.t + self.p.cost[v][dev], 0, v))

    def measure(self):
        p, on, k = self.p, self.on, len(self.p.devices)
        held = [[] for _ in range(k)]        # (from, to, bytes)
        self.busy, self.memory = [0.0] * k, [0] * k
        self.link_bytes, self.link_busy = {}, {}
        for v, ts in enumerate(p.tensors):
            self.busy[on[v]] += p.cost[v][on[v]]
            self.memory[on[v]] += p.mem[v]
            if not ts:
                held[on[v]].append((self.start[v], self.makespan, p.unread[v]))
            for i, (size, ws) in enumerate(ts):
                leaves = [c[1] for c in self.copies if c[2:4] == [v, i]]
                last = max([self.end[v]] + [self.end[w] for w in ws if on[w] == on[v]] + leaves)
                held[on[v]].append((self.start[v], last, size))
        for start, end, v, i, src, dst in self.copies:
            size, ws = p.tensors[v][i]
            held[dst].append((start, max(self.end[w] for w in ws if on[w] == dst), size))
            self.link_bytes[src, dst] = self.link_bytes.get((src, dst), 0) + size
            self.link_busy[src, dst] = self.link_busy.get((src, dst), 0) + end - start
        for dev in range(k):
            self.memory[dev] += peak(held[dev])
        self.over = [d for d in range(k) if p.mem_limit[d] and self.memory[d] > p.mem_limit[d]]


def peak(intervals):
    """The most bytes at once; what ends goes before what starts."""
    now = most = 0
    for _, _, change in sorted([(a, 1, x) for a, b, x in intervals if a < b] +
                               [(b, 0, -x) for a, b, x in intervals if a < b]):
        now += change
        most = max(most, now)
    return most


# ---- dnn-partitioning, ms ----

class Dnnpart:
    """maxCPUs CPUs come first, then maxFPGAs accelerators."""

    def __init__(self, doc):
        self.n_cpus, self.n_accs = doc["maxCPUs"], doc["maxFPGAs"]
        self.limit, nodes = doc["maxSizePerFPGA"], doc["nodes"]
        at = {v["id"]: i for i, v in enumerate(nodes)}
        self.cpu = [v["cpuLatency"] for v in nodes]
        self.acc = [v["fpgaLatency"] if v["supportedOnFpga"] else None for v in nodes]
        self.size = [v["size"] for v in nodes]
        self.move, self.ins, self.outs = [0.0] * len(nodes), [set() for _ in nodes], [set() for _ in nodes]
        for e in doc["edges"]:
            u, w = at[e["sourceId"]], at[e["destId"]]
            self.move[u] = e["cost"]
            self.outs[u].add(w)
            self.ins[w].add(u)

    def part_ms(self, part):
        """Some of an accelerator's nodes as one: transfers in, nodes, transfers out."""
        return (sum(self.move[u] for u in {u for v in part for u in self.ins[v]} - part) +
                sum(self.acc[v] for v in part) + sum(self.move[v] for v in part if self.outs[v] - part))

    def parts(self, on):
        return [{v for v in range(len(on)) if on[v] == d} for d in range(self.n_cpus + self.n_accs)]

    def fits(self, on):
        return all(sum(self.size[v] for v in p) <= self.limit for p in self.parts(on)[self.n_cpus:])

    def throughput_ms(self, on):
        parts = self.parts(on)
        return max([sum(self.cpu[v] for v in p) for p in parts[:self.n_cpus]] +
                   [self.part_ms(p) for p in parts[self.n_cpus:] if p])

    def entries(self, on, dev):
        """For each node the most times that a path to it enters the accelerator."""
        most = {}

        def of(v):
            if v not in most:
                most[v] = max([of(u) + (on[v] == dev != on[u]) for u in self.ins[v]] + [int(on[v] == dev)])
            return most[v]
        for v in range(len(on)):
            of(v)
        return most

    def pieces(self, on):
        """The accelerators' shares, cut so that no path leaves a piece and comes back."""
        out = []
        for dev in range(self.n_cpus, self.n_cpus + self.n_accs):
            most, cut = self.entries(on, dev), {}
            for v in range(len(on)):
                if on[v] == dev:
                    cut.setdefault(most[v], set()).add(v)
            out += cut.values()
        return out

    def contiguous(self, part):
        """Does no path leave the set and come back?"""
        beyond = {w for v in part for w in self.outs[v]} - part
        todo = list(beyond)
        while todo:
            for w in self.outs[todo.pop()]:
                if w in part:
                    return False
                if w not in beyond:
                    beyond.add(w)
                    todo.append(w)
        return True

    def latency_ms(self, on):
        """None where pieces wait for each other."""
        end = {}

        def ready(part):
            before = {u for v in part for u in self.ins[v]} - part
            return max((end[u] for u in before), default=0.0) if before <= end.keys() else None

        pieces = self.pieces(on)
        assert all(map(self.contiguous, pieces))
        todo = [({v}, self.cpu[v]) for v in range(len(on)) if on[v] < self.n_cpus]
        todo += [(p, self.part_ms(p)) for p in pieces]
        while todo:
            left = []
            for part, cost in todo:
                if (start := ready(part)) is None:
                    left.append((part, cost))
                else:
                    end.update((v, start + cost) for v in part)
            if len(left) == len(todo):
                return None
            todo = left
        return max(end.values(), default=0.0)


def main():
    doc, where = (json.load(open(f)) for f in sys.argv[1:3])
    p = Problem(doc)
    r = Run(p, [p.devices.index(where[name]) for name in p.names])
    json.dump({"makespan_s": r.makespan, "busy_s": r.busy, "mem_bytes": r.memory, "over_memory": r.over,
               "links": [[p.devices[s], p.devices[d], b] for (s, d), b in sorted(r.link_bytes.items())],
               "nodes": [[n, p.devices[d], a, b] for n, d, a, b in zip(p.names, r.on, r.start, r.end)],
               "copies": [[p.names[c[2]], p.devices[c[4]], p.devices[c[5]], c[0], c[1]] for c in r.copies]},
              sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
