"""runtimes.py - where other runtimes put a model's operations beside the portfolio's answer, simulated, where accelerators have a part
of the memory that the model needs.

    python tests/bench/runtimes.py [--memory PERCENT] [--budget SECONDS] MODEL > ROWS.tsv
    python tests/bench/runtimes.py --table ROWS.tsv... > TABLE.md
    python tests/bench/runtimes.py --list
Models of tests/models on the machine of the paper, whose GPU has so many percent of what the model needs on one device; language
models of hundreds of billions of weights (giant_model.py) on eight GPUs that have so many together. Needs ir2dag, placebase and devsim
in PATH."""
import argparse
import math
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "support"))

SMALL = ["alexnet", "bert_base", "googlenet", "inception_ssd", "inception_v3", "inception_v3_tf", "mobilenet_v2_tf", "mobilenet_v3_large", "nmt2",
         "nmt4", "resnet50", "resnet50_tf", "rnnlm", "vit_b_16", "tiny_bert", "tiny_gpt2", "tiny_llama"]
GIANT = {"llama70b-prefill": "llama70b prefill", "llama70b-decode": "llama70b decode --batch 32 --past 4096",
         "gpt3-decode": "gpt3 decode --batch 32 --past 1024"}
RULES = ["ort-budget", "hetero-priority", "llama-fit", "accelerate-balanced", "dmda"]
PAPER = ("device cpu flops 1.7e12 efficiency 0.5 bandwidth 7.7e10 overhead 3e-6\n"
         "device gpu flops 1.6e13 efficiency 0.5 bandwidth 5.7e11 overhead 8e-6 memory %.0f\n"
         "link * * latency 10e-6 bandwidth 2.5e10\n")
NODE = ("device cpu flops 4e12 efficiency 0.5 bandwidth 3e11 overhead 5e-6\n"
        "device gpu*8 flops 9.89e14 efficiency 0.6 bandwidth 3.35e12 overhead 5e-6 memory %.0f\n"
        "link * * latency 1e-5 bandwidth 5e10\n"
        "group gpus gpu\nwithin gpus latency 3e-6 bandwidth 4.5e11 port nvlink\n")


def sh(command):
    r = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    if r.returncode:
        sys.exit("runtimes.py: error: %s\n%s" % (command, r.stderr[-500:]))
    return r.stdout


def seconds(stream):
    """By source: seconds of the legal ones."""
    from stream import read
    m = [m for k, m in read(stream) if k == "place"]
    return {p["source"].split(":")[0]: p["predicted_s"] for p in m if "predicted_s" in p}


def measure(o):
    from stream import read
    name = o.names[0]
    with tempfile.TemporaryDirectory() as d:
        os.chdir(d)
        if name in GIANT:
            sh(f"{sys.executable} {here}/giant_model.py {' '.join(GIANT[name].split()[:2])} m.xml "
               + " ".join(GIANT[name].split()[2:]))
        else:
            path = os.path.join(here, "..", "models", name + ".xml")
            path = path if os.path.exists(path) else os.path.join(here, "..", "models", "open", name + ".xml")
            os.symlink(path, "m.xml")
        spec, n = (NODE, 8) if name in GIANT else (PAPER, 1)
        sh("ir2dag m.xml > g.mp")
        open("all.spec", "w").write(spec % 0)
        sh("devsim --probe --spec all.spec g.mp | placebase single:cpu | devsim -o one.mp")
        need = max(array_of([m for k, m in read("one.mp") if k == "run"][0]["mem_bytes"]))
        open("some.spec", "w").write(spec % (need * o.memory / 100 / n))
        sh("devsim --probe --spec some.spec g.mp > p.mp")
        sh(f"placebase --no-hints {','.join(RULES)} p.mp -o rules.mp")
        sh(f"placebase --no-hints portfolio --budget {o.budget} p.mp -o best.mp")
        rule, best = seconds("rules.mp"), seconds("best.mp")
    print("model", "need", "portfolio", *RULES, sep="\t")
    print(name, need, best["portfolio"], *(rule.get(r, math.inf) for r in RULES), sep="\t")


def array_of(x):
    from stream import array
    return array(x) if isinstance(x, dict) or hasattr(x, "data") else x


def mean(x):
    return math.exp(sum(map(math.log, x)) / len(x)) if x else math.nan


def table(files):
    rows = []
    for f in files:
        head, row = (line.rstrip("\n").split("\t") for line in open(f))
        rows.append(dict(zip(head, row)))
    print("| model | needs | portfolio |", *(f" {r} |" for r in RULES), sep="")
    print("|---|---|---|" + "---|" * len(RULES))
    ratios = {r: [float(row[r]) / float(row["portfolio"]) for row in rows] for r in RULES}
    for i, row in enumerate(rows):
        cells = [f"{ratios[r][i]:.2f}" if math.isfinite(ratios[r][i]) else "-" for r in RULES]
        print("|", " | ".join([row["model"], f"{float(row['need']) / 1e6:,.1f} MB", f"{1e3 * float(row['portfolio']):.3f} ms", *cells]), "|")
    legal = {r: [x for x in ratios[r] if math.isfinite(x)] for r in RULES}
    print("|", " | ".join(["geometric mean", "", "", *(f"{mean(legal[r]):.2f}" for r in RULES)]), "|")
    print("|", " | ".join(["portfolio slower", "", "", *(str(sum(x < 1 - 1e-9 for x in legal[r])) for r in RULES)]), "|")
    print("|", " | ".join(["not legal", "", "", *(str(len(rows) - len(legal[r])) for r in RULES)]), "|")
    best = [min(ratios[r][i] for r in RULES) for i in range(len(rows))]
    print(f"\nBest of the rules beside the portfolio: geometric mean {mean(best):.2f}, least {min(best):.2f}.")


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--memory", type=float, default=60)
    a.add_argument("--budget", type=float, default=10)
    a.add_argument("--table", action="store_true")
    a.add_argument("--list", action="store_true")
    a.add_argument("names", nargs="*")
    o = a.parse_args()
    if o.list:
        print(*SMALL, *GIANT)
    elif o.table:
        table(o.names)
    else:
        measure(o)


main()
