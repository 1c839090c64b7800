#!/usr/bin/env python3
"""rates.py - requests a second, devrun beside OpenVINO's benchmark_app with the hint of throughput, on all cores.

devrun's side is what place --objective throughput compares: the model on `cpu` with requests in flight, and replicas of it, one on each
core; the one with the higher rate in a short run is measured.  Both run for some seconds in turns; a ratio is devrun's rate in a round
over benchmark_app's (f32, its own number of streams and requests), above 1 where devrun serves more.

Usage: rates.py [options] MODEL.xml...
"""
import argparse
import os
import re
import statistics
import subprocess
import sys

import exec as bench
import msgpack


def ours(args, path, candidate, seconds):
    """Requests a second of a stream of one placement; 0: it cannot run."""
    done = subprocess.run([args.bin + "/devrun", "run", "--requests", str(args.requests), "--no-reference", "-n", "3", "--max-seconds", str(seconds),
                           path + "." + candidate], stdout=subprocess.PIPE, check=True)
    runs = [m for kind, m in msgpack.Unpacker(iter_of(done.stdout), raw=False, strict_map_key=False) if kind == "run"]
    return 1 / runs[-1]["lat_s"] if runs and runs[-1].get("ok") else 0


def iter_of(data):
    import io
    return io.BytesIO(data)


def theirs(args, model, seconds):
    """Requests a second of benchmark_app."""
    out = subprocess.run([os.path.join(os.path.dirname(sys.executable), "benchmark_app"), "-m", model, "-d", "CPU", "-hint", "throughput",
                          "-infer_precision", "f32", "-t", str(max(1, round(seconds)))], capture_output=True, text=True)
    found = re.search(r"Throughput: +([0-9.]+) FPS", out.stdout)
    if not found:
        raise RuntimeError("benchmark_app: " + (out.stdout + out.stderr).strip().splitlines()[-1])
    return float(found.group(1))


def shell(args, text):
    subprocess.run(["bash", "-o", "pipefail", "-c", text], check=True, env=dict(os.environ, PATH=os.path.abspath(args.bin) + ":" + os.environ["PATH"]))


def measure(args, model):
    """(chosen, [ours], [theirs])"""
    path = os.path.join(args.dir, os.path.basename(model))
    cores = ",".join("cpu:%d" % i for i in range(os.cpu_count()))
    shell(args, "ir2dag '%s' > '%s.graph'" % (model, path))
    shell(args, "placebase single -D cpu '%s.graph' > '%s.cpu'" % (path, path))
    shell(args, "devrun probe --profile --max-seconds 0.2 -D %s '%s.graph' | placebase replicas > '%s.replicas'" % (cores, path, path))
    rates = {c: ours(args, path, c, args.seconds / 4) for c in ("cpu", "replicas")}
    chosen = max(rates, key=rates.get)
    a, b = [], []
    for _ in range(args.pairs):
        a.append(ours(args, path, chosen, args.seconds))
        b.append(theirs(args, model, args.seconds))
    return chosen, a, b


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--bin", default="build/bin")
    ap.add_argument("--dir", default="build/bench-rates")
    ap.add_argument("--pairs", type=int, default=5, help="rounds")
    ap.add_argument("--seconds", type=float, default=2, help="of a run of each")
    ap.add_argument("--requests", type=int, default=2 * os.cpu_count(), help="in flight, of devrun")
    ap.add_argument("model", nargs="+")
    args = ap.parse_args()
    os.makedirs(args.dir, exist_ok=True)
    ratios, bad = [], 0
    print("| model | devrun, a second | as | benchmark_app | ratio | interval |\n|---|---|---|---|---|---|", flush=True)
    for model in args.model:
        name = os.path.splitext(os.path.basename(model))[0]
        try:
            chosen, a, b = measure(args, model)
        except (RuntimeError, subprocess.CalledProcessError) as e:
            print("rates.py: error: %s: %s" % (name, e), file=sys.stderr)
            bad = 1
            continue
        each = [x / y for x, y in zip(a, b)]
        low, high = bench.interval(each)
        ratios.append(statistics.median(each))
        print("| %s | %.4g | %s | %.4g | **%.2f** | %.2f .. %.2f |" % (name, statistics.median(a), chosen, statistics.median(b), ratios[-1], low, high),
              flush=True)
    if ratios:
        print("\n%d models: median %.2f, %d at 1.00 or above, least %.2f"
              % (len(ratios), statistics.median(ratios), sum(r >= 1 for r in ratios), min(ratios)))
    return bad


if __name__ == "__main__":
    sys.exit(main())
