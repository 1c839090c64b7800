#!/usr/bin/env bats
# Inputs and outputs of every element type as .npy: what devrun saves it takes again.
# programs: devrun
# seconds: 5
bats_require_minimum_version 1.5.0
load ../support/common.bash

NAMES="f64 f32 f16 bf16 f8e4m3 f8e5m2 f8e8m0 f4e2m1 nf4 i64 i32 i16 i8 i4 u64 u32 u16 u8 u6 u4 u3 u2 u1 boolean"

setup_file() {
	common_setup_file
	py - "$NAMES" <<-'PY'
		from tiny_ir import Model
		for name in sys.argv[1].split():
		    m = Model(name)
		    m.result(m.layer("Parameter", "x", name, (3, 5)))
		    m.save()
	PY
	local n
	for n in $NAMES; do ir2dag "$n.xml" | placebase single -D cpu:0 -o "$n.mp" || return 1; done
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# given TYPE DIRECTORY OUT - run with these inputs
given() {
	devrun run --no-reference -n 1 --warmup 0 -i "$2" --outputs "$3" -o run.mp "$1.mp"
}

@test "what is saved is taken again, and comes out as it went in" {
	local n
	for n in $NAMES; do
		devrun run --no-reference -n 1 --warmup 0 --save-inputs "in.$n" --outputs "out.$n" -o run.mp "$n.mp"
		given "$n" "in.$n" "again.$n"
		cmp "in.$n/0.npy" "out.$n/0.npy"
		cmp "in.$n/0.npy" "again.$n/0.npy"
	done
	# Another order of elements in the file is no other tensor.
	py - "$NAMES" <<-'PY'
		for n in sys.argv[1].split():
		    os.makedirs(f"columns.{n}")
		    np.save(f"columns.{n}/0.npy", np.asfortranarray(np.load(f"in.{n}/0.npy")))
		    assert b"'fortran_order': True" in open(f"columns.{n}/0.npy", "rb").read(100)
	PY
	for n in $NAMES; do
		given "$n" "columns.$n" "rows.$n"
		cmp "in.$n/0.npy" "rows.$n/0.npy"
	done
	py - "$NAMES" <<-'PY'
		for n in sys.argv[1].split():
		    x = np.load(f"in.{n}/0.npy")
		    want = {"bf16": "f4", "f4e2m1": "f4", "nf4": "f4", "i4": "i1", "boolean": "b1"}.get(n)
		    want = want or ("f4" if n[:2] == "f8" else "u1" if n in ("u6", "u4", "u3", "u2", "u1") else n[0] + str(int(n[1:]) // 8))
		    assert x.dtype.str[1:] == want and x.shape == (3, 5), (n, x.dtype)
	PY
}

@test "values and bits of types that NumPy does not have" {
	py - <<-'PY'
		def save(name, x, kind=None):
		    os.makedirs(name, exist_ok=True)
		    x = np.resize(x, (3, 5))
		    np.save(name + "/0.npy", x.view(kind) if kind else x)
		bits = {"bf16": np.uint16([0x3f80, 0xc000, 0x3e99]), "f8e4m3": np.uint8([0x38, 0xc0, 0x01]), "f8e5m2": np.uint8([0x3c, 0xc4, 0x01]),
		        "f8e8m0": np.uint8([127, 130, 120]), "f4e2m1": np.uint8([2, 15, 9]), "nf4": np.uint8([15, 0, 8]),
		        "i4": np.uint8([7, 15, 8]), "u3": np.uint8([7, 1, 4]), "u6": np.uint8([63, 1, 33])}
		for name, x in bits.items():
		    save("bits." + name, x, None if name in ("bf16", "f8e4m3", "nf4") else "V1")
		save("void.bf16", bits["bf16"], "V2")
		raw = open("void.bf16/0.npy", "rb").read()
		open("void.bf16/0.npy", "wb").write(raw.replace(b"|V2", b"<V2"))
		save("named.f8e5m2", bits["f8e5m2"], "V1")          # as ml_dtypes names it
		raw = open("named.f8e5m2/0.npy", "rb").read()
		open("named.f8e5m2/0.npy", "wb").write(raw.replace(b"|V1", b"<f1"))
		save("near.f8e4m3", np.float32([1.02, -2.1, 0.0019]))
	PY
	local n
	for n in bf16 f8e4m3 f8e5m2 f8e8m0 f4e2m1 nf4 i4 u3 u6; do given $n bits.$n bits_out.$n; done
	given bf16 void.bf16 void_out
	given f8e5m2 named.f8e5m2 named_out
	run -3 --separate-stderr given f8e4m3 named.f8e5m2 wrong_out
	[[ $stderr == *"its type is '<f1', but the model wants f8e4m3"* ]]
	given f8e4m3 near.f8e4m3 near_out
	py - <<-'PY'
		want = {"bf16": [1, -2, 0x99 * 2.0**-9], "f8e4m3": [1, -2, 2.0**-9], "f8e5m2": [1, -4, 2.0**-16], "f8e8m0": [1, 8, 2.0**-7],
		        "f4e2m1": [1, -6, -0.5], "nf4": [1, -1, 0.0795802996], "i4": [7, -1, -8], "u3": [7, 1, 4], "u6": [63, 1, 33]}
		for name, x in want.items():
		    got = np.load(f"bits_out.{name}/0.npy")
		    assert (got == np.resize(np.array(x, got.dtype), (3, 5))).all(), (name, got)
		assert (np.load("void_out/0.npy") == np.load("bits_out.bf16/0.npy")).all()
		assert (np.load("named_out/0.npy") == np.load("bits_out.f8e5m2/0.npy")).all()
		assert (np.load("near_out/0.npy") == np.load("bits_out.f8e4m3/0.npy")).all()
	PY
}

@test "a number that the type does not have, and another type, are refused" {
	py - <<-'PY'
		for name, x in (("big", np.uint8), ("real", np.float64)):
		    os.makedirs(name, exist_ok=True)
		    np.save(name + "/0.npy", np.full((3, 5), 9, x))
	PY
	run -3 --separate-stderr given u3 big out
	[[ $stderr == *"element 0 is 9, and u3 has 0 to 7"* ]]
	run -3 --separate-stderr given f8e4m3 real out
	[[ $stderr == *"its type is '<f8', but the model wants f8e4m3; save its values as '<f4', or its bits as unsigned integers"* ]]
}
