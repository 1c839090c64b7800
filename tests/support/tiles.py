"""tiles.py - OpenVINO on processors whose matrix tiles (AMX) are not usable.

Some virtual machines show AMX and hide how large its tiles are.  OpenVINO's bf16 and int8 kernels then
die of an illegal instruction.  hide_when_broken() tries it in a process of its own, and has the kernels of
this one and of its children keep to AVX-512.  To be called before OpenVINO computes anything.
"""
import os
import signal
import subprocess
import sys

VARIABLE = "ONEDNN_MAX_CPU_ISA"
TRIAL = """
import numpy as np, openvino as ov
from openvino import opset13 as op
x = op.parameter([64, 64], np.float32)
w = op.constant(np.ones((64, 64), np.float32))
m = ov.Core().compile_model(ov.Model([op.matmul(x, w, False, True)], [x]), "CPU", {"INFERENCE_PRECISION_HINT": "bf16"})
m([np.ones((64, 64), np.float32)])
"""


def hide_when_broken():
    """True: the tiles are broken, and hidden now."""
    if VARIABLE in os.environ:
        return False
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        if "amx_tile" not in f.read():
            return False
    if subprocess.run([sys.executable, "-c", TRIAL], stderr=subprocess.DEVNULL).returncode != -signal.SIGILL:
        return False
    os.environ[VARIABLE] = "AVX512_CORE_BF16"
    return True
