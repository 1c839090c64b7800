"""segments.py [--steps N] MODEL.xml DIR... - run the segments in each DIR one after another in OpenVINO and
compare all outputs with those of the whole model, on the same seeded inputs, in f32 on one thread.  Variables last
from each of the N steps to the next."""
import json
import sys
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import properties as props

CONFIG = {props.hint.inference_precision(): ov.Type.f32, props.inference_num_threads(): 1,
          props.hint.enable_cpu_pinning(): False}


def load(core, path):
    return core.compile_model(core.read_model(path), "CPU", CONFIG)


def inputs_of(model, seed):
    """Values that suit most models: real numbers in -1 .. 1, small indices."""
    rng = np.random.default_rng(seed)
    values = []
    for port in model.inputs:
        shape = [d.get_length() if d.is_static else 2 for d in port.get_partial_shape()]
        kind = port.get_element_type()
        if kind == ov.Type.string:
            values.append(np.array(["text %d" % i for i in range(int(np.prod(shape)))]).reshape(shape))
        elif kind.is_real():
            values.append(rng.uniform(-1, 1, shape).astype(kind.to_dtype()))
        else:
            values.append(rng.integers(0, 2, shape).astype(kind.to_dtype()))
    return values


class Runner:
    """One compiled model, whose variables last."""

    def __init__(self, compiled):
        self.request, self.ports = compiled.create_infer_request(), compiled.outputs

    def run(self, values):
        result = self.request.infer(dict(enumerate(values)))
        return [result[o].copy() for o in self.ports]


class Segments:
    def __init__(self, core, directory):
        self.index = json.loads((directory / "index.json").read_text())
        self.runners = []
        for segment in self.index["segments"]:
            compiled = load(core, directory / segment["file"])
            assert len(compiled.inputs) == len(segment["inputs"]), segment["file"]
            assert len(compiled.outputs) == len(segment["outputs"]), segment["file"]
            self.runners.append((segment, compiled.inputs, Runner(compiled)))

    def run(self, values):
        made = {-1: values}
        for s, (segment, ports, runner) in enumerate(self.runners):
            given = []
            for port, x in zip(ports, segment["inputs"]):
                assert x["segment"] < s, f"{segment['file']} reads segment {x['segment']}"
                value = made[x["segment"]][x["output"]]
                assert port.get_partial_shape().compatible(ov.PartialShape(list(value.shape))), \
                    f"{segment['file']}: {x['node']}: {value.shape} into {port.get_partial_shape()}"
                given.append(value)
            made[s] = runner.run(given)
        return [made[o["segment"]][o["output"]] for o in self.index["outputs"]]


def difference(got, expected):
    """Of floats the largest, of an output's scale; all else is equal."""
    worst = 0.0
    assert len(got) == len(expected)
    for a, b in zip(got, expected):
        assert a.shape == b.shape and a.dtype == b.dtype, (a.shape, b.shape, a.dtype, b.dtype)
        if a.dtype.kind == "f":
            scale = float(np.abs(b).max()) or 1.0
            worst = max(worst, float(np.abs(a.astype(np.float64) - b).max()) / scale)
        else:
            assert (a == b).all()
    return worst


def main(model, directories, n_steps):
    core = ov.Core()
    steps = [inputs_of(core.read_model(model), seed) for seed in range(1, n_steps + 1)]
    whole = Runner(load(core, model))
    expected = [whole.run(values) for values in steps]
    for directory in directories:
        segments = Segments(core, Path(directory))
        worst = max(difference(segments.run(values), wanted) for values, wanted in zip(steps, expected))
        assert worst <= 1e-4, f"{directory}: error {worst:.1e} of the output's scale"
        print(f"{Path(model).stem}: {len(segments.runners)} segments, error {worst:.1e}")


if __name__ == "__main__":
    argv = sys.argv[1:]
    n = int(argv[1]) if argv[0] == "--steps" else 1
    argv = argv[2:] if argv[0] == "--steps" else argv
    main(argv[0], argv[1:], n)
