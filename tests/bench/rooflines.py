#!/usr/bin/env python3
"""rooflines.py MODELS - costs from a specification beside rooflines that are worked out by hand.

One device of 9.89e14 FLOP/s (0.6 of it reached), 3.35e12 bytes/s and 3 us a kernel, whose memory has no limit, runs language models whose structure giant_model.py
writes; `paper`'s GPU runs networks of MODELS (tests/models). By hand: FLOPs of products or bytes of weights and caches, what a phase is bound by, and as many
launches as a fused runtime needs. Printed: seconds by hand, by `--spec`, by `--spec ...,fused`, and their ratios. Status 1 when a fused one is more than 15 % off."""
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
FLOPS, BYTES, LAUNCH = 9.89e14 * .6, 3.35e12, 3e-6
SPEC = "device g flops 9.89e14 efficiency 0.6 bandwidth 3.35e12 overhead 3e-6\n"


def llm(layers, hidden, weights, embedding, heads_kv, dim, kernels, width=2):
    """Seconds of a decode of `rows` sequences of `past` tokens, or of a prompt; weights and embedding: numbers of parameters."""
    def decode(rows, past):
        cache = layers * 2 * heads_kv * dim * 2 * past * rows
        return ((weights - embedding) * width + cache) / BYTES + layers * kernels * LAUNCH

    def prefill(tokens):
        products = 2 * (weights - 2 * embedding) * tokens + layers * 4 * hidden * tokens ** 2
        return products / FLOPS + layers * kernels * LAUNCH
    return decode, prefill


def deepseek(layers, dense, rows, past):
    """Keys and values are made of the latents of all tokens for each new one, as the graph says: written, copied behind the rope's part, read."""
    n, d, rope, latent, experts = 128, 128, 64, 512, 256
    kv = rows * past * n * 2 * d
    make = max(2 * kv * latent / FLOPS, kv * 2 / BYTES)
    copy = (kv * 2 + rows * past * n * (d + rope + d) * 2) / BYTES
    attend = rows * past * n * (d + rope + d) * 2 / BYTES
    weights = 61.1e9 - 129280 * 7168
    return weights / BYTES + layers * (make + copy + attend + 20 * LAUNCH) + (layers - dense) * experts * 4 * LAUNCH


def seconds(model, spec, device=""):
    r = subprocess.run(["bash", "-o", "pipefail", "-c", "ir2dag %s | devsim --probe --spec %s %s | placebase single | devsim | recdump -k run --tsv lat_s"
                        % (model, spec, device)], capture_output=True, text=True)
    if r.returncode:
        sys.exit("rooflines.py: error: %s" % r.stderr[-500:])
    return float(r.stdout.split()[0])


def main():
    models = os.path.abspath(sys.argv[1])
    os.chdir(tempfile.mkdtemp())
    with open("one.spec", "w") as f:
        f.write(SPEC)
    d405, p405 = llm(126, 16384, 405.9e9, 128256 * 16384, 8, 128, 13)
    d70, p70 = llm(80, 8192, 70.55e9, 128256 * 8192, 8, 128, 13)
    d70f8, _ = llm(80, 8192, 70.55e9, 128256 * 8192, 8, 128, 13, width=1)
    dgpt, pgpt = llm(96, 12288, 175.2e9, 50257 * 12288, 96, 128, 11)
    rows = []
    for name, hand, options in (
            ("Llama-405B, decode, 32 x 4,096", d405(32, 4096), "llama405b decode --batch 32 --past 4096"),
            ("Llama-405B, prompt of 2,048", p405(2048), "llama405b prefill --tokens 2048"),
            ("Llama-70B, decode, 16 x 8,192", d70(16, 8192), "llama70b decode --batch 16 --past 8192"),
            ("Llama-70B, decode, 1 x 1,024, weights in f8", d70f8(1, 1024), "llama70b decode --batch 1 --past 1024 --welem f8e4m3"),
            ("Llama-70B, prompt of 2,048", p70(2048), "llama70b prefill --tokens 2048"),
            ("GPT-3, decode, 8 x 2,048", dgpt(8, 2048), "gpt3 decode --batch 8 --past 2048"),
            ("GPT-3, prompt of 2,048", pgpt(2048), "gpt3 prefill --tokens 2048"),
            ("DeepSeek-V3, 8 layers, decode, 64 x 4,096, weights in f8", deepseek(8, 3, 64, 4096),
             "deepseek decode --welem f8e4m3 --layers 8 --batch 64 --past 4096")):
        kind, phase, *more = options.split()
        subprocess.run([sys.executable, here + "/giant_model.py", kind, phase, "m.xml"] + more, check=True, capture_output=True)
        rows.append((name, hand, seconds("m.xml", "one.spec"), seconds("m.xml", "one.spec,fused")))
    # paper's GPU: 8e12 FLOP/s, 5.7e11 bytes/s, 8 us a kernel. Networks by their multiply-adds and weights.
    for name, hand in (("resnet50", 2 * 4.09e9 / 8e12 + 56 * 8e-6), ("vit_b_16", 2 * 17.56e9 / 8e12 + (12 * 11 + 5) * 8e-6)):
        path = os.path.join(models, name + ".xml")
        rows.append((name + ", paper's GPU", hand, seconds(path, "paper", "-D gpu"), seconds(path, "paper,fused", "-D gpu")))
    print("| | by hand, s | --spec | ratio | fused | ratio |\n|---|---:|---:|---:|---:|---:|")
    for name, hand, plain, fused in rows:
        print("| %s | %.4g | %.4g | %.2f | %.4g | %.2f |" % (name, hand, plain, plain / hand, fused, fused / hand))
    sys.exit(any(not .85 <= r[3] / r[1] <= 1.15 for r in rows))


main()
