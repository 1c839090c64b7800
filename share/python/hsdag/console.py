"""console.py - the programs beside this package, else in the path, and the console scripts that become them.

This imports next to nothing: a pipeline starts as many Pythons as it has stages, and each is the program itself when it has read this.
"""
import os
import signal
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
PIPELINES = os.path.join(FOLDER, "share", "hsdag", "pipelines")


class Error(Exception):
    """What a user can mend, in one line."""


def find(name):
    """The path of a program."""
    for path in os.path.join(FOLDER, "bin", name), os.path.join(PIPELINES, name):
        if os.access(path, os.X_OK):
            return path
    import shutil
    path = shutil.which(name)
    if path is None:
        raise Error("there is no program '%s' beside the package hsdag, nor in the path" % name)
    return path


def environment():
    """This process's, with this Python as the first one of the path, and OpenVINO where this Python has it."""
    changed = dict(os.environ)
    if sys.executable:     # "" of a program that has Python inside
        changed["PATH"] = os.path.dirname(sys.executable) + os.pathsep + changed.get("PATH", os.defpath)
    openvino = os.path.join(os.path.dirname(FOLDER), "openvino")
    try:
        libraries = os.listdir(os.path.join(openvino, "libs"))
    except OSError:
        libraries = []
    if not changed.get("HSDAG_OPENVINO") and any(name.startswith("libopenvino_c.so") for name in libraries):
        changed["HSDAG_OPENVINO"] = openvino
    return changed


def main():
    """A console script: the program of its name takes this process over."""
    name = os.path.basename(sys.argv[0])
    try:
        path = find(name)
        # Python ignores these, and programs would inherit that.
        for number in signal.SIGPIPE, signal.SIGXFSZ:
            signal.signal(number, signal.SIG_DFL)
        os.execve(path, [name, *sys.argv[1:]], environment())
    except (Error, OSError) as e:
        sys.exit("%s: error: %s" % (name, e))
