"""refheft.py - HEFT as section 4.1 of Topcuoglu, Hariri and Wu (2002) has it, written again, beside placebase heft.

    python tests/refheft.py SIZE DEVICES...      all families of families.py; needs json2dag, placebase in PATH
Links carry any number of copies; costs of copies are means over different devices."""
import json, subprocess, sys, tempfile

import families, refsim


def heft(p):
    """The makespan of a refsim.Problem without memory and missing links."""
    k, n = len(p.devices), len(p.names)
    rank, ins = [0.0] * n, [[] for _ in range(n)]
    for v in sorted(range(n), key=lambda v: -p.topo[v]):
        for size, ws in p.tensors[v]:
            copies = [p.copy_s(a, b, size) for a in range(k) for b in range(k) if a != b]
            for w in ws:
                rank[v] = max(rank[v], sum(copies) / max(1, len(copies)) + rank[w])
                ins[w].append((v, size))
        rank[v] += sum(p.cost[v].values()) / len(p.cost[v])
    busy, on, end = [[] for _ in range(k)], [0] * n, [0.0] * n
    for v in sorted(range(n), key=lambda v: (-rank[v], p.topo[v])):
        ends = []
        for d, cost in sorted(p.cost[v].items()):
            start = max([end[u] + (p.copy_s(on[u], d, size) if on[u] != d else 0) for u, size in ins[v]], default=0.0)
            for a, b in busy[d]:
                if start + cost <= a:
                    break
                start = max(start, b)
            ends.append((start + cost, d, start))
        end[v], on[v], start = min(ends)
        busy[on[v]] = sorted(busy[on[v]] + [(start, end[v])])
    return max(end)


def main():
    size, wrong = int(sys.argv[1]), 0
    with tempfile.TemporaryDirectory() as tmp:
        for name in families.FAMILIES:
            for k in map(int, sys.argv[2:]):
                doc = families.make(name, size, k, k)
                with open(f"{tmp}/p.json", "w") as f:
                    json.dump(doc, f)
                r = subprocess.run(f"json2dag {tmp}/p.json | placebase -v heft -o {tmp}/p.mp", shell=True,
                                   capture_output=True, text=True, check=True)
                ours, theirs = float(r.stderr.split("schedule takes ")[1].split()[0]), heft(refsim.Problem(doc))
                if abs(ours - theirs) > 1e-5 * theirs:
                    print(f"{doc['name']}: {ours}, not {theirs}")
                    wrong += 1
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
