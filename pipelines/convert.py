#!/usr/bin/env python3
"""convert.py MODEL OUT.xml - a model of another framework as OpenVINO IR, with weights as they are."""
import sys

try:
    import openvino as ov

    ov.save_model(ov.convert_model(sys.argv[1]), sys.argv[2], compress_to_fp16=False)
except Exception as e:
    what = " ".join(str(e).split()) or type(e).__name__
    sys.exit(f"convert.py: error: '{sys.argv[1]}': {what[:600]}")
