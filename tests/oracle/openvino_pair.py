"""openvino_pair.py MODEL.xml DIR [SHAPES] - the pair that placeout --openvino has left in DIR: affinities for exactly the
model's operations, each of another name, constants beside what reads them, inputs and outputs as the model has them; and
HETERO, or the segments where it refuses, gives the model's outputs.  Devices other than CPU are further CPU plugins.
--strict: HETERO may not refuse."""
import json
import sys
from pathlib import Path

import numpy as np
import openvino as ov
from segments import inputs_of

CONFIG = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "ENABLE_CPU_PINNING": False}


def shapes_of(text):
    return {n: [int(d) for d in s.split(",")] for n, s in (p.split("=", 1) for p in text.split(";"))}


def hetero(core, pair, affinity):
    for op in pair.get_ops():
        op.get_rt_info()["affinity"] = affinity[op.get_friendly_name()]
    devices = sorted(set(affinity.values()))
    return core.compile_model(pair, "HETERO:" + ",".join(devices), {"DEVICE_PROPERTIES": {d: CONFIG for d in devices}})


def run_segments(core, directory, values):
    index = json.loads((directory / "segments/index.json").read_text())
    made = {-1: values}
    for i, s in enumerate(index["segments"]):
        part = core.compile_model(core.read_model(directory / "segments" / s["file"], directory / "model.bin"), "CPU", CONFIG)
        made[i] = list(part([made[x["segment"]][x["output"]] for x in s["inputs"]]).values())
    return [made[o["segment"]][o["output"]] for o in index["outputs"]], len(index["segments"])


def difference(got, expected):
    worst = 0.0
    assert len(got) == len(expected)
    for a, b in zip(got, expected):
        assert a.shape == b.shape and a.dtype == b.dtype, (a.shape, b.shape, a.dtype, b.dtype)
        if a.dtype.kind == "f":
            scale = float(np.abs(b).max(initial=0)) or 1.0
            worst = max(worst, float(np.abs(a.astype(np.float64) - b).max(initial=0)) / scale)
        else:
            assert (a == b).all()
    return worst


def main(xml, directory, shapes="", *flags):
    core, directory = ov.Core(), Path(directory)
    affinity = json.loads((directory / "affinity.json").read_text())
    for device in set(affinity.values()) - {"CPU"}:
        core.register_plugin("openvino_intel_cpu_plugin", device)
    pair, model = core.read_model(directory / "model.xml"), core.read_model(xml)
    if shapes:
        model.reshape(shapes_of(shapes))
    names = [op.get_friendly_name() for op in pair.get_ops()]
    assert sorted(names) == sorted(affinity), set(names) ^ set(affinity) or "names that several operations have"
    for op in pair.get_ops():
        for i in op.inputs() if op.get_type_name() != "Result" else ():
            source = i.get_source_output().get_node()
            assert source.get_type_name() != "Constant" or affinity[source.get_friendly_name()] == affinity[op.get_friendly_name()]
    ports = lambda m: [(sorted(p.names), p.partial_shape, p.element_type) for p in [*m.inputs, *m.outputs]]  # noqa: E731
    assert ports(pair) == ports(model), (ports(pair), ports(model))
    values = inputs_of(model, 1)
    expected = list(core.compile_model(model, "CPU", CONFIG)(values).values())
    parts, n = run_segments(core, directory, values)
    by_segments = difference(parts, expected)
    try:
        by_hetero = difference(list(hetero(core, pair, affinity)(values).values()), expected)
    except RuntimeError as e:
        assert "--strict" not in flags, e
        by_hetero = 0.0
        print("HETERO refuses:", str(e).strip().splitlines()[-1])
    worst = max(by_segments, by_hetero)
    assert worst <= 1e-4, f"{directory}: error of the output's scale {by_hetero:.1e} in HETERO, {by_segments:.1e} in segments"
    print(f"{directory}: {len(names)} operations, {n} segments, error {worst:.1e}")


if __name__ == "__main__":
    main(*sys.argv[1:])
