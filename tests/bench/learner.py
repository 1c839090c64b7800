#!/usr/bin/env python3
"""learner.py STREAM [SECONDS [EPISODES]] - the paper's training (25 episodes of 20 steps) in plain PyTorch on one core:
the anchor of `make bench`, measured in the same run.

STREAM has a graph and the features of its sets; execution is stubbed.  The network is HSDAG's as the paper has it
(hidden 128, dropout 0.2, parsing until nothing shrinks), written as one would write it: torch.nn layers, index_add_ over
edges, one backward pass through the 20 steps that were drawn, Adam.  Groups are found twice: `grown` by tensor operations, a
group at a time, as the published code does it, and `joined` by one loop over edges.
Training is as many equal episodes, so EPISODES of them (2) are measured and the least stands for all 25.
SECONDS is what ours takes: with it a ratio is printed.  A line each: "NAME MS_PER_STEP S_PER_TRAINING [RATIO]", in
processor time."""
import os, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

HIDDEN, DROPOUT, STEPS, TRAINED, DEVICES, GAMMA = 128, 0.2, 20, 25, 2, 0.95


def make(torch, d):
    nn, F = torch.nn, torch.nn.functional

    class Convolutions(nn.Module):
        """H + graph convolutions, normalised (Kipf and Welling 2017)."""
        def __init__(self, layers):
            super().__init__()
            self.layer = nn.ModuleList(nn.Linear(HIDDEN, HIDDEN) for _ in range(layers))
            self.norm = nn.LayerNorm(HIDDEN)

        def forward(self, x, ends, weight):
            h = x
            for layer in self.layer:
                y = F.linear(h, layer.weight)
                y = torch.zeros_like(y).index_add_(0, ends[1], y[ends[0]] * weight[:, None])
                h = F.dropout(F.relu(y + layer.bias), DROPOUT)
            return self.norm(x + h)

    class DeepSet(nn.Module):
        def __init__(self):
            super().__init__()
            self.own, self.norm = nn.Linear(HIDDEN, HIDDEN), nn.LayerNorm(HIDDEN)

        def forward(self, x):
            return self.norm(x + self.own(x))

    def normed(into):
        return [nn.Linear(into, HIDDEN), nn.LayerNorm(HIDDEN), nn.ReLU(), nn.Dropout(DROPOUT)]

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.parse = None
            self.enter = nn.Sequential(*normed(d), *normed(HIDDEN))
            self.before, self.within = Convolutions(2), Convolutions(1)
            self.edge = nn.Sequential(*normed(HIDDEN), nn.Linear(HIDDEN, 1))
            self.pre, self.post = DeepSet(), DeepSet()
            self.leave = nn.Sequential(nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Dropout(DROPOUT), nn.Linear(HIDDEN, d),
                                       nn.ReLU(), nn.Dropout(DROPOUT))
            self.policy = nn.Sequential(nn.Linear(d, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, DEVICES))

        def forward(self, x, pairs):
            """x (n,d), pairs (2,m): the log-probability of drawn devices, the groups' embeddings, each node's group."""
            h, of = self.enter(x), torch.arange(len(x))
            while pairs.shape[1]:
                ends, weight = both_ways(torch, pairs, len(h))
                z = self.before(h, ends, weight)
                score = torch.sigmoid(self.edge(z[pairs[0]] * z[pairs[1]]))[:, 0]
                group, size = self.parse(torch, pairs, score.detach(), len(h))
                if size == len(h):
                    break
                y = self.pre(self.within(h, ends, weight))
                y = self.post(torch.zeros(size, HIDDEN).index_add_(0, group, y))
                a, b = group[pairs[0]], group[pairs[1]]
                inside = a == b
                # A group of one node has no edge, and stays as it is.
                factor = torch.zeros(size).index_add_(0, a[inside], score[inside])
                alone = torch.ones(size, dtype=torch.bool).index_fill_(0, a[inside], False)
                h = y * torch.where(alone, torch.ones(()), factor)[:, None]
                of = group[of]
                pairs = torch.unique(torch.stack([torch.minimum(a, b), torch.maximum(a, b)])[:, ~inside], dim=1)
            z = self.leave(h)
            choice = torch.distributions.Categorical(logits=self.policy(z))
            return choice.log_prob(choice.sample()).sum(), z, of
    return Network()


def both_ways(torch, pairs, n):
    """Directed edges (2,2m+n) of both directions and of each node to itself, and their weights."""
    own = torch.arange(n)
    ends = torch.cat([pairs, pairs.flip(0), torch.stack([own, own])], 1)
    degree = torch.bincount(ends[1], minlength=n).float().rsqrt()
    return ends, degree[ends[0]] * degree[ends[1]]


def dominant_edges(torch, pairs, score, n):
    """Every node keeps its best edge: (2,n') those nodes and the other ends of their edges, the best edge first.  Nodes
    without edges are left out."""
    ends = torch.cat([pairs, pairs.flip(0)], 1)
    order = torch.argsort(torch.cat([score, score]), descending=True, stable=True)
    rank = torch.full((n,), ends.shape[1]).scatter_reduce_(0, ends[0, order], torch.arange(ends.shape[1]), "amin")
    return ends[:, order[rank[rank < ends.shape[1]].sort()[0]]]


def joined(torch, pairs, score, n):
    """(n) groups, and how many there are: a walk over the kept edges."""
    parent = list(range(n))
    for a, b in dominant_edges(torch, pairs, score, n).T.tolist():
        while parent[a] != a:
            a = parent[a]
        while parent[b] != b:
            b = parent[b]
        parent[max(a, b)] = min(a, b)
    group, size = [0] * n, 0
    for v in range(n):
        if parent[v] == v:
            group[v], size = size, size + 1
        else:
            group[v] = group[parent[v]]
    return torch.tensor(group), size


def grown(torch, pairs, score, n):
    """The same groups as the algorithm of the paper states them, and as the published code finds them, by operations on
    tensors: a group begins with the best edge that is left, and takes in the nodes whose edge leads into it until
    nobody comes."""
    kept, group, size = dominant_edges(torch, pairs, score, n), torch.full((n,), -1), 0
    while kept.shape[1]:
        members = kept[:, 0].unique()
        while True:
            leads = torch.isin(kept[1], members)
            more = torch.cat([kept[0][leads], members]).unique()
            kept = kept[:, ~leads]
            if len(more) == len(members):
                break
            members = more
        group[members] = size
        size += 1
    alone = (group < 0).nonzero()[:, 0]
    group[alone] = size + torch.arange(len(alone))
    return group, size + len(alone)


def episode(torch, net, optimizer, x, pairs):
    """Seconds of the processor: of a step's drawing, of all with the update."""
    start, logp = time.process_time(), []
    for _ in range(STEPS):
        lp, z, of = net(x, pairs)
        logp.append(lp)
        x = x + z.detach()[of]
    drawn = time.process_time() - start
    reward = torch.tensor([GAMMA**i for i in range(STEPS)])
    optimizer.zero_grad()
    (-(torch.stack(logp) * reward).sum()).backward()
    optimizer.step()
    return drawn / STEPS, time.process_time() - start


def main(stream, seconds=None, episodes=2):
    try:
        import numpy as np
        import torch
        from placer import edges_of
        from stream import array, first, read
    except ImportError as missing:
        print(f"- {sys.executable}: {missing}")
        return
    records = read(stream)
    x = torch.tensor(np.array(array(first(records, "feat")["x"])))
    pairs = torch.tensor(sorted({(min(e), max(e)) for e in edges_of(first(records, "graph"), array)})).T
    torch.set_num_threads(1)
    torch.manual_seed(1)
    net = make(torch, x.shape[1])
    optimizer = torch.optim.Adam(net.parameters(), 1e-4)
    for parse in grown, joined:
        net.parse = parse
        episode(torch, net, optimizer, x, pairs)
        measured = [episode(torch, net, optimizer, x, pairs) for _ in range(episodes)]
        training = TRAINED * min(all_of for _, all_of in measured)
        ratio = f" {training / seconds:.1f}" if seconds else ""
        print(f"{parse.__name__} {1e3 * min(step for step, _ in measured):.1f} {training:.1f}{ratio}")


if __name__ == "__main__":
    main(sys.argv[1], *map(float, sys.argv[2:3]), *map(int, sys.argv[3:4]))
