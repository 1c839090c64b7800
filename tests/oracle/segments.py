"""segments.py MODEL.xml DIR... - run the segments in each DIR one after another in OpenVINO and compare all
outputs with those of the whole model, on the same seeded inputs, in f32 on one thread."""
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


def infer(compiled, values):
    request = compiled.create_infer_request()
    result = request.infer({i: v for i, v in enumerate(values)})
    return [result[o] for o in compiled.outputs]


def run_segments(core, directory, values):
    index = json.loads((directory / "index.json").read_text())
    made = {-1: values}
    for s, segment in enumerate(index["segments"]):
        compiled = load(core, directory / segment["file"])
        assert len(compiled.inputs) == len(segment["inputs"]), segment["file"]
        assert len(compiled.outputs) == len(segment["outputs"]), segment["file"]
        given = []
        for port, x in zip(compiled.inputs, segment["inputs"]):
            assert x["segment"] < s, f"{segment['file']} reads segment {x['segment']}"
            value = made[x["segment"]][x["output"]]
            assert port.get_partial_shape().compatible(ov.PartialShape(list(value.shape))), \
                f"{segment['file']}: {x['node']}: {value.shape} into {port.get_partial_shape()}"
            given.append(value)
        made[s] = infer(compiled, given)
    return index, [made[o["segment"]][o["output"]] for o in index["outputs"]]


def main(model, directories):
    core = ov.Core()
    whole = load(core, model)
    values = inputs_of(core.read_model(model), 1)
    expected = infer(whole, values)
    for directory in directories:
        index, got = run_segments(core, Path(directory), values)
        assert len(got) == len(expected)
        worst = 0.0
        for a, b in zip(got, expected):
            assert a.shape == b.shape and a.dtype == b.dtype, (a.shape, b.shape, a.dtype, b.dtype)
            if a.dtype.kind == "f":
                scale = float(np.abs(b).max()) or 1.0
                worst = max(worst, float(np.abs(a.astype(np.float64) - b).max()) / scale)
            else:
                assert (a == b).all()
        assert worst <= 1e-4, f"{directory}: error {worst:.1e} of the output's scale"
        print(f"{Path(model).stem}: {len(index['segments'])} segments, error {worst:.1e}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
