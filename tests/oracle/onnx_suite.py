#!/usr/bin/env python3
"""The backend cases of the onnx package (node, simple, pytorch), converted by OpenVINO, through devrun on one core and split over two.

    onnx_suite.py [-k TEXT] [--jobs N] [--seconds S] [--bin DIR] WORK

Outputs are compared with those of the suite and with OpenVINO's. Each case is a process of its own and leaves WORK/NAME/verdict.json; a case that
has one is not run again. Prints each case that is not right, and a summary by cause. Exit status 1 where a result is wrong or a program crashed,
3 where --seconds ended it.

right             the suite's outputs
undefined         neither, of shifts that the converted model cannot do
as OpenVINO       OpenVINO's outputs, which are not the suite's: what the conversion makes of the model
refused           a program says why it cannot
not converted     OpenVINO does not read the model, or has no tensors for its inputs
wrong, crash      ours
"""
import argparse
import collections
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np

RANDOM = re.compile(r"bernoulli|randomnormal|randomuniform|multinomial|dropout.*training|training_dropout")
# A BitShift becomes Power and Multiply or Divide: what is known to come out otherwise, here and in OpenVINO (limits.md).
UNDEFINED = {"test_bitshift_right_int32_negative_shift": "a shift by a negative number",
             "test_bitshift_right_int8_negative_shift": "a shift by a negative number",
             "test_bitshift_left_int8_shift_ge_width": "a shift of a byte by more than it is wide"}
LIMIT_S = 120


def collect():
    """{name: (model as bytes or a file, input arrays, output arrays, rtol, atol)}"""
    import onnx
    from onnx import numpy_helper
    from onnx.backend.test.case import node
    from onnx.backend.test.loader import load_model_tests

    def arrays(values):
        return [numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else v for v in values]

    def stored(case):
        first = os.path.join(case.model_dir, "test_data_set_0")
        found = []
        for what in ("input", "output"):
            files = [f"{first}/{what}_{i}.pb" for i in range(sum(f.startswith(what + "_") for f in os.listdir(first)))]
            found.append([numpy_helper.to_array(onnx.load_tensor(f)) for f in files])
        return found

    cases = {}
    for case in node.collect_testcases(None):
        data = case.data_sets[0]
        cases[case.name] = case.model.SerializeToString(), arrays(data[0]), arrays(data[1]), case.rtol, case.atol
    for kind in ("simple", "pytorch-operator", "pytorch-converted"):
        for case in load_model_tests(kind=kind):
            try:
                cases[f"{kind}.{case.name}"] = (os.path.join(case.model_dir, "model.onnx"), *stored(case), case.rtol, case.atol)
            except Exception:                   # sequences: no tensors
                cases[f"{kind}.{case.name}"] = None, ["a sequence"], [], 0, 0
    return cases


# ---- one case, in a process of its own ----

class Verdict(Exception):
    pass


def shell(command, env):
    p = subprocess.run(["bash", "-o", "pipefail", "-c", command], env=env, capture_output=True, text=True, timeout=LIMIT_S)
    text = (p.stderr.strip().splitlines() or [""])[-1]
    if p.returncode in (134, 135, 136, 139) or p.returncode < 0 or "AddressSanitizer" in p.stderr:
        raise Verdict("crash", f"status {p.returncode}: {text}")
    if p.returncode:
        raise Verdict("refused", re.sub(r"^\w+: error: ", "", text))


def devrun(folder, devices, method, env):
    out = os.path.join(folder, "out")
    shutil.rmtree(out, ignore_errors=True)
    shell(f"cd '{folder}' && ir2dag model.xml | devrun probe -D {devices} | placebase {method} | "
          "devrun run --no-reference -n 1 --warmup 0 -i in --outputs out -o run.mp", env)
    n = len(open(os.path.join(out, "index.tsv"), encoding="utf-8").read().splitlines()) if os.path.isdir(out) else 0
    if n == 0:
        said = subprocess.run(["recdump", "-k", "run", "--tsv", "reason", os.path.join(folder, "run.mp")], env=env, capture_output=True, text=True)
        raise Verdict("refused", said.stdout.strip())
    return [np.load(f"{out}/{i}.npy") for i in range(n)]


def equal(have, want, rtol, atol):
    if len(have) != len(want):
        return f"{len(have)} outputs instead of {len(want)}"
    for i, (a, b) in enumerate(zip(have, want)):
        b = np.asarray(b)
        if a.shape != b.shape:
            return f"output {i} has shape {a.shape} instead of {b.shape}"
        rtol = max(rtol, {"bfloat16": 2.0**-6, "float16": 2.0**-9}.get(b.dtype.name, 1e-3))      # some roundings
        a, b = a.astype(np.float64), b.astype(np.float64)
        scale = np.abs(b[np.isfinite(b)]).max(initial=0)
        bad = ~np.isclose(a, b, rtol=rtol, atol=max(atol, 1e-6, 1e-6 * scale), equal_nan=True)
        if bad.any():
            return f"output {i}: {a[bad].ravel()[:3]} instead of {b[bad].ravel()[:3]}"
    return None


def those_left(path, converted, inputs):
    """The conversion drops inputs that nothing reads."""
    import onnx
    if len(converted.inputs) == len(inputs):
        return inputs
    graph = onnx.load(path, load_external_data=False).graph
    constant = {t.name for t in graph.initializer}
    given = dict(zip([i.name for i in graph.input if i.name not in constant], inputs))
    return [next(given[n] for n in port.get_names() if n in given) for port in converted.inputs]


def with_openvino(folder, model, inputs):
    """Saves the model and its inputs; OpenVINO's outputs, or the words with which it refuses them."""
    import openvino as ov
    core = ov.Core()
    try:
        path = model
        if isinstance(model, bytes):
            path = os.path.join(folder, "model.onnx")
            with open(path, "wb") as f:
                f.write(model)
        converted = core.read_model(path)
        inputs = those_left(path, converted, inputs)
        if any(p.get_element_type() == ov.Type.string for p in converted.inputs):
            raise RuntimeError("strings")
        if any(p.get_partial_shape().is_dynamic for p in converted.inputs):
            converted.reshape({i: list(x.shape) for i, x in enumerate(inputs)})
        ov.save_model(converted, os.path.join(folder, "model.xml"), compress_to_fp16=False)
    except Exception as e:
        raise Verdict("not converted", " ".join(str(e).split())[-200:]) from None
    os.makedirs(os.path.join(folder, "in"), exist_ok=True)
    for i, x in enumerate(inputs):
        np.save(f"{folder}/in/{i}.npy", x)
    try:
        plain = {getattr(ov.Type, t) for t in "f64 f32 f16 i64 i32 i16 i8 u64 u32 u16 u8 boolean".split()}
        as_numbers = ov.preprocess.PrePostProcessor(converted)
        for i, port in enumerate(converted.outputs):
            if port.get_element_type() not in plain:        # which NumPy does not have: as devrun writes them
                as_numbers.output(i).tensor().set_element_type(ov.Type.f32)
        compiled = core.compile_model(as_numbers.build(), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        result = compiled(dict(enumerate(inputs)))
        return [np.array(result[i]) for i in range(len(compiled.outputs))]
    except Exception as e:
        return " ".join(str(e).split())[-200:]


def judge(folder, name, case, env):
    model, inputs, outputs, rtol, atol = case
    if not all(isinstance(x, np.ndarray) for x in inputs + outputs):
        raise Verdict("not converted", "sequences or optional values")
    theirs = with_openvino(folder, model, inputs)
    causes = []
    for devices, method in (("cpu:0", "single"), ("cpu:0,cpu:1", "--seed 4 random")):
        have = devrun(folder, devices, method, env)
        if RANDOM.search(name):
            continue
        off = equal(have, outputs, rtol, atol)
        if off and isinstance(theirs, list) and not equal(have, theirs, 1e-3, 1e-5):
            causes.append(off)
        elif off and name in UNDEFINED:
            raise Verdict("undefined", UNDEFINED[name])
        elif off:
            raise Verdict("wrong", f"{devices}: {off}" + ("" if isinstance(theirs, list) else f"; OpenVINO: {theirs}"))
    raise Verdict("as OpenVINO", causes[0]) if causes else Verdict("right", "")


def child(folder, name, case, env):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    try:
        judge(folder, name, case, env)
    except Verdict as v:
        verdict = v.args
    except subprocess.TimeoutExpired:
        verdict = "crash", f"no end in {LIMIT_S} s"
    shutil.rmtree(folder + "/out", ignore_errors=True)
    with open(folder + "/verdict.json", "w", encoding="utf-8") as f:
        json.dump(verdict, f)
    os._exit(0)


# ---- all of them ----

def run_all(cases, args, env):
    """True: all were run."""
    begin, running, done = time.monotonic(), {}, 0
    waiting = [n for n in cases if not os.path.exists(os.path.join(args.work, n, "verdict.json"))]
    random.Random(1).shuffle(waiting)           # what --seconds allows is a sample of all
    total = len(waiting)
    while waiting or running:
        if args.seconds and time.monotonic() - begin > args.seconds:
            waiting = []
        while waiting and len(running) < args.jobs:
            name = waiting.pop(0)
            pid = os.fork()
            if pid == 0:
                devnull = os.open(os.devnull, os.O_WRONLY)
                os.dup2(devnull, 2)
                child(os.path.join(args.work, name), name, cases[name], env)
            running[pid] = name
        if not running:
            break
        pid, status = os.wait()
        name = running.pop(pid)
        done += 1
        path = os.path.join(args.work, name, "verdict.json")
        if not os.path.exists(path):            # OpenVINO's: our programs are processes of their own
            with open(path, "w", encoding="utf-8") as f:
                json.dump(("not converted", f"OpenVINO ends with signal {os.WTERMSIG(status)}"), f)
        with open(path, encoding="utf-8") as f:
            what, why = json.load(f)
        if what in ("wrong", "crash") or args.verbose:
            print(f"{done}/{total} {name}: {what}: {why}", flush=True)
        elif done % 100 == 0:
            print(f"{done}/{total}", flush=True)
    return all(os.path.exists(os.path.join(args.work, n, "verdict.json")) for n in cases)


def cause(why):
    """The words of a message without what is of one model alone."""
    why = re.sub(r"^.*?layer \d+ '[^']*' ?", "", why)
    return re.sub(r"'[^']*'|\[[^\]]*\]|\d+", "..", why)[:110]


def summary(cases, work):
    found = collections.defaultdict(list)
    for name in cases:
        path = os.path.join(work, name, "verdict.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                what, why = json.load(f)
            found[what].append((cause(why) if what in ("refused", "not converted") else f"{name}: {why}", name))
    for what in ("refused", "not converted", "as OpenVINO", "undefined", "wrong", "crash"):
        by_cause = collections.defaultdict(list)
        for why, name in found[what]:
            by_cause[why].append(name)
        print(f"\n{what}: {len(found[what])}")
        for why, names in sorted(by_cause.items(), key=lambda x: -len(x[1])):
            print(f"  {len(names):4} {why}" + (f" ({names[0]})" if what == "refused" else ""))
    print("\n" + ", ".join(f"{what} {len(found[what])}" for what in ("right", "as OpenVINO", "undefined", "refused", "not converted", "wrong", "crash")) +
          f", not run {len(cases) - sum(map(len, found.values()))} of {len(cases)} cases")
    return bool(found["wrong"] or found["crash"])


def main():
    ap = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    ap.add_argument("-k", default="", metavar="TEXT", help="cases with this in their names")
    ap.add_argument("--jobs", type=int, default=os.cpu_count())
    ap.add_argument("--seconds", type=float, help="begin no case after so many")
    ap.add_argument("--bin", default="build/bin")
    ap.add_argument("-v", "--verbose", action="store_true", help="print every case")
    ap.add_argument("work")
    args = ap.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.environ["DO_NOT_TRACK"] = "1"            # OpenVINO's converter sends nothing
    env = dict(os.environ, PATH=os.path.abspath(args.bin) + ":" + os.environ["PATH"])
    args.work = os.path.abspath(args.work)
    cases = {n: c for n, c in collect().items() if args.k in n}
    whole = run_all(cases, args, env)
    bad = summary(cases, args.work)
    sys.exit(1 if bad else 0 if whole else 3)


if __name__ == "__main__":
    main()
