#!/bin/sh
# OpenBLAS 0.3.31 (in numpy 2.4.6), one thread, its kernels for AVX2 (Haswell, Zen): the first half of the columns of a product
# in f32 has other bits when it is computed alone, though each column is the same sum of products.  So has a row without
# the rows behind it.  The AVX-512 kernels (SkylakeX) give the same bits for these shapes.  So who cuts a product among threads,
# or computes a part of it again, does not get the bits of the whole.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install numpy==2.4.6
cat > "$dir/products.py" <<'E'
import os
import numpy as np

r = np.random.default_rng(1)
a = r.standard_normal((101, 128)).astype(np.float32)
b = r.standard_normal((128, 128)).astype(np.float32)
whole = a @ b
columns, rows = a @ np.ascontiguousarray(b[:, :64]), a[:50].copy() @ b
assert (a @ b == whole).all(), "the same product twice has other bits"
n = int((columns != whole[:, :64]).sum()), int((rows != whole[:50]).sum())
core = os.environ["OPENBLAS_CORETYPE"]
print("numpy %s, %s: %d of %d elements differ in columns alone, %d of %d in rows alone"
      % (np.__version__, core, n[0], columns.size, n[1], rows.size))
assert (n[0] > 0 and n[1] > 0) if core == "Haswell" else n == (0, 0), "this has changed"
E
OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell "$dir/venv/bin/python" "$dir/products.py"
! grep -qw avx512vl /proc/cpuinfo ||
	OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=SkylakeX "$dir/venv/bin/python" "$dir/products.py"
