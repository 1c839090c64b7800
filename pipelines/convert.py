#!/usr/bin/env python3
"""convert.py MODEL OUT.xml - a model of another framework as OpenVINO IR, with weights as they are and the file's name.

Of an .onnx operations are called as its nodes, and OUT.names.tsv has the operation that computes each node (onnx_names.py).
"""
import os
import sys

# OpenVINO's converter tells its maker of each use, and asks once a machine, in a file at home; without this module it has a
# stub that does neither.
sys.modules["openvino_telemetry"] = None

import onnx_names  # noqa: E402

try:
    import openvino as ov

    model = ov.convert_model(sys.argv[1])
    model.set_friendly_name(os.path.splitext(os.path.basename(sys.argv[1]))[0])    # else that of OpenVINO's reader
    rows = onnx_names.rename(model, sys.argv[1]) if sys.argv[1].endswith(".onnx") else []
    ov.save_model(model, sys.argv[2], compress_to_fp16=False)
    with open(os.path.splitext(sys.argv[2])[0] + ".names.tsv", "w", encoding="utf-8") as f:
        for node, operation in rows:
            if not set("\t\n\\") & set(node + operation):      # what a line cannot hold
                f.write("%s\t%s\n" % (node, operation))
except Exception as e:
    what = " ".join(str(e).split()) or type(e).__name__
    sys.exit(f"convert.py: error: '{sys.argv[1]}': {what[:600]}")
