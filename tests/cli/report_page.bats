#!/usr/bin/env bats
# placeout --format html: what the page says, that it loads nothing, and that a browser draws it.
# programs: placeout devrun
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	py '
		import random
		random.seed(3)
		def problem(n):
			nodes = [{"id": i, "name": f"layer{i // 40}/<b>&\"</script><!--x-->{i}", "type": "ABC"[i % 3], "cost_s": random.uniform(1e-6, 1e-4),
			          "out_bytes": 1000} for i in range(n)]
			edges = [{"src": i - 40 + j, "dst": i} for i in range(40, n) for j in (0, -7) if i - 40 + j >= 0]
			json.dump({"devices": [{"name": f"dev<{d}>", "mem_bytes": 10**9} for d in range(3)], "nodes": nodes, "edges": edges,
			           "links": [{"src": "*", "dst": "*", "latency_s": 1e-6, "bytes_per_s": 1e9}]}, open(f"{n}.json", "w"))
		problem(30)
		problem(30000)
	'
	for n in 30 30000; do
		json2dag $n.json | placebase heft | devsim --schedule -o $n.mp
		placeout --format html $n.mp -o $n.html
	done
	models mobilenet_v3_large
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# page FILE - reads a page: its tables, its data, every attribute that could load something
page() {
	cat > page.py <<-'PY'
		import html.parser, json, re
		class Page(html.parser.HTMLParser):
		    EMPTY = {"meta", "br", "link", "img", "input", "hr", "rect", "path"}
		    def __init__(self, path):
		        super().__init__()
		        self.open, self.text, self.ids, self.loads, self.tables, self.data = [], {}, set(), [], {}, ""
		        self.feed(open(path, encoding="utf-8").read())
		        assert not self.open, self.open
		    def handle_starttag(self, tag, attributes):
		        a = dict(attributes)
		        self.ids.add(a.get("id"))
		        self.loads += [v for k, v in attributes if k in ("src", "href", "action", "data") or "url(" in (v or "")]
		        if tag == "table": self.table = self.tables.setdefault(a["id"], [])
		        if tag == "tr": self.table.append([])
		        if tag in ("td", "th"): self.table[-1].append("")
		        if tag not in self.EMPTY: self.open.append((tag, a.get("id")))
		    def handle_startendtag(self, tag, attributes): pass
		    def handle_endtag(self, tag):
		        assert self.open.pop()[0] == tag, (tag, self.getpos())
		    def handle_data(self, text):
		        if not self.open: return
		        tag, name = self.open[-1]
		        if any(t in ("td", "th") for t, _ in self.open): self.table[-1][-1] += text
		        if name == "data": self.data += text
		        self.text[tag] = self.text.get(tag, "") + text
		def seconds(s):     # as the page says times below a minute
		    size, unit = next(u for u in ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")) if s >= 0.99995 * u[0])
		    x = s / size
		    return f"{x:.{3 if x < 9.9995 else 2 if x < 99.995 else 1 if x < 999.95 else 0}f} {unit}"
	PY
}

@test "the page: text, tables, data; hostile names stay text; nothing is loaded" {
	page
	py '
		import re
		from page import Page, seconds
		for n in 30, 30000:
			p = Page(f"{n}.html")
			assert not p.loads and "http" not in open(f"{n}.html").read().replace("http-equiv", "")
			assert {"compared", "timeline", "graph", "memory", "chain", "data"} <= p.ids
			assert "curve" not in p.ids and p.text["title"] == f"{n}.json: placement" and p.text["h1"] == f"{n}.json"
			d = json.loads(p.data)
			assert len(d["nodes"]["name"]) == n and d["nodes"]["name"][7].endswith("<b>&\"</script><!--x-->7")
			assert d["devices"] == ["dev<0>", "dev<1>", "dev<2>"]
			assert len(d["schedule"]["start"]) == n and all(0 <= i < n for i in d["edges"])
			g = first(read(f"{n}.mp"), "graph")
			assert len(d["edges"]) == 2 * len(g["in_node"]["data"]) // 4
			run = runs(f"{n}.mp")[-1]
			assert len(d["schedule"]["copies"]["from"]) == run["copies"]
			assert [r[0] for r in p.tables["chain"][1:]] == ["json2dag", "placebase", "devsim"]
			assert [r[0] for r in p.tables["memory"][1:]] == ["dev<0>", "dev<1>", "dev<2>"]
			kb = array(run["mem_bytes"])[1] / 1e3
			assert seconds(kb).replace(" s", " kB") + " of 1.000 GB" == p.tables["memory"][2][1], p.tables["memory"]
			# A simulation has no interval.
			assert p.tables["compared"][0][:3] == ["placement", "latency, simulated", "speed-up"], p.tables["compared"]
			assert p.tables["compared"][1][1] == seconds(run["lat_s"]), p.tables["compared"]
			assert not re.search("<path", re.search("<table id=.compared.*?</table>", open(f"{n}.html").read(), re.S)[0])
			assert d["named"] and d["others"] == [] and np.allclose(d["cost"][1], 1e6 * array(first(read(f"{n}.mp"), "cost")["set_s"])[:, 1], atol=1e-3)
			# No circle between segments: numbers of segments only grow along edges.
			s = d["nodes"]["segment"]
			assert all(s[a] <= s[b] for a, b in zip(d["edges"][::2], d["edges"][1::2]))
	'
}

@test "--curve: what the search ran when is data of the page; another table is refused" {
	printf '%s\n' $'model\tmethod\tseed\tevaluation\tseconds\tlatency\tbest' $'m\td\t1\t1\t0.5\t0.02\t0.02' \
		$'m\td\t1\t2\t1.5\t\t0.02' $'m\td\t1\t3\t11\t0.008\t0.008' > curves.tsv
	placeout --format html --curve curves.tsv 30.mp > curve.html
	page
	py '
		from page import Page
		assert json.loads(Page("curve.html").data)["runs"] == {"at": [500000, 11000000], "time": [20000, 8000]}
		assert json.loads(Page("30.html").data)["runs"] == {"at": [], "time": []}
	'
	printf 'a\tb\n1\t2\n' > other.tsv
	run -3 --separate-stderr placeout --format html --curve other.tsv 30.mp
	[[ $stderr == "placeout: error: --curve: no columns 'seconds' and 'latency' in it" ]]
}

@test "a browser draws it without errors, 30 and 30,000 operations" {
	browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
		skip "no Chromium; make test installs Debian's"
	draw() {
		timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$PWD/profile" \
			--hide-scrollbars --window-size=1200,1400 "$@" 2> browser.log
	}
	draw --dump-dom "file://$PWD/30.html" > 30.dom
	draw --dump-dom "file://$PWD/30000.html" > 30000.dom
	placeout --format html --curve curves.tsv 30.mp > curve.html
	draw --dump-dom "file://$PWD/curve.html" | grep -q 'data-errors="" data-drawn="[^"]* curve=2"'
	draw --screenshot="$PWD/30.png" "file://$PWD/30.html"
	py '
		import re, zlib
		for n in 30, 30000:
			top = re.search("<html[^>]*>", open(f"{n}.dom").read())[0]
			assert "data-errors=\"\"" in top and "data-ready=\"yes\"" in top, top
			drawn = dict(x.split("=") for x in re.search("data-drawn=\"([^\"]*)\"", top)[1].split())
			copies = runs(f"{n}.mp")[-1]["copies"]
			assert drawn["timeline"] == f"{n},{copies}" and drawn["curve"] == "none", drawn
			items = [int(x) for x in drawn["graph"].split(",")]
			assert items[0] == items[1] > 3 and items[1] <= n, items
		# The picture: colours of all three devices cover some of it.
		b, i, rows = open("30.png", "rb").read(), 8, b""
		while i < len(b):
			size, kind = int.from_bytes(b[i:i + 4], "big"), b[i + 4:i + 8]
			if kind == b"IHDR": w, h, depth, colours = int.from_bytes(b[i + 8:i + 12], "big"), int.from_bytes(b[i + 12:i + 16], "big"), b[i + 16], b[i + 17]
			if kind == b"IDAT": rows += b[i + 8:i + 8 + size]
			i += size + 12
		assert depth == 8 and colours in (2, 6)
		k, data, line, count = {2: 3, 6: 4}[colours], zlib.decompress(rows), bytearray(w * {2: 3, 6: 4}[colours]), {}
		for y in range(h):
			kind, new = data[y * (len(line) + 1)], bytearray(data[y * (len(line) + 1) + 1:(y + 1) * (len(line) + 1)])
			for x in range(len(new)):
				left, up, corner = new[x - k] if x >= k else 0, line[x], line[x - k] if x >= k else 0
				p = left + up - corner
				nearest = min((abs(p - left), 0, left), (abs(p - up), 1, up), (abs(p - corner), 2, corner))[2]
				new[x] = (new[x] + (0, left, up, (left + up) // 2, nearest)[kind]) & 255
			line = new
			for x in range(0, len(new), k):
				c = bytes(new[x:x + 3])
				count[c] = count.get(c, 0) + 1
		for colour in "0072b2", "e69f00", "009e73":
			assert count.get(bytes.fromhex(colour), 0) > 2000, (colour, count.get(bytes.fromhex(colour)))
	'
}

@test "devrun --schedule: sets and copies of a measured run; final.mp has a timeline" {
	two_cores
	devrun probe -D cpu:0,cpu:1 mobilenet_v3_large.mp | placebase random -n 2 --draw uniform -o place.mp
	devrun --schedule -n 5 -o run.mp place.mp
	# No verdict between placements: the first that runs is the answer.
	devrun paired --schedule --choose first --max-seconds 0.1 -o final.mp place.mp
	py '
		r = read("run.mp")
		places = [m for k, m in r if k == "place"]
		best = [m for k, m in read("final.mp") if k == "best"][-1]
		assert array(best["mem_bytes"]).min() > 0
		for p, m in list(zip(places, runs("run.mp"))) + [(best, best)]:
			s, on = m["schedule"], array(p["device"])
			start, end, sets = array(s["start_s"]), array(s["end_s"]), array(s["set"])
			assert (end >= start).all() and start.min() >= 0
			# It is of one inference: a set runs once; a device does one thing at a time.
			assert len(set(sets)) == len(sets) > 100, (len(set(sets)), len(sets))
			for d in 0, 1:
				mine = np.argsort(start[on[sets] == d], kind="stable")
				assert (start[on[sets] == d][mine][1:] >= end[on[sets] == d][mine][:-1] - 1e-9).all()
			assert len(array(s["copy_set"])) == m["copies"] > 10
			assert int(array(s["copy_bytes"]).sum()) == m["copy_bytes"]
			assert (on[array(s["copy_set"])] == array(s["copy_src"])).all()
			assert (array(s["copy_dst"]) != array(s["copy_src"])).all()
	'
	placeout --format trace final.mp > t.json
	placeout --format html final.mp > t.html
	page
	py '
		from page import Page
		import trace_rules
		assert trace_rules.problems("t.json") == []
		x = json.load(open("t.json"))["traceEvents"]
		best = [m for k, m in read("final.mp") if k == "best"][-1]
		bars = [e for e in x if e["ph"] == "X"]
		flow = {ph: {e["id"]: e for e in x if e["ph"] == ph} for ph in "sf"}
		assert set(flow["s"]) == set(flow["f"]) and len(flow["s"]) >= 0.9 * best["copies"]
		inside = lambda e: any(b["tid"] == e["tid"] and b["ts"] - 1e-3 <= e["ts"] <= b["ts"] + b["dur"] + 1e-3 for b in bars)
		for i, e in flow["s"].items():
			f = flow["f"][i]
			assert e["tid"] != f["tid"] and e["ts"] <= f["ts"] + 1e-3 and inside(e) and inside(f)
		p = Page("t.html")
		d = json.loads(p.data)
		rows = p.tables["compared"]
		assert {"cpu:0 alone", "cpu:1 alone"} <= {r[0].replace(" (the answer)", "") for r in rows}
		assert [i for i, r in enumerate(rows) if "(the answer)" in r[0]] == [1] and len(d["schedule"]["copies"]["from"]) == best["copies"]
	'
	run -2 --separate-stderr devrun --schedule --rounds 3 place.mp
	[[ $stderr == *"--schedule does not go with --rounds"* ]]
}

@test "one table, one reference: of a final answer only what was compared with it has a speedup" {
	py '
		r = read("30.mp")[:-1]
		p, run = first(r, "place"), runs("30.mp")[0]
		def timed(source, sample, **more): return ["run", {**run, "source": source, "sample": sample, "ref_s": 0.5, **more}]
		best = {**p, "rank": 0, "n_groups": 1, "lat_s": 0.1, "ref_s": 0.2, "final": True, "reference": p["devices"][0], "ratio": 0.5,
		        "ratio_lo": 0.4, "ratio_hi": 0.6, "n_pairs": 20, "lo_s": 0.1, "hi_s": 0.1, "copies": 1, "copy_bytes": 1, "not_compared": ""}
		old = [timed("random", 0, lat_s=0.3)]
		told = dict(ratio=1.0, ratio_lo=1.0, ratio_hi=1.0)
		write("old.mp", r + old + [timed("single", 0, lat_s=0.2, **told), ["best", best]])
		drawn = dict(ratio=0.7, ratio_lo=0.6, ratio_hi=0.8)
		write("new.mp", r + old + [timed("single", 0, lat_s=0.25, **told), timed("random", 3, lat_s=0.4, **drawn), ["best", best]])
	'
	page
	run -0 placeout --format report old.mp
	[[ $output =~ 'random  '+' 300.000 ms'[^x]*' -  ' && $output =~ 'this placement'[^x]*'2.000x' ]]
	run -0 placeout --format report --random old.mp new.mp
	[[ $output =~ 'best of 1 random'[^x]*'400.000 ms'[^x]*'1.429x' ]]
	# Where no single device can run, nothing has a ratio, and all that raced is told.
	py '
		from page import Page
		r = read("30.mp")[:-1]
		p, run = first(r, "place"), runs("30.mp")[0]
		def raced(source, lat, **more):
			return ["run", {**run, "source": source, "lat_s": lat, "ref_s": 0.0, "bursts": 3, "clean": 3, "start": True, "out": False, **more}]
		lacks = [["run", {"graph": run["graph"], "episode": 0, "step": 0, "sample": i, "source": "single", "ok": False, "reason": "too small"}]
		         for i in range(3)]
		best = {**p, "rank": 0, "n_groups": 1, "lat_s": 0.1, "ref_s": 0.0, "final": True, "reference": "", "ratio": 1.0,
		        "ratio_lo": 1.0, "ratio_hi": 1.0, "n_pairs": 3, "lo_s": 0.1, "hi_s": 0.1, "copies": 1, "copy_bytes": 1, "not_compared": ""}
		early = [raced("early", 0.7), ["best", best]]
		write("held.mp", r + early + lacks + [raced("heft", 0.1, copies=1), raced("cluster", 0.3), raced("random", 0.4), ["best", {**best, "source": "heft"}]])
		assert os.system("placeout --format html held.mp -o held.html") == 0
		rows = Page("held.html").tables["compared"][1:]
		assert [t[0] for t in rows] == ["HEFT on measured costs (the answer)"] + [f"dev<{i}> alone" for i in range(3)] + ["cluster", "random placement"], rows
	'
}

@test "of two races the report tells whether the machine has changed between them" {
	py '
		r = read("30.mp")[:-1]
		p, run = first(r, "place"), runs("30.mp")[0]
		facts = dict(blocks=9, disturbed=0, seconds=1.0, noise=0.01, drift=0.02, settled=True)
		best = {**p, "rank": 0, "n_groups": 1, "lat_s": 0.1, "ref_s": 0.1, "final": True, "reference": p["devices"][0], "ratio": 0.5,
		        "ratio_lo": 0.4, "ratio_hi": 0.6, "n_pairs": 20, "lo_s": 0.1, "hi_s": 0.1, "copies": 1, "copy_bytes": 1, "not_compared": "", "race": facts}
		def race(*ratios, single=()):
			one = lambda source, sample, x: ["run", {**run, "source": source, "sample": sample, "lat_s": x / 10, "ref_s": 0.1, "ratio": x, "ratio_lo": x * 0.99,
			                                         "ratio_hi": x * 1.01, "bursts": 9, "clean": 9, "start": source == "single", "out": False}]
			return [one("single", 0, 1.0)] + [one("single", 1 + i, x) for i, x in enumerate(single)] + [one("random", i, x) for i, x in enumerate(ratios)] + [["best", best]]
		before = race(1.1, 1.2, 1.3, 1.9)
		write("changed.mp", r + before + race(0.88, 0.96, 1.03, 1.9))
		write("as_ever.mp", r + before + race(1.12, 1.18, 1.35, 1.2))
		write("few.mp", r + before + race(0.88, 0.96))
		write("first.mp", r + before)
		write("apart.mp", r + race(1.1, 1.2, 1.3, single=(1.75,)) + race(1.1, 1.2, 1.3, single=(1.4,)))
		write("nearer.mp", r + before + race(1.375, 1.5, 1.6, 2.4))
	'
	run -0 placeout --format report changed.mp
	[[ $output == *"the machine changed: beside most of 4 placements, "*" alone takes 25 % longer than in an earlier race"* ]]
	run -0 placeout --format report nearer.mp
	[[ $output == *"the machine changed: beside most of 4 placements, "*" alone takes 20 % less than in an earlier race"* ]]
	run -0 placeout --format report apart.mp
	[[ $output == *"the machine changed: beside dev<1> alone, dev<0> alone takes 25 % longer than in an earlier race"* ]]
	for f in as_ever few first; do
		run -0 placeout --format report $f.mp
		[[ $output == *"race: 1.0 s, 9 blocks"* && $output != *"the machine changed"* ]]
	done
}

@test "the page's table: a row for each device, the answer's among them, whiskers where there is an interval, quotients or what they are" {
	ir2dag "$ROOT/tests/models/googlenet.xml" | devsim --probe --spec paper | placebase random -n 4 -o few.mp
	devsim --machine wild,seed=1,noise=0.5 --paired --race 0.01 few.mp -o short.mp
	devsim --machine wild,seed=1 --paired few.mp -o pairs.mp
	page
	py '
		import re
		from page import Page
		r = read("short.mp")
		single = [m for k, m in r if k == "run" and m["source"] == "single"]
		for m in single:
			m.update(lat_s=0.004, lo_s=0.0, hi_s=1.0, ratio=1.0, ratio_lo=1.0, ratio_hi=1.0)
		write("alike.mp", r)
		for name in "alike", "pairs":
			assert os.system(f"placeout --format html {name}.mp -o {name}.html") == 0
		rows = Page("alike.html").tables["compared"][1:]
		assert sorted(x[0].replace(" (the answer)", "") for x in rows) == ["cpu alone", "gpu alone"], rows
		assert sum("(the answer)" in x[0] for x in rows) == 1, rows
		bars = re.findall("<svg class=.bar.[^>]*>.*?</svg>", open("alike.html").read())
		assert not any("<path" in b for b in bars), bars
		text = open("pairs.html").read()
		assert "<dt>speed-up</dt><dd>the median of pairs of a round, not the quotient of two rows</dd>" in text
		one = os.popen("ir2dag $ROOT/tests/models/googlenet.xml | devsim --probe -D cpu | placebase single |"
		               " devsim --machine wild,seed=3 --paired --race 0.5 | placeout --format report").read()
		assert " 0 of them disturbed; how much bursts vary cannot be told\n" in one, one
		assert "<dt>speed-up" not in open("alike.html").read() and text.count("<path") > 3
	'
}

@test "columns of another objective; memory bars on one scale; one row for a device that is the answer, and no verdict against it" {
	ir2dag "$ROOT/tests/models/googlenet.xml" | devsim --probe --spec desktop-cpu,datacenter-gpu -o costs.mp
	placebase single costs.mp | placebase -n 2 random | placebase heft | devsim --schedule -o some.mp
	placebase single costs.mp | placebase heft | devsim --objective energy -o values.mp
	placeout --format html --objective energy --values values.mp -o energy.html some.mp
	placebase single costs.mp | devsim --schedule | placeout --format html -o single.html
	page
	py '
		import re
		from page import Page, seconds
		p = Page("energy.html")
		rows, ran = p.tables["compared"], runs("values.mp")
		assert rows[0][3:5] == ["energy", "gain"], rows[0]
		best = min(r["value"] for r in ran if r["source"] == "single")
		by = {r[0]: r for r in rows}
		assert rows[1][0] == "HEFT on measured costs (the answer)" and len(rows) == 5
		joules, name = lambda r: "%.4g J" % r["value"], lambda d: first(read("costs.mp"), "devs")["names"][d] + " alone"
		assert by[rows[1][0]][3:5] == [joules(ran[-1]), "%.3f" % (best / ran[-1]["value"])], by
		for d, r in enumerate(r for r in ran if r["source"] == "single"):
			assert by[name(d)][3] == joules(r), by
		assert "curve" not in p.ids and p.text["h1"] == "googlenet.xml"
		# Widths are to each other as bytes are.
		nodes = [{"id": i, "cost_s": 1, "mem_bytes": 200000} for i in range(4)]
		json.dump({"devices": [{"name": "a", "mem_bytes": 10**6}, {"name": "b", "mem_bytes": 4 * 10**6}], "nodes": nodes, "edges": [], "links": []}, open("mem.json", "w"))
		assert os.system("json2dag mem.json | placebase heft | devsim -o mem.mp && placeout --format html -o mem.html mem.mp") == 0
		memory = re.search("<table id=.memory.*?</table>", open("mem.html").read(), re.S)[0]
		limit, used = ([float(w) for w in re.findall(f"class=.{c}.[^>]* width=.([0-9.]+)", memory)] for c in ("limit", "device"))
		peak = array(runs("mem.mp")[-1]["mem_bytes"])
		assert limit == [50, 200] and np.allclose(used, peak / 20000, atol=0.01) and min(used) > 15, (limit, used, peak)
		p = Page("single.html")
		single = p.tables["compared"][1:]
		assert len(single) == 2 and "(the answer)" in single[0][0] and " alone" in single[0][0], single
		speed = float(single[0][2])
		verdict = re.search("<p class=.verdict.>(.*?)</p>", open("single.html").read())[1]
		assert (speed >= 0.9995) == ("slower than" not in verdict), (speed, verdict)
	'
}

@test "other placements of the stream or of --beside, on the same devices, are shown with their schedules; twelve at most" {
	placebase single 30.mp | placebase -n 20 random | devsim --schedule -o others.mp
	placeout --format html others.mp > others.html
	placeout --format html --beside others.mp 30.mp > beside.html
	page
	py '
		from page import Page
		d = json.loads(Page("others.html").data)
		ran = [m for m in runs("others.mp")]
		assert len(d["others"]) in (11, 12), len(d["others"])
		assert all(len(o["device"]) == 30 and o["simulated"] for o in d["others"])
		fastest = sorted({r["lat_s"] for r in ran})[:12]     # the last one is the answer
		told = [round(o["time"], 3) for o in d["others"]]
		assert set(told) <= {round(t * 1e6, 3) for t in fastest}, (told, fastest)
		b = json.loads(Page("beside.html").data)
		labels = [o["label"] for o in b["others"]]
		assert len(labels) == 11 and b["left_out"] == d["left_out"] + 1 > 10 and d["schedule"] != b["schedule"], labels
		for o in b["others"]:
			assert len(o["schedule"]["start"]) == 30 and max(o["schedule"]["end"]) - o["time"] < 1e-2
			assert o["schedule"]["device"] == [o["device"][i] for i in o["schedule"]["node"]]
	'
	placebase heft "$BATS_FILE_TMPDIR/costs.mp" 2> /dev/null | devsim --schedule -o google.mp || skip "the test before has failed"
	run -3 --separate-stderr placeout --format html --beside google.mp 30.mp
	[[ $stderr == "placeout: error: --beside: it is about another graph" ]]
}

@test "in Chromium: nothing is wider than the screen, letters have contrast, labels do not collide, all by keyboard, white paper" {
	placeout --format html --beside others.mp --curve curves.tsv 30.mp > all.html
	run "$HSDAG_PYTHON" "$ROOT/tests/support/page_checks.py" all.html energy.html t.html
	[ "$status" -ne 77 ] || skip "no Chromium; make test installs Debian's"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "pictures as files: every step and operation once, hostile names as text, boxes and labels that do not lie over each other" {
	for n in 30 30000; do
		placeout --format timeline-svg $n.mp > t$n.svg
		placeout --format graph-svg $n.mp > g$n.svg
	done
	py '
		import xml.etree.ElementTree as ET
		from itertools import combinations
		S = "{http://www.w3.org/2000/svg}"
		def boxes(root):
			return [[float(r.get(k)) for k in ("x", "y", "width", "height")] for r in root.iter(S + "rect") if r.get("x")]
		t, g = ET.parse("t30.svg").getroot(), ET.parse("g30.svg").getroot()
		d = read("30.mp")
		s = runs("30.mp")[-1]["schedule"]
		assert len(boxes(t)) == 30 and len(boxes(g)) == 30 + 3, (len(boxes(t)), len(boxes(g)))     # three keys
		for root in t, g:
			assert sum("</script><!--x-->7" in (x.text or "") for x in root.iter(S + "title")) == 1
			for a, b in combinations(boxes(root), 2):
				assert a[0] + a[2] <= b[0] + 0.01 or b[0] + b[2] <= a[0] + 0.01 or a[1] + a[3] <= b[1] + 0.01 or b[1] + b[3] <= a[1] + 0.01, (a, b)
			w, h = float(root.get("width")), float(root.get("height"))
			assert all(0 <= x and x + dx <= w and 0 <= y and y + dy <= h for x, y, dx, dy in boxes(root))
		# To scale: widths are to each other as times are.
		wide = sorted(b[2] + 0.5 for b in boxes(t))
		took = sorted(array(s["end_s"]) - array(s["start_s"]))
		assert np.allclose(np.array(wide) / wide[-1], np.array(took) / took[-1], atol=0.005)
		big = ET.parse("g30000.svg").getroot()
		assert 3 < len(boxes(big)) < 40000 and os.path.getsize("t30000.svg") < 3e6
	'
	run -3 --separate-stderr placeout --format timeline-svg <(json2dag 30.json | placebase heft)
	[[ $stderr == *"no run with a schedule; devrun --schedule and devsim --schedule tell it"* ]]
}

@test "operations in parts: columns as wide as the work, divided as the devices compute it; none without parts" {
	models googlenet
	printf 'device a flops 2e11 bandwidth 2e10 overhead 2e-6\ndevice b flops 1e11 bandwidth 2e10 overhead 2e-6\nlink * * latency 1e-5 bandwidth 1e10\n' > two.spec
	dagsplit --shares 3,1 --axes channels --no-auto googlenet.mp | devsim --probe --spec two.spec | placebase parts | devsim | placeout --format html -o parts.html
	page parts.html '
		import re
		source = open("parts.html").read()
		svg = source[source.index("<svg id=\"parts\""):]
		svg = svg[:svg.index("</svg>")]
		columns = re.findall(r"<g><title>(.*?)</title>(.*?)</g>", svg, re.S)
		assert len(columns) > 40
		end = 0
		for title, rects in columns:
			r = [{k: float(v) for k, v in re.findall(r"([a-z-]+)=\"([0-9.]+)\"", t)} for t in re.findall("<rect[^>]*>", rects)]
			assert abs(sum(x["height"] for x in r) - 120) < 0.1 and len({x["x"] for x in r}) == 1 and r[0]["x"] >= end - 0.02
			end = r[0]["x"] + r[0]["width"]
			if "(Convolution)" in title:
				assert title.endswith(": 75 % on a, 25 % on b"), title
				assert [x["data-device"] for x in r] == [0, 1] and abs(r[0]["height"] - 90) < 1
		assert 900 < end <= 1000
		keys = re.search(r"<p class=\"keys\">(.*?)</p>", source, re.S)[1]
		assert re.sub("<[^>]*>", "", keys).split() == ["a", "75", "%", "b", "25", "%"], keys
	'
	devsim --probe --spec two.spec googlenet.mp | placebase heft | devsim | placeout --format html -o whole.html
	run ! grep -q 'id="parts' whole.html
	dagsplit googlenet.mp | devsim --probe --spec two.spec | placebase single:a | devsim | placeout --format html -o one.html
	run ! grep -q 'id="parts' one.html
}
