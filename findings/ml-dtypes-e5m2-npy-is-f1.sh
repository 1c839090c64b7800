#!/bin/sh
# ml_dtypes 0.5.4 with numpy 2.4.6: an array of float8_e5m2 that numpy.save writes calls its type '<f1' in the file, which is no
# type of numpy: numpy.load refuses the file, with ml_dtypes imported or not.  The other 8-bit floats and bfloat16 are written as
# bytes without a meaning, '|V1' and '<V2', and are read back as those.  So whoever reads such files must know two forms.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install ml_dtypes==0.5.4 numpy==2.4.6
cd "$dir"
"$dir/venv/bin/python" - <<'E'
import ml_dtypes, numpy as np, re

seen = {}
for name in ("float8_e5m2", "float8_e4m3fn", "float8_e8m0fnu", "bfloat16"):
    np.save("x.npy", np.array([1, 2, 3], getattr(ml_dtypes, name)))
    descr = re.search(rb"'descr': '([^']*)'", open("x.npy", "rb").read())[1].decode()
    try:
        back = str(np.load("x.npy").dtype)
    except (ValueError, TypeError) as e:
        back = "refused: " + str(e)[:60]
    seen[name] = descr, back
print("ml_dtypes", ml_dtypes.__version__, "numpy", np.__version__)
for name, (descr, back) in seen.items():
    print("%s: written as '%s', read back: %s" % (name, descr, back))
assert seen["float8_e5m2"][0] == "<f1" and seen["float8_e5m2"][1].startswith("refused"), "this has changed"
assert all(seen[n][0][1:] in ("V1", "V2") and seen[n][1].startswith("|V") for n in list(seen)[1:]), "this has changed"
