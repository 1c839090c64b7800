#!/usr/bin/env python3
"""exec.py - devrun beside OpenVINO, and placements beside single devices, in pairs.

Both sides stay loaded and run short bursts in turn; a pair is two bursts, one after the other,
its ratio the ratio of their median latencies.  The table has the median of the ratios
and their 95 % interval by order statistics (below six pairs: smallest and largest).
Rows, of which --rows selects:
  one      cpu:0 against OpenVINO, f32, one thread
  all      cpu against OpenVINO, f32, as many threads as there are cores
  default  cpu:0 against OpenVINO at its default precision where that is not f32, one thread
  bf16     cpu:0/precision=bf16 against the same, and against our own f32
  bf16-all cpu/precision=bf16 against OpenVINO's default precision on all cores
  int8     cpu:0/precision=int8 against OpenVINO, which computes FakeQuantize models in int8, and quantises
           what meets weights in few bits; also with as many threads as there are cores.  Only where the
           model has a FakeQuantize or such weights
  cl       cl:0.0 against cpu, the same cores where it is PoCL
  heft     HEFT on two cores against the faster of them.  Below it how far that is from the bound:
           no schedule of the sets on two devices is shorter than the longest path (its sets run one
           after another) nor than half of the sum of all sets.  Times of sets are those of devrun
           --profile, where the other core runs other sets meanwhile: the mean over the two
           cores (of unlike devices the faster one's), less all that they could save with
           neighbours; the lower bound of one profile before the pairs and one after them.
           Also what HEFT itself expects.
  refine   the same with placebase refine, 10000 evaluations
  heft-ov  the same placement against OpenVINO, f32, two threads
  heft-cl  HEFT on a core and an OpenCL device against the faster of them
  ov-cores a placement on ov:CPU:0,ov:CPU:1, which is the fastest of HEFT's, the
           portfolio's (2 s) and either core alone in bursts before, against OpenVINO with two threads;
           in f32 and, where the processor has it, in bf16.  Below it the same against one thread

Usage: exec.py [options] MODEL.xml...
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tiles

tiles.hide_when_broken()
import msgpack
import numpy as np
import openvino as ov

import stream

ROWS = ("one", "all", "default", "bf16", "bf16-all", "int8", "cl", "heft", "refine", "heft-ov", "heft-cl", "ov-cores")


def records(data):
    unpacker = msgpack.Unpacker(max_buffer_size=2**30)
    unpacker.feed(data)
    return list(unpacker)


def pipe(command, data=b""):
    p = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode != 0:
        raise RuntimeError(p.stderr.decode(errors="replace").strip()[-300:])
    return p.stdout


class Ours:
    """A devrun that stays, and measures a placement when told to: one episode a burst."""

    def __init__(self, args, graph, devices, device=None, shared=False, inputs=None):
        command = [args.bin + "/devrun", "-D", devices, "--no-reference", "--ci", "0", "--min-runs", "2",
                   "--max-runs", "100000", "--max-seconds", str(args.burst)]
        command += ["--inputs", inputs] if inputs else []
        self.process = subprocess.Popen(command + ["--allow-shared"] * shared, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.answers = msgpack.Unpacker(max_buffer_size=2**30)
        names = devices.split(",")
        head = stream.first(graph, "graph")
        if device is None:
            device = np.zeros(head["n_sets"], np.uint16)
        self.place = ["place", {"graph": head["digest"], "episode": 0, "step": 0, "sample": 0,
                                "source": "bench", "devices": names, "device": stream.tensor(device)}]
        for r in graph:
            if r[0] in ("hdr", "graph"):
                self.send(r)
        self.episode = 0
        self.burst()

    def send(self, record):
        self.process.stdin.write(msgpack.packb(record))
        self.process.stdin.flush()

    def next(self):
        while True:
            for r in self.answers:
                return r
            data = self.process.stdout.read1(1 << 20)
            if not data:
                raise RuntimeError("devrun has ended")
            self.answers.feed(data)

    def burst(self):
        """Median latency in seconds."""
        self.start()
        return self.wait()

    def start(self):
        self.send(["episode", {"episode": self.episode, "steps": 1}])
        self.send(self.place)
        self.send(["episode_end", {"episode": self.episode}])
        self.episode += 1

    def wait(self):
        run = None
        while True:
            kind, m = self.next()
            run = m if kind == "run" else run
            if kind == "episode_end":
                break
        if not run["ok"]:
            raise RuntimeError(run["reason"])
        return run["lat_s"]

    def close(self):
        self.process.kill()
        self.process.wait()


class Theirs:
    """A model compiled by OpenVINO's CPU plugin."""

    def __init__(self, args, xml, inputs, threads, precision):
        core = ov.Core()
        options = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "ENABLE_CPU_PINNING": False}
        if precision:
            options["INFERENCE_PRECISION_HINT"] = precision
        self.seconds = args.burst
        compiled = core.compile_model(xml, "CPU", options)
        self.precision = compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name()
        self.request = compiled.create_infer_request()
        for port in compiled.inputs:
            self.request.set_tensor(port, ov.Tensor(inputs[port.get_node().get_friendly_name()]))
        self.request.infer()

    def burst(self):
        times, end = [], time.perf_counter() + self.seconds
        while len(times) < 2 or time.perf_counter() < end:
            start = time.perf_counter()
            self.request.infer()
            times.append(time.perf_counter() - start)
        return statistics.median(times)

    def close(self):
        self.request = None


# ---- pairs ----

def interval(x):
    """Order statistics around the median with at least 95 % between them, when there are enough."""
    x, n = sorted(x), len(x)
    low, p = 0, 2.0 ** -n
    tail = p
    while low + 1 < n // 2:
        p *= (n - low) / (low + 1)
        if 2 * (tail + p) > 0.05:
            break
        tail, low = tail + p, low + 1
    return x[low], x[n - 1 - low]


def pairs(a, b, n):
    """(seconds of a, seconds of b, ratios a/b)"""
    ratios, sa, sb = [], [], []
    for i in range(n):
        first, second = (a, b) if i % 2 == 0 else (b, a)
        x, y = first.burst(), second.burst()
        x, y = (x, y) if i % 2 == 0 else (y, x)
        sa.append(x)
        sb.append(y)
        ratios.append(x / y)
    return statistics.median(sa), statistics.median(sb), ratios


FORMAT = "%-20s %-46s %9s %9s %7s  %s"


def report(model, what, a, b, n, note=""):
    """One row; the median ratio."""
    sa, sb, ratios = pairs(a, b, n)
    low, high = interval(ratios)
    middle = statistics.median(ratios)
    print(FORMAT % (model, what, "%.3f" % (1e3 * sa), "%.3f" % (1e3 * sb), "%.3f" % middle,
                    "%.3f .. %.3f%s" % (low, high, note)), flush=True)
    return middle, sa, sb


# ---- a model ----

class Bench:
    def __init__(self, args, xml):
        self.args, self.xml = args, xml
        self.name = os.path.splitext(os.path.basename(xml))[0]
        self.data = pipe([args.bin + "/ir2dag", xml])
        self.graph = records(self.data)
        self.cores = len(os.sched_getaffinity(0))
        with tempfile.TemporaryDirectory() as tmp:
            pipe([args.bin + "/devrun", "-D", "cpu:0", "--save-inputs", tmp, "-o", os.devnull], self.data)
            with open(tmp + "/index.tsv", encoding="utf-8") as f:
                lines = [line.split("\t") for line in f]
            self.inputs = {fields[1]: np.load(tmp + "/" + fields[0]) for fields in lines}
        self.open = {}
        self.placed = {}

    def ours(self, devices, device=None):
        key = devices, None if device is None else device.tobytes()
        if key not in self.open:
            self.open[key] = Ours(self.args, self.graph, devices, device)
        return self.open[key]

    def theirs(self, threads, precision="f32"):
        key = threads, precision
        if key not in self.open:
            self.open[key] = Theirs(self.args, self.xml, self.inputs, threads, precision)
        return self.open[key]

    def close(self):
        for x in self.open.values():
            x.close()

    # ---- HEFT ----

    def profile(self, devices):
        """The stream with the measured costs."""
        return pipe([self.args.bin + "/devrun", "--probe", "--profile", "-D", devices], self.data)

    def placement(self, devices, method="heft"):
        """(device of each set on profiled times, seconds that the method expects, the profile)"""
        if (devices, method) not in self.placed:
            found = self.profile(devices)
            with tempfile.NamedTemporaryFile() as f:
                f.write(found)
                f.flush()
                p = subprocess.run([self.args.bin + "/placebase", "-v", "--evals", "10000", method, f.name],
                                   capture_output=True)
            if p.returncode != 0:
                raise RuntimeError(p.stderr.decode(errors="replace").strip()[-300:])
            expects = float(re.search(r"(?:takes|refine:) (\S+) s", p.stderr.decode()).group(1))
            place = stream.first(records(p.stdout), "place")
            self.placed[devices, method] = stream.array(place["device"]), expects, found
        return self.placed[devices, method]

    def bound_s(self, found):
        """(longest path, half of all) No schedule of the sets on two devices is shorter than either.
        Cores are alike, and the less of two measurements would be the more lucky one."""
        record = stream.first(records(found), "cost")
        set_s = stream.array(record["set_s"]).copy()
        set_s[set_s < 0] = np.inf
        np.subtract.at(set_s, stream.array(record["pair_dst"]).astype(int), stream.array(record["saved_s"]))
        cost = np.maximum(set_s, 0)
        cost = cost.mean(1) if all(n.startswith("cpu:") for n in record["names"]) else cost.min(1)
        g = stream.first(self.graph, "graph")
        sets, ptr, source = (stream.array(g[k]) for k in ("set", "in_ptr", "in_node"))
        none = 2**32 - 1
        end = np.zeros(len(cost))
        arrive = np.zeros(len(cost))
        for v in range(len(sets)):
            s = int(sets[v])
            if s == none:
                continue
            for u in source[ptr[v]:ptr[v + 1]]:
                if u != none and sets[u] != none and sets[u] != s:
                    arrive[s] = max(arrive[s], end[sets[u]])
            end[s] = arrive[s] + cost[s]
        return end.max(), cost.sum() / 2

    # ---- rows ----

    def run_one(self):
        report(self.name, "cpu:0 / OpenVINO f32, 1 thread", self.ours("cpu:0"), self.theirs(1), self.args.pairs)

    def run_all(self):
        if self.cores > 1:
            report(self.name, "cpu / OpenVINO f32, %d threads" % self.cores, self.ours("cpu"),
                   self.theirs(self.cores), self.args.pairs)

    def run_default(self):
        other = self.theirs(1, None)
        if other.precision not in ("f32", "dynamic"):
            report(self.name, "cpu:0 / OpenVINO's default (%s), 1 thread" % other.precision,
                   self.ours("cpu:0"), other, self.args.pairs)

    def run_bf16(self):
        other = self.theirs(1, None)
        if other.precision not in ("f32", "dynamic"):
            report(self.name, "cpu:0/precision=bf16 / OpenVINO's default (%s)" % other.precision,
                   self.ours("cpu:0/precision=bf16"), other, self.args.pairs)
        report(self.name, "cpu:0/precision=bf16 / cpu:0", self.ours("cpu:0/precision=bf16"), self.ours("cpu:0"),
               self.args.pairs)

    def run_bf16_all(self):
        other = self.theirs(self.cores, None)
        if self.cores > 1 and other.precision not in ("f32", "dynamic"):
            report(self.name, "cpu/precision=bf16 / OpenVINO's default (%s), %d threads" % (other.precision, self.cores),
                   self.ours("cpu/precision=bf16"), other, self.args.pairs)

    def run_int8(self):
        with open(self.xml, encoding="utf-8") as f:
            if not re.search(r'type="FakeQuantize"|element_type="[iu][48]"', f.read()):
                return
        for devices, threads in [("cpu:0", 1)] + [("cpu", self.cores)] * (self.cores > 1):
            report(self.name, "%s/precision=int8 / OpenVINO, %d thread%s" % (devices, threads, "s" * (threads > 1)),
                   self.ours(devices + "/precision=int8"), self.theirs(threads), self.args.pairs)

    def run_cl(self):
        if any(line.startswith(b"cl:0.0 ") for line in pipe([self.args.bin + "/devrun", "--list"]).splitlines()):
            report(self.name, "cl:0.0 / cpu", self.ours("cl:0.0"), self.ours("cpu"), self.args.pairs)

    def overlap(self, devices, method="heft"):
        names, title = devices.split(","), {"heft": "HEFT"}.get(method, method)
        device, expects, before = self.placement(devices, method)
        alone = [self.ours(n) for n in names]
        best = min(alone, key=lambda x: min(x.burst(), x.burst()))
        several = self.ours(devices, device)
        ratio, latency, single = report(self.name, "%s on %s / best of them" % (title, devices), several, best,
                                        self.args.pairs)
        path, half = min(self.bound_s(before), self.bound_s(self.profile(devices)), key=max)
        bound = max(path, half)
        print(FORMAT % ("", "  speed-up %.2f of at most %.2f: %.0f %%"
                        % (1 / ratio, single / bound, 100 * bound / latency), "", "", "",
                        "longest path %.2f ms, half of all %.2f ms" % (1e3 * path, 1e3 * half)), flush=True)
        print(FORMAT % ("", "  %s expects %.2f: %.0f %%" % (title, single / expects, 100 * expects / latency),
                        "%.3f" % (1e3 * expects), "", "", ""), flush=True)

    def run_heft(self):
        if self.cores > 1:
            self.overlap("cpu:0,cpu:1")

    def run_refine(self):
        if self.cores > 1:
            self.overlap("cpu:0,cpu:1", "refine")

    def run_heft_ov(self):
        if self.cores > 1:
            device = self.placement("cpu:0,cpu:1")[0]
            report(self.name, "HEFT on cpu:0,cpu:1 / OpenVINO f32, 2 threads",
                   self.ours("cpu:0,cpu:1", device), self.theirs(2), self.args.pairs)

    def run_heft_cl(self):
        names = pipe([self.args.bin + "/devrun", "--list"]).decode()
        if self.cores > 1 and "\ncl:0.0 " in names:
            self.overlap("cpu:0,cl:0.0:1" if "PoCL" in names else "cpu:0,cl:0.0")

    def run_ov_cores(self):
        for precision in ("f32", "bf16") if self.cores > 1 else ():
            try:
                two, one = self.theirs(2, precision), self.theirs(1, precision)
            except RuntimeError:
                continue
            if two.precision != precision:
                continue
            devices = ",".join("ov:CPU:%d/precision=%s" % (i, precision) for i in range(2))
            found = self.fastest(devices, ("single", "heft", "portfolio"))
            what = "%s on two OpenVINO cores, %s" % (found[0], precision)
            report(self.name, what + " / 2 threads", found[1], two, self.args.pairs)
            report("", what + " / 1 thread", found[1], one, self.args.pairs)

    def fastest(self, devices, methods):
        """(method, its placement) that is the fastest in bursts, on the costs of one profile"""
        profile, best = self.profile(devices), None
        for method in methods:
            with tempfile.NamedTemporaryFile() as f:
                f.write(profile)
                f.flush()
                placed = records(pipe([self.args.bin + "/placebase", "--budget", "2", method, f.name]))
            ours = self.ours(devices, stream.array(stream.first(placed, "place")["device"]))
            seconds = min(ours.burst(), ours.burst())
            if not best or seconds < best[2]:
                best = method, ours, seconds
        return best


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--bin", default="build/bin")
    ap.add_argument("--pairs", type=int, default=8)
    ap.add_argument("--burst", type=float, default=0.4, help="seconds")
    ap.add_argument("--rows", default=",".join(ROWS))
    ap.add_argument("model", nargs="+")
    args = ap.parse_args()
    print(FORMAT % ("model", "first / second", "first ms", "second ms", "ratio", "95 % interval"), flush=True)
    bad = 0
    for xml in args.model:
        bench = None
        try:
            bench = Bench(args, xml)
            for row in args.rows.split(","):
                getattr(bench, "run_" + row.replace("-", "_"))()
        except RuntimeError as e:
            print(FORMAT % (os.path.basename(xml), "failed", "-", "-", "-", e), flush=True)
            bad += 1
        if bench:
            bench.close()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
