#!/usr/bin/env python3
"""convert.py MODEL OUT.xml - a model of another framework as OpenVINO IR, with weights as they are and the file's name."""
import os
import sys

# OpenVINO's converter tells its maker of each use, and asks once a machine, in a file at home; without this module it has a
# stub that does neither.
sys.modules["openvino_telemetry"] = None

try:
    import openvino as ov

    model = ov.convert_model(sys.argv[1])
    model.set_friendly_name(os.path.splitext(os.path.basename(sys.argv[1]))[0])    # else that of OpenVINO's reader
    ov.save_model(model, sys.argv[2], compress_to_fp16=False)
except Exception as e:
    what = " ".join(str(e).split()) or type(e).__name__
    sys.exit(f"convert.py: error: '{sys.argv[1]}': {what[:600]}")
