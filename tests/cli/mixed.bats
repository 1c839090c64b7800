#!/usr/bin/env bats
# devrun mixed: which sets may run in less than f32; probe --reduced, placeout --precision.
# programs: devrun placeout
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	cd "$BATS_FILE_TMPDIR" || return 1
	"$HSDAG_PYTHON" "$ROOT/tests/support/sensitive_net.py"
	ir2dag sensitive.xml > net.mp
	devrun probe --profile --max-seconds 0.02 -D cpu:0,cpu:0/precision=bf16 net.mp > probed.mp
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

mixed() { timeout 100 devrun mixed --max-error "$@"; }

# The sets that may run in bf16, of all: true for each, in the order of sets.
ALLOWED='
		def allowed(name):
			d = first(read(name), "devs")
			return array(d["mask"])[:, d["names"].index("cpu:0/precision=bf16")].astype(bool)
		def set_of(name, node):
			g = first(read(name), "graph")
			return int(array(g["set"])[g["node_name"].index(node)])
'

@test "a limit that bf16 breaks by one product: that one stays in f32, and a mixed placement is within it" {
	mixed 0.02 --path path.mp probed.mp -o narrow.mp
	recdump --check path.mp
	py "$ALLOWED"'
		r = list(zip(of("path.mp", "place"), runs("path.mp")))
		all_f32, all_bf16 = r[0][1], r[1][1]
		assert all_f32["ok"] and all_f32["error"] == 0 and not all_bf16["ok"] and 0.02 < all_bf16["error"] < 1, (all_f32, all_bf16)
		it = set_of("narrow.mp", "sensitive")
		for p, m in r:
			d = p["devices"].index("cpu:0/precision=bf16")
			assert m["ok"] == (m["error"] <= 0.02) and (m["ok"] or m["unlimited_s"] > 0), m
			# Nothing else has so much error.
			assert m["ok"] == (array(p["device"])[it] != d), (m, array(p["device"]))
		assert any(m["ok"] and m["error"] > 0 for p, m in r)
		assert not allowed("narrow.mp")[it] and allowed("narrow.mp").any()
		f32 = first(read("narrow.mp"), "devs")
		assert array(f32["mask"])[:, 0].all()
		# Else the stream is as it was.
		assert [k for k, m in read("narrow.mp")] == [k for k, m in read("probed.mp")]
	'
}

@test "a large limit lets everything run in bf16, a limit of 0 no product" {
	mixed 1 probed.mp -o large.mp
	mixed 0 probed.mp -o none.mp
	py "$ALLOWED"'
		assert allowed("large.mp").all()
		none = allowed("none.mp")
		assert not any(none[set_of("none.mp", n)] for n in ["sensitive"] + [f"product{i}" for i in (0, 1, 2, 4, 5)]), none
	'
}

@test "what was allowed before is all that may be allowed" {
	dagpin --pin product0=cpu:0 --keep sensitive,product5 probed.mp -o pinned.mp
	mixed 0.02 --path pinned.path.mp pinned.mp -o narrow.mp
	py "$ALLOWED"'
		a = allowed("narrow.mp")
		assert not a[set_of("narrow.mp", "product0")] and not a[set_of("narrow.mp", "sensitive")] and not a[set_of("narrow.mp", "product5")]
		s, t = set_of("narrow.mp", "sensitive"), set_of("narrow.mp", "product5")
		for p in of("pinned.path.mp", "place"):
			assert array(p["device"])[s] == array(p["device"])[t]
	'
}

@test "the report has the way: error, time, and how much each precision has" {
	mixed 0.02 --path path.mp probed.mp -o narrow.mp
	placeout --format report --precision path.mp path.mp > report.txt
	placeout --format html --precision path.mp path.mp | grep -q '<dt>time for error</dt><dd>0.085: .* 100 % bf16 (beyond the limit)<br>'
	grep -qE '^time for error +error +measured +speedup +f32 +bf16$' report.txt
	grep -qE '^beyond the limit +0\.085 .* 0 % +100 %$' report.txt
	[ "$(grep -c ' <$' report.txt)" -ge 1 ]
	placeout --format json --precision path.mp path.mp > report.json
	py '
		t = json.load(open("report.json"))["time_for_error"]
		assert [x["error"] for x in t] == sorted((x["error"] for x in t), reverse=True) and len(t) >= 2, t
		assert all(abs(x["f32"] + x["bf16"] + x["int8"] + x["f16"] - 1) < 1e-6 for x in t), t
		assert t[0]["bf16"] == 1 and not t[0]["within_max_error"] and t[-1]["f32"] == 1 and t[-1]["within_max_error"]
	'
	# Of another graph, and of none.
	ir2dag "$ROOT/tests/models/small_summator.xml" | placebase single -D cpu:0 > other.mp
	run -3 --separate-stderr placeout --format report --precision path.mp other.mp
	[[ $stderr == "placeout: error: --precision: "* ]]
}

@test "probe --reduced: the same devices in bf16 where that is fast, in int8 where something is quantised" {
	names() { devrun probe --reduced "$@" | recdump -k devs --tsv 'names[]' | paste -sd,; }
	export HSDAG_BF16_PRODUCTS=1
	[ "$(names -D cpu:0 net.mp)" = cpu:0,cpu:0/precision=bf16 ]
	[ "$(names -D cpu:0,cpu:0/precision=bf16 net.mp)" = cpu:0,cpu:0/precision=bf16 ]
	[ "$(names -D cpu:0/precision=bf16 net.mp)" = cpu:0/precision=bf16 ]
	"$HSDAG_PYTHON" "$ROOT/tests/support/int8_nets.py"
	model=$(printf '%s\n' *.xml | grep -v sensitive | head -n 1)
	ir2dag "$model" > quantised.mp
	if grep -qE 'avx512_vnni|avx_vnni' /proc/cpuinfo; then
		[ "$(names -D cpu:0 quantised.mp)" = cpu:0,cpu:0/precision=bf16,cpu:0/precision=int8 ]
	else
		[ "$(names -D cpu:0 quantised.mp)" = cpu:0,cpu:0/precision=bf16 ]
	fi
	# Two models in one stream, each with its own.
	cat net.mp quantised.mp net.mp > three.mp
	devrun probe --reduced -D cpu:0 three.mp | recdump -k devs --tsv 'names[]' | grep -c 'precision=bf16' | grep -qx 3
	run -2 --separate-stderr devrun probe --reduced --precision bf16 -D cpu:0 net.mp
	[[ $stderr == *"--reduced goes with --probe, and not with --precision" ]]
}

@test "no device in less, or none in f32: the stream as it was" {
	for d in cpu:0 cpu:0/precision=bf16; do
		devrun probe --profile --max-seconds 0.02 -D $d net.mp > one.mp
		mixed 0.01 --path empty.mp one.mp -o same.mp
		py '
			a, b = read("one.mp"), read("same.mp")
			assert [(k, {x: v for x, v in m.items() if x != "chain"}) for k, m in a[1:-1]] == [(k, m) for k, m in b[1:-1]]
			assert runs("empty.mp") == []
		'
	done
}

@test "what it cannot work with" {
	run -2 --separate-stderr devrun mixed probed.mp
	[[ $stderr == "devrun: error: no --max-error: how far outputs may be from those in f32" ]]
	run -3 --separate-stderr mixed 0.1 net.mp -o no.mp
	[[ $stderr == *"no costs in the input; devrun probe --profile measures them" ]]
	run -3 --separate-stderr mixed 0.1 /dev/null -o no.mp
	devsim --probe net.mp > played.mp
	run -3 --separate-stderr mixed 0.1 played.mp -o no.mp --path no.path.mp
	[ ! -e no.mp ]
	[ ! -e no.path.mp ]
	head -c -40 probed.mp > short.mp
	run -3 --separate-stderr mixed 0.1 short.mp -o no.mp --path no.path.mp
	[[ $stderr == *truncated* ]]
	[ ! -e no.mp ]
	[ ! -e no.path.mp ]
	run -1 --separate-stderr mixed 0.1 probed.mp -o no.mp --path /no/such/path.mp
	[ ! -e no.mp ]
}
