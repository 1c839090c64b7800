#!/usr/bin/env python3
"""placer.py BENCH_PLACER STREAM [REPEATS] - one update of the Hierarchical Planner on one core beside the same network
in PyTorch, both in this run, in turns.  Ours is twice in it: `ours` as behind `placepolicy --hand-over`, where the
replay is given what the draw computed, and `again` without, where it computes the forward pass again.

An update is what the recipe has: five groupings are drawn, two placements of each, REINFORCE over all, clip, Adam.  The
network in PyTorch is written as one would write it: torch.nn.LSTM for the encoder, torch.nn.LSTMCell in a loop
for the decoder, whose next input is the device that was drawn; one backward pass through all that was drawn.
`eager` walks through the groupings one after another with their two placements as a batch; `batched` has all ten
placements in one batch, padded to the longest.  Where PyTorch is missing this says so and measures our side alone."""
import os, re, subprocess, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

STEPS, SAMPLES, GROUPS, HIDDEN, GROUPER, DEVICES, TANH = 5, 2, 256, 256, 64, 2, 1.0
HANDED = ("hierarchical", "1", "hand-over")


def ours(bench, stream, repeats, *how):
    out = subprocess.run([bench, stream, str(repeats), *how], check=True, capture_output=True, text=True).stdout
    return dict(zip(("all", "draw", "learn", "adam"), map(float, re.findall(r" ([0-9.]+)", out)))), out


def edges_of(graph, array):
    of, ptr, node = array(graph["set"]), array(graph["in_ptr"]), array(graph["in_node"])
    none = 2**32 - 1
    return sorted({(int(of[node[i]]), int(of[v])) for v in range(len(of)) for i in range(ptr[v], ptr[v + 1])
                   if node[i] != none and of[node[i]] != none and of[v] != none and of[node[i]] != of[v]})


def make(torch, d, edges, n):
    nn, F = torch.nn, torch.nn.functional
    ends = torch.tensor(edges)
    hat = torch.eye(n)
    hat[ends[:, 0], ends[:, 1]] = hat[ends[:, 1], ends[:, 0]] = 1
    hat = hat / hat.sum(1).sqrt()[:, None] / hat.sum(1).sqrt()

    class Planner(nn.Module):
        def __init__(self):
            super().__init__()
            self.own, self.beside = nn.Linear(d, GROUPER), nn.Linear(d, GROUPER, bias=False)
            self.norm, self.group = nn.LayerNorm(GROUPER), nn.Linear(GROUPER, GROUPS)
            self.embed, self.adjacency = nn.Linear(d, d), nn.Linear(GROUPS, d, bias=False)
            self.policy_norm = nn.LayerNorm(d)
            self.encoder = nn.LSTM(d, HIDDEN // 2, bidirectional=True)
            self.device = nn.Embedding(DEVICES + 1, HIDDEN)
            self.decoder = nn.LSTMCell(HIDDEN, HIDDEN)
            self.query, self.key = nn.Linear(HIDDEN, HIDDEN, bias=False), nn.Linear(HIDDEN, HIDDEN, bias=False)
            self.v = nn.Parameter(torch.empty(HIDDEN).uniform_(-0.06, 0.06))
            self.state, self.context = nn.Linear(HIDDEN, DEVICES), nn.Linear(HIDDEN, DEVICES, bias=False)

        def groups(self, x):
            """(n) drawn groups, numbered by their first set; their log-probability; (g,d) embeddings."""
            h = F.relu(self.norm(self.own(x) + hat @ self.beside(x)))
            drawn = torch.distributions.Categorical(logits=self.group(h))
            label = drawn.sample()
            used, group = torch.unique(label, return_inverse=True)
            size = len(used)
            z = self.embed(torch.zeros(size, d).index_add_(0, group, x))
            near = torch.zeros(size, GROUPS)
            a, b = group[ends[:, 0]], group[ends[:, 1]]
            near[a[a != b], label[ends[:, 1]][a != b]] = near[b[a != b], label[ends[:, 0]][a != b]] = 1
            return drawn.log_prob(label).sum(), z + self.adjacency(near)

        def place(self, z, valid):
            """z (g,b,d), valid (g,b): sum over the groups of the log-probabilities of drawn devices, (b)."""
            enc, (h, c) = self.encoder(self.policy_norm(z))
            h, c = torch.cat([h[0], h[1]], 1), torch.cat([c[0], c[1]], 1)
            enc = enc.transpose(0, 1)
            keys, mask = self.key(enc), (~valid.T).float() * -1e9
            before, logp = torch.full((z.shape[1],), DEVICES), 0
            for g in range(len(z)):
                h, c = self.decoder(self.device(before), (h, c))
                score = torch.tanh(self.query(h)[:, None] + keys) @ self.v + mask
                context = (F.softmax(score, 1)[:, None] @ enc)[:, 0]
                logits = TANH * torch.tanh((self.state(h) + self.context(context)) / TANH)
                lp = F.log_softmax(logits, 1)
                before = torch.multinomial(lp.detach().exp(), 1)[:, 0]
                logp = logp + lp.gather(1, before[:, None])[:, 0] * valid[g]
            return logp
    return Planner()


def update(torch, net, optimizer, x, batched):
    optimizer.zero_grad()
    grouped = [net.groups(x) for _ in range(STEPS)]
    reward = torch.tensor([0.1, -0.1] * STEPS)
    of_groups = torch.stack([logp for logp, _ in grouped]).repeat_interleave(SAMPLES)
    if batched:
        z = torch.nn.utils.rnn.pad_sequence([z for _, z in grouped]).repeat_interleave(SAMPLES, 1)
        length = torch.tensor([len(z) for _, z in grouped]).repeat_interleave(SAMPLES)
        logp = net.place(z, torch.arange(len(z))[:, None] < length)
    else:
        logp = torch.cat([net.place(z[:, None].expand(-1, SAMPLES, -1), torch.ones(len(z), SAMPLES, dtype=torch.bool))
                          for _, z in grouped])
    loss = -(reward * (logp + of_groups)).mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    return sum(len(z) for _, z in grouped) / STEPS


def main(bench, stream, repeats=5):
    try:
        import numpy as np
        import torch
        from stream import array, first, read
    except ImportError as missing:
        print(ours(bench, stream, repeats, *HANDED)[1] + f"nothing to compare with: {sys.executable}: {missing}")
        return
    records = read(stream)
    x, edges = array(first(records, "feat")["x"]), edges_of(first(records, "graph"), array)
    n, d = x.shape
    print(f"one update of the Hierarchical Planner ({STEPS} groupings, {SAMPLES} placements of each), {n} sets, {d} columns, "
          f"one core, best of {repeats}\n")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    net = make(torch, d, edges, n)
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    xt, best, groups = torch.tensor(np.array(x)), {}, {}
    for _ in range(repeats):
        for way, how in (("ours", HANDED), ("again", ())):
            mine, out = ours(bench, stream, 2, *how)
            for name, seconds in mine.items():
                best[way, name] = min(best.get((way, name), 9e9), seconds)
        for name in ("eager", "batched"):
            start = time.perf_counter()
            groups[name] = update(torch, net, optimizer, xt, name == "batched")
            best[name] = min(best.get(name, 9e9), time.perf_counter() - start)
    print(out)
    for way in ("ours", "again"):
        took = {name: 1e3 * best[way, name] for name in ("all", "draw", "learn", "adam")}
        print(f"{way:9s} {took['all']:8.1f} ms (draw {took['draw']:.1f}, learn {took['learn']:.1f}, Adam {took['adam']:.1f})")
    for name in ("eager", "batched"):
        print(f"{name:9s} {1e3 * best[name]:8.1f} ms, {groups[name]:.0f} groups: {best[name] / best['ours', 'all']:.1f} times "
              f"ours, {best[name] / best['again', 'all']:.1f} times again (PyTorch {torch.__version__})")


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:4]))
