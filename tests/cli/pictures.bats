#!/usr/bin/env bats
# What placeout draws for a terminal: the timeline of a run, and placements beside each other.
# programs: placeout placebase
# seconds: 8
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	# a computes until 5 s, b until 4 s; what b made is on a 2 s later, and the rest takes a 5 s.
	cat > known.json <<-'J'
		{"name": "known", "devices": [{"name": "a"}, {"name": "b"}],
		 "links": [{"src": "*", "dst": "*", "latency_s": 1, "bytes_per_s": 1e6}],
		 "nodes": [{"id": 1, "name": "one", "cost_s": {"a": 2, "b": 9}}, {"id": 2, "name": "two", "cost_s": {"a": 3, "b": 9}},
		           {"id": 3, "name": "far", "cost_s": {"a": 9, "b": 4}}, {"id": 4, "name": "end", "cost_s": {"a": 5, "b": 9}}],
		 "edges": [{"src": 1, "dst": 2, "bytes": 0}, {"src": 3, "dst": 4, "bytes": 1000000}, {"src": 2, "dst": 4, "bytes": 0}]}
	J
	json2dag known.json > known.mp
	echo '{"one": "a", "two": "a", "far": "b", "end": "a"}' > known.placement
	placebase single known.mp | placebase expert:known.placement | devsim --schedule > run.mp
	cat > on_screen.py <<-'PY'
		"""on_screen.py COLUMNS COMMAND...: what it writes on a terminal so wide."""
		import fcntl, os, pty, struct, sys, termios, time
		pid, fd = pty.fork()
		if pid == 0:
		    while struct.unpack("HHHH", fcntl.ioctl(1, termios.TIOCGWINSZ, b"\0" * 8))[1] != int(sys.argv[1]):
		        time.sleep(0.01)
		    os.execvp(sys.argv[2], sys.argv[2:])
		fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, int(sys.argv[1]), 0, 0))
		text = b""
		try:
		    while more := os.read(fd, 4096):
		        text += more
		except OSError:
		    pass
		os.waitpid(pid, 0)
		sys.stdout.write(text.decode().replace("\r\n", "\n"))
	PY
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	unset COLUMNS NO_COLOR
	export LC_ALL=C TERM=xterm
}

# The columns of a row, from standard input.
bar() { sed -n "s/^$1 *[0-9]* %  \\([^ ]*\\) .*/\\1/p"; }

@test "a timeline has every second in its place" {
	COLUMNS=62 placeout --format timeline run.mp > picture
	cat picture
	# 38 columns for the 19 s that a alone takes: two for each second.
	[ "$(bar a < picture)" = "##########..##########................" ]
	[ "$(bar b < picture)" = "########.............................." ]
	[ "$(bar 'b > a' < picture)" = "........####.........................." ]
	head -n 1 picture | grep -qxF 'known, placed by expert: 11.00 s, simulated'
	grep -qxF '1.727 times as fast as the best single device' picture
	grep -q '^a  *91 % .* 11\.00 s$' picture     # 10 of 11 seconds
	grep -q '^b  *36 % .* 4\.000 s$' picture
	grep -q '^b > a  *18 % .* 1\.00 MB$' picture
	# Marks stand under their seconds: the first column is the 14th.
	grep -q "^ \{$((13 + 22))\}^ done: 11.00 s\$" picture
	grep -q 'a alone: 19.00 s \^$' picture
	grep -q 'bound: no placement before 11.00 s' picture
	grep -qF '(2 on 2 devices); . idle' picture
}

@test "names too long for a picture are cut, those of links at both ends" {
	sed 's/"name": "a"/"name": "première machine, with cores"/; s/"name": "b"/"name": "second machine, far away"/; s/"a":/"première machine, with cores":/g; s/"b":/"second machine, far away":/g' \
		known.json > long.json
	json2dag long.json | placebase heft | devsim --schedule | placeout --format timeline > picture
	cat picture
	grep -q '^premi.*re machine, \.\.  91 %  ' picture
	grep -q '^second\.\. > premi.*\.\.  *18 %' picture
	[ "$(LC_ALL=C.UTF-8 wc -L < picture)" -le 80 ]
}

@test "its width is COLUMNS, else the terminal's, else 80" {
	width() { awk 'length > m { m = length } END { print m }'; }
	[ "$(COLUMNS=120 placeout --format timeline run.mp | width)" -eq 120 ]
	[ "$(placeout --format timeline run.mp | width)" -eq 80 ]
	[ "$(COLUMNS=3 placeout --format timeline run.mp | bar b | width)" -ge 15 ]
	[ "$("$HSDAG_PYTHON" on_screen.py 97 env NO_COLOR=1 "$B/bin/placeout" --format timeline run.mp | width)" -eq 97 ]
}

@test "colours are on a terminal alone, and not with NO_COLOR; block characters with UTF-8" {
	local colour=$'\e\\[[0-9;]*m'
	"$HSDAG_PYTHON" on_screen.py 80 "$B/bin/placeout" --format timeline run.mp | grep -q "$colour"
	run "$HSDAG_PYTHON" on_screen.py 80 env NO_COLOR=1 "$B/bin/placeout" --format timeline run.mp
	[[ "$output" == *"11.00 s"* && "$output" != *$'\e'* ]]
	run "$HSDAG_PYTHON" on_screen.py 80 env TERM=dumb "$B/bin/placeout" --format timeline run.mp
	[[ "$output" == *"11.00 s"* && "$output" != *$'\e'* ]]
	run "$HSDAG_PYTHON" on_screen.py 80 "$B/bin/placeout" --color never --format compare run.mp
	[[ "$output" == *"11.000"* && "$output" != *$'\e'* ]]
	placeout --format timeline run.mp > bare
	run -1 grep "$colour" bare
	placeout --color always --format timeline run.mp > coloured
	grep -q "$colour" coloured
	# Without its colours it is the same but for the letters of segments.
	sed "s/$colour//g" coloured | tr '=-' '#+' | head -n 6 > plain
	tr '=-' '#+' < bare | head -n 6 | cmp - plain
	LC_ALL=C run -1 grep '[^ -~]' bare
	LC_ALL=C.UTF-8 placeout --format timeline run.mp | grep -q '██.*··'
}

@test "names do not steer the terminal, colours or not" {
	py '
		r = read("run.mp")[:-1]
		for kind, m in r:
		    for key in ("devices", "names"):
		        if isinstance(m.get(key), list) and "a" in m[key]:
		            m[key] = [n + "\x1b[31m\x1b]0;x\x07\n" for n in m[key]]
		    if kind == "graph":
		        m["name"] = "known\x1b[41m"
		    if isinstance(m.get("source"), str) and m["source"] != "single":
		        m["source"] = "mine\x1b[2J\n\t|"
		write("odd.mp", r)
	'
	for f in timeline compare compare-tsv compare-md; do
		placeout --color always --format $f odd.mp > odd
		sed $'s/\e\\[\\(0\\|1\\|4\\|[39][0-9]\\|1;32\\)m//g' odd > rest
		LC_ALL=C run -1 grep -nP '[\x00-\x08\x0b-\x1f\x7f]' rest
		run -1 grep -F $'\e[41m' odd
	done
	placeout --format compare-tsv odd.mp | awk -F '\t' 'NF != 9 { exit 1 }'
	placeout --format compare-md odd.mp | sed 's/\\|//g' | awk -F '|' 'NF != 6 { exit 1 }'
}

@test "no run has a schedule: status 3, and what tells it" {
	placebase heft known.mp | devsim > plain.mp
	run -3 placeout --format timeline plain.mp
	[[ "$output" == *"no run with a schedule; devrun --schedule and devsim --schedule tell it"* ]]
}

@test "several methods: each as if it were alone, with the seconds that it took" {
	placebase heft,anneal,single --evals 300 known.mp > list.mp
	for m in heft anneal single; do placebase $m --evals 300 known.mp > $m.mp; done
	py '
		got = of("list.mp", "place")
		assert [p["source"] for p in got] == ["heft", "anneal", "single", "single"], got
		for p in got:
		    alone = [q for q in of(p["source"] + ".mp", "place") if p["source"] != "single" or q["sample"] == p["sample"]][0]
		    assert list(array(p["device"])) == list(array(alone["device"])) and p["predicted_s"] == alone["predicted_s"]
		    assert p["took_s"] >= 0 and "took_s" not in alone
	'
	placebase heft,anneal --no-took --evals 300 known.mp -o one.mp
	placebase heft,anneal --no-took --evals 300 known.mp -o two.mp
	sed 's/one.mp/two.mp/' one.mp | cmp - two.mp || { recdump -k place one.mp > a; recdump -k place two.mp | cmp - a; }
	# Nothing of one of them, as the better bound of an exact answer, reaches the next.
	json2dag "$ROOT/tests/instances/topcuoglu2002.json" > ten.mp
	placebase exact,portfolio,heft --evals 300 ten.mp > list.mp
	placebase heft ten.mp > heft.mp
	py '
		last, alone = of("list.mp", "place")[-1], first(read("heft.mp"), "place")
		assert last["source"] == "heft" and last["bound_s"] == alone["bound_s"], (last["source"], last["bound_s"], alone["bound_s"])
	'
	# What one of them cannot do is left out; what is wrong is not.
	run -0 --separate-stderr bash -c 'placebase spine,heft known.mp | recdump -k place --tsv source'
	[ "$output" = heft ]
	[[ "$stderr" == "placebase: warning: spine: left out: "* ]]
	run -2 bash -c 'placebase spine,spine known.mp > none.mp'
	run -2 placebase heft,nosuch known.mp
	run -1 bash -c 'placebase expert:no,file.json,heft known.mp > none.mp'
	[[ "$output" == *"no,file.json"* ]]
	cp known.placement 'with,comma.json'
	placebase heft,expert:with,comma.json,climb --evals 10 known.mp | recdump -k place --tsv source | xargs > sources
	[ "$(< sources)" = "heft expert climb" ]
}

@test "compare: sorted, with the bound, the best single device, and what cannot run" {
	placebase random,heft -n 3 known.mp | placebase single | devsim > all.mp
	placeout --format compare-tsv all.mp > table.tsv
	py '
		import csv
		rows = list(csv.DictReader(open("table.tsv"), delimiter="\t"))
		assert len(rows) == 6, rows
		lat = [float(r["latency_s"]) for r in rows]
		assert lat == sorted(lat) and lat[0] == 11
		by = {r["method"]: r for r in rows}
		assert float(by["heft"]["speedup"]) == 1.72727273 and float(by["heft"]["of_bound"]) == 1
		assert float(by["b alone"]["latency_s"]) == 31 and float(by["b alone"]["of_bound"]) == 2.81818182
		assert by["heft"]["seconds"] and not by["a alone"]["seconds"]
	'
	placeout --format compare all.mp > table
	cat table
	head -n 1 table | grep -qxF 'known on a, b, simulated'
	grep -q '^method  *latency s  *x bound  *speedup  *found in s$' table
	grep -q '^(lower bound)  *11\.000  *1\.000  *1\.727  *-$' table
	grep -q '^a alone  *19\.000  *1\.727  *1\.000  *-$' table
	# All columns but the first end alike.
	[ "$(tail -n +3 table | awk '{ print length }' | sort -u | wc -l)" -eq 1 ]
	placeout --format compare-md all.mp > table.md
	[ "$(sed -n 2p table.md)" = "|---|---:|---:|---:|---:|" ]
	[ "$(wc -l < table.md)" -eq 9 ]
	# Without runs of single devices there is a row for the best.
	placebase heft known.mp | devsim | placeout --format compare | grep -q '^(best single device)  *19\.000  *1\.727  *1\.000$'
	# Too little memory.
	sed 's/{"name": "b"}/{"name": "b", "mem_bytes": 1}/; s/"name": "far",/"name": "far", "mem_bytes": 9,/' known.json > tight.json
	json2dag tight.json | placebase single,heft | devsim > tight.mp
	placeout --format compare tight.mp | tail -n 1 | grep -q '^b alone  *-  *-  *-  .*needs 1000009 bytes on b, which has 1$'
	# Another objective than the latency sorts and is what ratios are of.
	placebase heft,anneal --objective throughput known.mp | devsim --objective throughput | placeout --format compare-tsv > period.tsv
	py '
		import csv
		rows = list(csv.DictReader(open("period.tsv"), delimiter="\t"))
		assert float(rows[0]["value"]) <= float(rows[1]["value"])
		assert all(float(r["of_bound"]) >= 1 - 1e-6 for r in rows)
	'
}

@test "compare: measured placements have intervals" {
	ir2dag "$ROOT/tests/models/small_summator.xml" | devrun probe --profile --max-seconds 0.05 -D cpu:0,cpu:1 > costs.mp
	placebase heft,anneal --evals 20 costs.mp | devrun paired --max-seconds 0.02 > paired.mp
	placeout --format compare paired.mp > table
	cat table
	head -n 1 table | grep -q ', measured$'
	grep -q '95 % interval' table
	[ "$(grep -c '^\(heft\|anneal\|cpu:0 alone\|cpu:1 alone\) .* \.\. ' table)" -eq 4 ]
}

@test "advice: what an answer means, in a sentence" {
	advice() {   # advice EXPRESSION...: of final.mp with other keys
		py "
			r = read('paired.mp')
			b = [m for k, m in r if k == 'best'][-1]
			n = len(array(b['device']))
			b.update(dict(reference='cpu:0', lat_s=1e-3, ref_s=2e-3, ratio=0.5, ratio_lo=0.4, ratio_hi=0.625, load=None))
			b.pop('load'), b.pop('verdict', None)
			half = tensor(np.array([int(s >= n // 2) for s in range(n)], np.uint16))
			one = tensor(np.array([0] * n, np.uint16))
			b['device'] = half
			$1
			write('final.mp', r[:-1])
		"
		placeout --format advice "${@:2}" final.mp
	}
	ir2dag "$ROOT/tests/models/small_summator.xml" | devrun probe --profile --max-seconds 0.02 -D cpu:0,cpu:1 |
		placebase heft | devrun paired --max-seconds 0.02 > paired.mp
	[ "$(advice pass)" = "Use this placement: it is 2.00 times as fast as cpu:0 alone (at least 1.60 times)." ]
	[ "$(advice pass --map cpu:0=CPU)" = "Use this placement: it is 2.00 times as fast as CPU alone (at least 1.60 times)." ]
	[ "$(advice "b['ratio_hi'] = 1.1")" = "Use cpu:0 alone, or this placement: the measurements cannot tell which is faster." ]
	[ "$(advice "b['ratio_lo'], b['ratio'], b['ratio_hi'] = 1.1, 1.2, 1.3")" = "Use cpu:0 alone: this placement is slower." ]
	[ "$(advice "b['device'] = one")" = "Use cpu:0 alone: no placement that was tried is faster." ]
	[ "$(advice "b['device'] = one; b['verdict'] = {'says': 'undecided'}")" = "Use cpu:0 alone: no placement was faster beyond what the measurements can tell." ]
	[ "$(advice "b['reference'] = ''")" = "Use this placement: no device alone can run the model." ]
	# Of a simulation.
	[ "$(placeout --format advice run.mp)" = "Use this placement, by simulation: it is 1.73 times as fast as the best single device." ]
	placebase single:a known.mp | devsim > a.mp
	[ "$(placeout --format advice a.mp)" = "Use the best single device, by simulation: this placement is not faster." ]
	placebase heft known.mp > unmeasured.mp
	[[ "$(placeout --format advice unmeasured.mp)" == "This placement was not compared with single devices: devrun paired tells "* ]]
}

@test "the report's table goes without its last columns where the screen is narrow" {
	[ -f paired.mp ] || ir2dag "$ROOT/tests/models/small_summator.xml" | devrun probe --profile --max-seconds 0.02 -D cpu:0,cpu:1 |
		placebase heft | devrun paired --max-seconds 0.02 > paired.mp
	placeout --format report paired.mp > wide
	grep -q 'latency .* copies  copied MB        MSE     cosine$' wide
	COLUMNS=80 placeout --format report paired.mp > narrow
	grep -q 'latency .* speedup  groups  copies$' narrow
	grep -q '^copies: [0-9]*, [0-9.]* MB$' narrow
	[ "$(sed '/^\(verdict\|load\): /d' narrow | awk 'length > m { m = length } END { print m }')" -le 80 ]
	COLUMNS=65 placeout --format report paired.mp | grep -q 'latency .* interval   speedup$'
	placeout --format report -o file paired.mp
	cmp wide file
}
