#!/bin/sh
# OpenVINO 2026.4.1: the C API knows no variables.  C++ and Python have InferRequest.query_state and reset_state; of the functions of
# libopenvino_c none has to do with state, so that a C program cannot reset the cache of a language model but by
# making a new infer request.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install openvino==2026.4.1 numpy==2.4.6
"$dir/venv/bin/python" - <<'E'
import ctypes, glob, os, openvino as ov

folder = os.path.join(os.path.dirname(ov.__file__), "libs")
library = ctypes.CDLL(sorted(glob.glob(os.path.join(folder, "libopenvino_c.so*")))[-1])
headers = glob.glob(os.path.join(os.path.dirname(ov.__file__), "include", "openvino", "c", "*.h"))
text = " ".join(open(h).read() for h in headers)
guesses = ["ov_infer_request_query_state", "ov_infer_request_reset_state", "ov_variable_state_reset", "ov_variable_state_get_state"]
found = [name for name in guesses if hasattr(library, name)]
print("OpenVINO", ov.get_version())
print("ov_infer_request_infer:", hasattr(library, "ov_infer_request_infer"), "- functions of states:", found or "none")
print("'variable_state' or 'query_state' in %d headers: %s" % (len(headers), "variable_state" in text or "query_state" in text))
print("Python has them:", hasattr(ov.InferRequest, "query_state"))
assert hasattr(library, "ov_infer_request_infer") and not found and "query_state" not in text, "this has changed"
E
