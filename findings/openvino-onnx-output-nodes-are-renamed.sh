#!/bin/sh
# OpenVINO 2026.4.1 reads an ONNX model: every node keeps its name but the one that makes an output of the model, which is called like
# the output's tensor instead.  Whoever places operations by the names of the file's nodes loses the last one.  The names of tensors
# survive, so that the node can be found by what it makes.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install openvino==2026.4.1 onnx==1.19.1 numpy==2.4.6
cd "$dir"
venv/bin/python - <<'E'
import onnx, openvino as ov
from onnx import TensorProto as T, helper as h

value = lambda name: h.make_tensor_value_info(name, T.FLOAT, [1, 4])
nodes = [h.make_node("Relu", ["x"], ["hidden"], name="body/first"), h.make_node("Tanh", ["hidden"], ["y"], name="head/last")]
graph = h.make_graph(nodes, "two", [value("x")], [value("y")])
onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=9), "two.onnx")

print("OpenVINO", ov.get_version())
model = ov.Core().read_model("two.onnx")
found = {op.get_type_name(): (op.get_friendly_name(), sorted(op.output(0).get_names())) for op in model.get_ops() if op.get_type_name() in ("Relu", "ReLU", "Tanh")}
for kind, (name, tensors) in sorted(found.items()):
    print(kind, "is called", name, "and makes", *tensors)
assert found["Tanh"] == ("y", ["y"]) and found.get("ReLU", found.get("Relu")) == ("body/first", ["hidden"]), "this has changed"
E
