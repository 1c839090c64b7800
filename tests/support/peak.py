"""peak.py - the memory of a program, for tests."""
import subprocess
import time


def peak(*args):
    """The largest resident set of a program in bytes (not from its rusage, which begins with Python's)."""
    p, most = subprocess.Popen(args), 0
    while p.poll() is None:
        with open("/proc/%d/status" % p.pid) as f:
            at = [int(x.split()[1]) for x in f if x.startswith("VmHWM")]
        with open("/proc/%d/comm" % p.pid) as f:
            if f.read().strip() == args[0][:15]:
                most = max([most] + at)
        time.sleep(0.002)
    assert p.returncode == 0, p.returncode
    return most * 1024
