"""peak.py - the memory of a program, for tests."""
import re
import subprocess


def peak(*args):
    """The largest resident set of a program in bytes, as the program tells it at its end."""
    said = subprocess.run([args[0], "-vv", *args[1:]], stderr=subprocess.PIPE, text=True)
    assert said.returncode == 0, said.stderr
    return float(re.search(r"peak memory ([0-9.]+) MB", said.stderr)[1]) * 1e6
