#!/usr/bin/env bats
# No text that a program prints, wherever it comes from, steers a terminal.
# programs: placeout recdump runstat tabstat devsim devrun placebase topk reinforce gpnembed placepolicy dagfeat daggroup json2dag ir2dag dagpin
# seconds: 15
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	ir2dag "$ROOT/tests/models/lstm_stateful.xml" | dagfeat | devsim --probe -D cpu,gpu -o devs.mp
	gpnembed --steps 2 devs.mp -o part.mp
	placepolicy -a part.mp | devsim --schedule -o ran.mp
	reinforce ran.mp -o best.mp
	placebase random -n 4 devs.mp | devsim --machine wild,seed=3 --paired --race 0.2 -o paired.mp
	cat > control.py <<-'PY'
		"""control.py STREAM PROGRAM...: some texts of the stream get control characters, one after another, and all names
		together; what the program writes to standard error has none, nor, unless -b, what it writes to standard output."""
		import random, re, subprocess, sys
		from stream import *
		binary = sys.argv[1] == "-b"
		name, command = sys.argv[1 + binary], sys.argv[2 + binary:]
		ODD = "\x1b[31m\x07\x9b1m\x7f\n\tX"
		RAW = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
		recs = read(name)[:-1]

		def texts(v, out):
		    for k, x in v.items() if isinstance(v, dict) else enumerate(v) if isinstance(v, list) else ():
		        if isinstance(x, str):
		            out.append((v, k))
		        texts(x, out)
		    return out

		def trial(what):
		    write("odd.mp", recs)
		    p = subprocess.run(command + ["odd.mp"], capture_output=True)
		    text = p.stderr + (b"" if binary else p.stdout)
		    text.decode()
		    bad = RAW.search(text)
		    if p.returncode not in (0, 1, 2, 3) or bad:
		        sys.exit("%s: status %d, %r" % (what, p.returncode, text[max(0, bad.start() - 80):][:160] if bad else text))
		    return p

		sites = [s for r in recs for s in texts(r[1], [])]
		seen = set()
		for v, k in random.Random(7).sample(sites, min(len(sites), 35)):
		    old = v[k]
		    if (k if isinstance(k, str) else "", old) in seen:
		        continue
		    seen.add((k if isinstance(k, str) else "", old))
		    v[k] = old + ODD
		    trial(old)
		    v[k] = old
		# What names something, everywhere: such a stream is valid.
		names = set()
		for r in recs:
		    if r[0] == "params":
		        continue
		    names |= {x for key in ("node_name", "names", "devices") if isinstance(r[1].get(key), list)
		              for x in r[1][key] if isinstance(x, str)}
		    names |= {r[1][key] for key in ("name", "source") if isinstance(r[1].get(key), str)}
		names.discard("single")
		for v, k in [s for r in recs if r[0] != "params" for s in texts(r[1], [])]:
		    if v[k] in names:
		        v[k] += ODD
		p = trial("all names")
		print(p.returncode, len(seen))
		if p.returncode:
		    sys.exit("all names: %r" % p.stderr)
	PY
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

control() { "$HSDAG_PYTHON" control.py "$@" || { echo "$*"; return 1; }; }

@test "what placeout writes has no control characters" {
	for f in report table tsv affinity html check; do
		control best.mp placeout --format $f
		control paired.mp placeout --format $f
	done
	control ran.mp placeout --format trace
}

@test "nor what recdump, runstat and tabstat write" {
	control best.mp recdump
	control best.mp recdump --full
	control best.mp recdump -k place --tsv 'names[],source'
	control paired.mp tabstat rounds
	control ran.mp tabstat found
	control ran.mp runstat runs
}

@test "nor what filters say" {
	control -b devs.mp placebase -v heft
	control -b devs.mp gpnembed -v
	control -b devs.mp daggroup -v chunks
	control -b devs.mp dagpin -v --keep '*'
	control -b part.mp placepolicy -v -a
	control -b ran.mp topk -v -k 1
	control -b ran.mp devsim -v
	control -b ran.mp reinforce -vv
}

@test "names of devices and a source do not break a line of the report" {
	py '
		r = read("best.mp")[:-1]
		for kind, m in r:
		    for key in ("devices", "names"):
		        if isinstance(m.get(key), list) and "gpu" in m[key]:
		            m[key] = [n + "\nverdict: gpu\x1b[8m" for n in m[key]]
		    if isinstance(m.get("source"), str):
		        m["source"] = "mine\nverdict: 9 times as fast"
		write("lines.mp", r)
	'
	for f in report table check; do
		run placeout --format $f lines.mp
		! grep -q '^verdict: \(gpu\|9\)' <<< "$output" || { echo "$output"; return 1; }
	done
	placeout --format report lines.mp | grep -qF 'found by: mine\nverdict: 9 times as fast'
}

@test "a cost graph whose names steer: json2dag and all behind it" {
	echo '{"devices": [{"name": "a\u001b]0;x\u0007"}, {"name": "b"}], "nodes": [{"id": 1, "name": "x\u0007", "cost_s": 1}]}' > odd.json
	json2dag -v odd.json 2> said | placebase -v heft 2>> said | devsim -v 2>> said > odd.mp
	for f in report table check affinity tsv html; do
		placeout --format $f odd.mp >> said 2>&1
	done
	LC_ALL=C run -1 grep -nP '[\x00-\x08\x0b-\x1f\x7f]' said
	placeout --format report odd.mp | grep -qF 'a\x1b]0;x\x07'
}

@test "bytes that are no UTF-8: a stream is refused, a file name and a table are escaped" {
	py '
		b = open("best.mp", "rb").read()
		open("bytes.mp", "wb").write(b.replace(b"gpu", b"g\xff\x1b"))
	'
	run -3 placeout bytes.mp
	[[ $output == *"is not UTF-8"* ]]
	printf 'model\tmethod\tseed\tevaluation\tseconds\tlatency\tbest\na\xff\x1b[1m\tm\x07\t1\t1\t0.1\t2\t2\n' > odd.tsv
	tabstat curves odd.tsv > table
	tabstat plot --title $'t\x1b' table > page.svg
	LC_ALL=C run -1 grep -nP '[\x00-\x08\x0b-\x1f\x7f\x80-\xff]' table page.svg
}
