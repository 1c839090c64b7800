#!/bin/sh
# OpenBLAS 0.3.31 (scipy-openblas32): how many threads it has is settled while the library is loaded, by the cores that the loading
# thread may run on then.  Loaded by a thread that is bound to one core it starts no threads, and has one for ever, whatever the
# process may use later; loaded otherwise its threads are there before any call, and openblas_set_num_threads(1) ends none.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install scipy-openblas32==0.3.31.188.0
cat > "$dir/load.py" <<'E'
import ctypes, glob, importlib.util, os, sys

# The package would load the library when it is imported.
folder = os.path.dirname(importlib.util.find_spec("scipy_openblas32").origin)
(path,) = glob.glob(os.path.join(folder, "lib", "libscipy_openblas*.so"))

bound = sys.argv[1] == "bound"
cores = os.sched_getaffinity(0)
before = len(os.listdir("/proc/self/task"))
if bound:
    os.sched_setaffinity(0, {min(cores)})
library = ctypes.CDLL(path)
os.sched_setaffinity(0, cores)
started = len(os.listdir("/proc/self/task")) - before
library.scipy_openblas_set_num_threads(1)
left = len(os.listdir("/proc/self/task")) - before
print("%d cores, loaded %s: %d threads started, %d left after set_num_threads(1)" % (len(cores), sys.argv[1], started, left))
want = 0 if bound else len(cores) - 1
assert (started, left) == (want, want), "this has changed"
E
unset OPENBLAS_NUM_THREADS OMP_NUM_THREADS GOTO_NUM_THREADS OPENBLAS_DEFAULT_NUM_THREADS
for way in free bound; do "$dir/venv/bin/python" "$dir/load.py" $way; done
