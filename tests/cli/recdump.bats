#!/usr/bin/env bats
# The stream's rules, through the program that only reads: framing, limits,
# truncation, damage.  The inputs are made with Python's own msgpack.
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() { common_setup_file; }

@test "names that nothing has: what is meant is asked" {
	cd "$BATS_FILE_TMPDIR"
	ir2dag "$ROOT/tests/models/if_body.xml" | placebase random -n 2 -D cpu:0,cpu:1 -o names.mp
	while IFS='|' read -r options said; do
		# shellcheck disable=SC2086
		run -2 recdump $options names.mp
		[[ $output == *"recdump: error: $said" ]] || { echo "$options: $output"; return 1; }
	done <<-'T'
	-k plaec|--kind: no record is a 'plaec'; did you mean 'place'? the stream has hdr, graph, place, end
	-k nothing|--kind: no record is a 'nothing'; the stream has hdr, graph, place, end
	-k place --tsv sorce|--tsv: no record has 'sorce'; did you mean 'source'? records have graph, episode, step, sample, devices, device, source
	-k place --tsv sample,devcies[]|--tsv: no record has 'devcies'; did you mean 'devices'? records have graph, episode, step, sample, devices, device, source
	T
	[ -z "$(recdump -k run names.mp)" ]                     # not there, and ours
	[ "$(recdump -k place --tsv lat_s names.mp | wc -l)" -eq 2 ]
	py '
		m = {n: "cpu:0" for n in of("names.mp", "graph")[0]["node_name"]}
		json.dump(m, open("all.json", "w"))
		n = sorted(m, key=len)[-1]
		json.dump({**m, n[:-1]: "cpu:1", "nosuch_layer": "cpu:1"}, open("more.json", "w"))
		json.dump({**m, "nosuch_layer": "cpu:1"}, open("one.json", "w"))
	'
	placebase -D cpu:0,cpu:1 expert:all.json names.mp | recdump --check
	run -3 placebase -D cpu:0,cpu:1 expert:one.json names.mp -o x.mp
	[ "$output" = "placebase: error: 'one.json': the graph has no operation 'nosuch_layer'" ]
	run -3 placebase -D cpu:0,cpu:1 expert:more.json names.mp -o x.mp
	[[ $output == *"'more.json': the graph has no operation '"*"', nor 1 other; did you mean '"* ]]
	run -2 make -n -C "$ROOT" tables MODEL=x.xml
	[[ $output == *"there is no variable 'MODEL' of tables; did you mean 'MODELS'?"* ]]
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	make_stream good.mp
}

# make_stream FILE [PYTHON] - a small stream; PYTHON may change `records` first.
make_stream() {
	"$HSDAG_PYTHON" - "$1" "${2:-}" <<-'PY'
		import sys, struct, msgpack, xxhash
		records = [["hdr", {"version": 1, "chain": []}],
		           ["odd", {"t": {"dtype": "f32", "shape": [2, 3], "data": struct.pack("<6f", *range(6))},
		                    "big": 2**63 + 5, "text": 'a"\n', "list": [1, -2, None, True, 0.5]}],
		           ["even", {}]]
		end = {}
		exec(sys.argv[2])
		wire = [r if isinstance(r, bytes) else msgpack.packb(r) for r in records]
		body = b"".join(wire[1:])
		last = {"records": len(wire) - 1, "digest": xxhash.xxh64(body).intdigest(), **end}
		open(sys.argv[1], "wb").write(b"".join(wire) + msgpack.packb(["end", last]))
	PY
}

@test "a good stream prints as JSON lines" {
	run -0 recdump --full good.mp
	[ "${#lines[@]}" -eq 4 ]
	[ "${lines[1]}" = '{"kind": "odd", "map": {"t": {"dtype": "f32", "shape": [2, 3], "data": [[0, 1, 2], [3, 4, 5]]}, "big": 9223372036854775813, "text": "a\"\n", "list": [1, -2, null, true, 0.5]}}' ]
}

@test "every JSON line is JSON" {
	recdump good.mp > out.json
	"$HSDAG_PYTHON" -c 'import json,sys; [json.loads(l) for l in open("out.json")]'
}

@test "a tensor is summarised" {
	run -0 recdump -k odd good.mp
	[[ $output == *'{"dtype": "f32", "shape": [2, 3], "min": 0, "max": 5}'* ]]
}

@test "--check is silent on a good stream, from a file and from a pipe" {
	run -0 recdump --check good.mp
	[ -z "$output" ]
	run -0 bash -c 'cat good.mp | recdump -c'
	[ -z "$output" ]
}

@test "streams may follow one another" {
	cat good.mp good.mp > two.mp
	run -0 recdump -c two.mp
}

@test "every prefix is refused with status 3" {
	size=$(stat -c %s good.mp)
	for ((bytes = 0; bytes < size; bytes++)); do
		head -c "$bytes" good.mp > cut.mp
		run -3 recdump -c cut.mp
		[[ $output == *"truncated input"* || $output == *"empty input"* ]]
	done
}

@test "every flipped bit behind hdr is noticed" {
	"$HSDAG_PYTHON" - <<-'PY'
		import subprocess
		good = open("good.mp", "rb").read()
		start = good.index(b"odd") - 2
		for i in range(start, len(good)):
		    for bit in (0x01, 0x80):
		        bad = bytearray(good); bad[i] ^= bit
		        p = subprocess.run(["recdump", "-c"], input=bytes(bad), capture_output=True)
		        assert p.returncode == 3 and p.stderr.startswith(b"recdump: error: "), (i, bit, p)
	PY
}

refused() {   # refused NAME PYTHON TEXT
	make_stream "$1.mp" "$2"
	run -3 recdump -c "$1.mp"
	[[ $output == *"$3"* ]] || { echo "$output"; return 1; }
}

@test "another version is refused" { refused v 'records[0][1]["version"] = 2' "reads version 1"; }
@test "a stream without hdr is refused" { refused h 'records.pop(0)' "begins with a record 'hdr'"; }
@test "a second hdr is refused" { refused hh 'records.append(records[0])' "second 'hdr'"; }
@test "a wrong count is refused" { refused n 'end["records"] = 7' "counts other records"; }
@test "a wrong digest is refused" { refused d 'end["digest"] = 7' "digest does not match"; }
@test "a record that is not [kind, map] is refused" { refused r 'records.append([1, 2])' "expected [kind, map]"; }
@test "a duplicate key is refused" { refused k 'records.append(b"\x92\xa1x\x82\xa1a\x01\xa1a\x02")' "occurs twice"; }
@test "a duplicate among many keys is refused" {
	refused kk 'records.append(b"\x92\xa1x\xde\x00\x29" + b"".join(b"\xa2%02d\x01" % (i % 40) for i in range(41)))' "occurs twice"
}
@test "a key that is not a str is refused" { refused ki 'records.append(b"\x92\xa1x\x81\x01\x01")' "key is not a str"; }
@test "infinity is refused" { refused inf 'records.append(["x", {"v": float("inf")}])' "not finite"; }
@test "an extension type is refused" { refused ext 'records.append(["x", {"v": msgpack.ExtType(1, b"a")}])' "not allowed"; }
@test "text that is not UTF-8 is refused" { refused u 'records.append(b"\x92\xa1x\x81\xa1a\xa2\xff\xfe")' "UTF-8"; }
@test "deep nesting is refused" { refused deep 'records.append(b"\x92\xa1x\x81\xa1a" + b"\x91" * 40 + b"\x01")' "nesting deeper"; }
@test "deep nesting is refused, of an empty list, too" { refused deep 'records.append(b"\x92\xa1x\x81\xa1a" + b"\x91" * 30 + b"\x90")' "nesting deeper"; }
@test "a hostile count reserves nothing" {
	no_sanitizer
	refused big 'records.append(b"\x92\xa1x\x81\xa1a\xdd\xff\xff\xff\xff")' "beyond the limit"
	"$HSDAG_PYTHON" -c 'open("c.mp","wb").write(open("good.mp","rb").read()[:20] + b"\x92\xa1x\x81\xa1a\xdd\x00\xff\xff\xff")'
	run -3 bash -c 'ulimit -v 200000; recdump -c c.mp'
}
@test "a hostile length reserves nothing" {
	no_sanitizer
	"$HSDAG_PYTHON" -c 'import msgpack; open("l.mp","wb").write(msgpack.packb(["hdr", {"version": 1, "chain": []}]) + b"\x92\xa1x\x81\xa1a\xc6\x3f\x00\x00\x00abc")'
	run -3 bash -c 'ulimit -v 200000; recdump -c l.mp'
	[[ $output == *truncated* ]]
}

@test "a tensor whose data does not fit its shape is refused when it is looked at" {
	make_stream t.mp 'records[1][1]["t"]["shape"] = [7]'
	run -3 recdump t.mp
	[[ $output == *"its shape does not"* ]]
	make_stream t.mp 'records[1][1]["t"]["shape"] = [2**63, 2**63, 4]'
	run -3 recdump t.mp
}

@test "NaN in a tensor is refused when it is looked at" {
	make_stream t.mp 'records[1][1]["t"]["data"] = struct.pack("<6f", 0, 1, float("nan"), 3, 4, 5)'
	run -3 recdump t.mp
	[[ $output == *"not finite"* ]]
}

# tsv KEYS - the lines of the record 'odd' of good.mp
tsv() { recdump -k odd --tsv "$1" good.mp; }

@test "--tsv: values, elements, one line for each element" {
	make_stream good.mp 'records[1][1]["names"] = ["cpu:0,1", "b\\c"]; records[1][1]["map"] = {"in": {"x": 0.1, "a": [7, [8, 9]]}}'
	[ "$(tsv big,text,list,nothing,t)" = $'9223372036854775813\ta"\\n\t1,-2,,true,0.5\t\t0,1,2,3,4,5' ]
	[ "$(tsv 't[1],t[1][2],t[2],t[0][3],list[4],list[5],map.in.x,map.in.a[1][0]')" = $'3,4,5\t5\t\t\t0.5\t\t0.10000000000000001\t8' ]
	[ "$(tsv names)" = 'cpu:0\,1,b\\c' ]
	[ "$(tsv 'names[],t[],big')" = $'cpu:0,1\t0,1,2\t9223372036854775813\nb\\\\c\t3,4,5\t9223372036854775813' ]
	[ "$(tsv 'names[],t[0][]')" = $'cpu:0,1\t0\nb\\\\c\t1\n\t2' ]
	[ "$(tsv 'nothing[]')" = "" ]
	[ "$(recdump --tsv :kind,big good.mp | paste -sd '|')" = $'hdr\t|odd\t9223372036854775813|even\t|end\t' ]
	[ "$(recdump --tsv big good.mp | wc -l)" -eq 4 ]
	make_stream good.mp 'records[1][1]["text"] = "\t\r\x01\x7f\u00e9"'
	[ "$(tsv text)" = '\t\r\x01\x7f'$'\u00e9' ]
}

@test "--tsv: an index beyond all is no [], a matrix of empty rows has no lines, many elements take no time" {
	for at in 18446744073709551615 18446744073709551616 99999999999999999999999; do
		run -2 tsv "t[$at]"
		[ "$output" = "recdump: error: --tsv: 't[$at]': an index is too large" ]
	done
	[ "$(tsv 't[18446744073709551614],big')" = $'\t9223372036854775813' ]
	make_stream good.mp 'records[1][1]["t"] = {"dtype": "u8", "shape": [2**40, 0], "data": b""}'
	[ "$(timeout 10 recdump -k odd --tsv 't[],big' good.mp)" = "" ]
	[ "$(tsv 'list[],t[]' | wc -l)" -eq 5 ]
	make_stream good.mp 'records[1][1]["t"] = {"dtype": "f64", "shape": [300000], "data": bytes(2400000)}'
	[ "$(timeout 20 recdump -k odd --tsv 't[],t[]' good.mp | wc -l)" -eq 300000 ]
}

@test "--tsv: numbers are those of the JSON, and read back as they were" {
	make_stream good.mp '
m = records[1][1]
m["d"] = {"dtype": "f64", "shape": [4], "data": struct.pack("<4d", 0.1, 1e-300, -2.5, 3.0)}
m["u"] = {"dtype": "u64", "shape": [1], "data": struct.pack("<Q", 2**64 - 1)}'
	tsv d,u > d.tsv
	"$HSDAG_PYTHON" -c '
d, u = open("d.tsv").read().rstrip("\n").split("\t")
assert [float(x) for x in d.split(",")] == [0.1, 1e-300, -2.5, 3.0] and int(u) == 2**64 - 1, (d, u)'
}

@test "--tsv: what has no text form, and paths that are none, are refused" {
	make_stream good.mp 'records[1][1]["map"] = {"in": 1}; records[1][1]["bytes"] = b"x"; records[1][1]["maps"] = [{"a": 1}]'
	for path in map bytes maps; do
		run -3 tsv $path
		[[ $output == *"record 1 'odd': a map or bytes, which have no text form"* ]]
	done
	for path in "" a, ,a 'a[' 'a[x]' 'a[-1]' 'a[1' '[0]' 'a[][]' a..b 'a[1]bc' .a; do
		run -2 tsv "$path"
		[[ $output == "recdump: error: --tsv: "* ]]
	done
	run -2 recdump --full --tsv a good.mp
	make_stream t.mp 'records[1][1]["t"]["shape"] = [7]'
	run -3 recdump --tsv t t.mp
	[[ $output == *"its shape does not"* ]]
}

@test "usage errors are status 2, a missing file and a full disk status 1" {
	run -2 recdump --nonsense
	run -2 recdump a b
	run -1 recdump no-such-file
	run -1 bash -c 'recdump good.mp > /dev/full'
	run -1 recdump -o /dev/full good.mp
}

@test "whichever allocation fails, it is said and the status is 1" {
	for ((k = 1; k < 100; k++)); do
		run env HSDAG_FAIL_ALLOC=$k recdump good.mp
		[ "$status" -ne 0 ] || break
		[ "$status" -eq 1 ]
		[[ $output == *"out of memory"* ]]
	done
	[ $k -gt 2 ]
	[ $k -lt 100 ]
}

@test "the Python package reads and writes streams as recdump does, and runs programs" {
	run -0 env PYTHONPATH="$ROOT/share/python" PATH="$PATH:$ROOT/pipelines" "$HSDAG_PYTHON" "$ROOT/tests/tree/python_package.py"
}
