#!/usr/bin/env python3
"""giants.py [--model NAME] [--layers N] [--fused] - prompts of 2,048 tokens on clusters of GPUs, simulated: whole operations by HEFT, and
operations in parts by the axes that several systems use and as dagsplit decides, part k on device k.

16 GPUs of 80 GB in two nodes, and 8 of 141 GB in one: 4.95e14 FLOP/s, 3.35e12 bytes/s, 3 us an operation; 400 GB/s each way within a node, 50 GB/s
a GPU between nodes, both as ports. Beside them what formulas say of Megatron's tensor parallelism: what one device takes divided by
their number, and two sums a layer on two levels (ring within a node, then between nodes), with norms on all or by tokens."""
import argparse
import os
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
WAYS = (("columns", "--no-auto --axes columns"), ("columns, heads", "--no-auto --axes columns,heads"),
        ("columns, heads, sums", "--no-auto --axes columns,heads,sum"), ("as decided", ""))


def spec(n, memory):
    lines = ["link * * latency 1e-5 bandwidth 5e10 port ib"]
    for i in range(n):
        lines.append("device gpu:%d flops 9.9e14 efficiency 0.5 bandwidth 3.35e12 overhead 3e-6 memory %g" % (i, memory))
        lines += ["link gpu:%d gpu:%d latency 5e-6 bandwidth 4e11 port nvlink" % (i, j) for j in range(n) if i != j and i // 8 == j // 8]
    return "\n".join(lines) + "\n"


def sh(command):
    r = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    if r.returncode:
        sys.exit("giants.py: error: %s\n%s" % (command, r.stderr[-500:]))
    return r.stdout


def latency(stream):
    s, ok = sh("devsim %s | recdump -k run --tsv lat_s,ok" % stream).split()
    return "%.3f s" % float(s) if ok == "true" else "does not fit"


def megatron(one_s, layers, tokens, hidden, n):
    """(norms on all devices, norms by tokens): two sums of tokens x hidden in f16 a layer."""
    m, k = min(n, 8), (n + 7) // 8
    size = tokens * hidden * 2
    level = 2 * ((m - 1) * 5e-6 + (m - 1) / m * size / 4e11) + 2 * ((k - 1) * 1e-5 + (k - 1) / k * size / (m * 5e10))
    norms = layers * 2 * (6 * 3e-6 + 8 * size / 3.35e12)
    return (one_s - norms) / n + norms + 2 * layers * level, one_s / n + 2 * layers * level


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--model", default="llama405b")
    p.add_argument("--layers", type=int, default=126)
    p.add_argument("--hidden", type=int, default=16384)
    p.add_argument("--fused", action="store_true", help="costs of fused kernels")
    p.add_argument("options", nargs="*", help="for giant_model.py, behind --")
    a = p.parse_args()
    fused = "fuses * all\n" if a.fused else ""
    os.chdir(tempfile.mkdtemp())
    sh("%s %s/giant_model.py %s prefill m.xml --sparse --layers %d %s" % (sys.executable, here, a.model, a.layers, " ".join(a.options)))
    for n, memory in ((16, 8e10), (8, 1.41e11)):
        with open("s", "w") as f:
            f.write(spec(n, memory) + fused)
        with open("any", "w") as f:
            f.write(spec(n, 0) + fused)
        sh("ir2dag m.xml | devsim --probe --spec any -o m.mp")
        one = float(sh("placebase single:gpu:0 m.mp | devsim | recdump -k run --tsv lat_s"))
        print("%d GPUs: one, if it had the memory, %.3f s; Megatron by formula %.3f s, with norms by tokens %.3f s" %
              ((n, one) + megatron(one, a.layers, 2048, a.hidden, n)), flush=True)
        sh("ir2dag m.xml | devsim --probe --spec s | placebase heft -o whole.mp")
        print("  whole operations, HEFT: %s" % latency("whole.mp"), flush=True)
        for name, options in WAYS:
            began = time.time()
            told = sh("ir2dag m.xml | dagsplit -v --spec s %s -o cut.mp 2>&1 || true" % options)
            took = time.time() - began
            sh("devsim --probe --spec s cut.mp | placebase parts -o placed.mp")
            print("  %s: %s, decided in %.1f s: %s" % (name, latency("placed.mp"), took, told.split(": ", 2)[-1].split("; est")[0]), flush=True)


if __name__ == "__main__":
    main()
