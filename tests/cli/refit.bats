#!/usr/bin/env bats
# devsim --refit: costs that fit what placements took, on machines that are played, whose truth is known.
# programs: devsim
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	ir2dag "$ROOT/tests/models/nmt2.xml" | devsim --probe --spec desktop-cpu -D cpu:0,cpu:1 > p.mp
	placebase heft p.mp | placebase variety -n 20 --evals 500 --seed 1 | placebase single > learn.mp
	placebase cluster --evals 500 p.mp | placebase variety -n 40 --evals 500 --seed 7 > judge.mp
	cat > fitted.py <<-'E'
		from stream import *
		import numpy as np

		cost = lambda f: [m for k, m in read(f) if k == "cost"][-1]
		times = lambda f: np.array([m["lat_s"] for k, m in read(f) if k == "run"])

		def with_costs(f, of, to):  # the stream f with the last costs and devices of another
		    last = {k: m for k, m in read(of) if k in ("devs", "cost")}
		    write(to, [(k, last.get(k, m)) for k, m in read(f)[:-1]])
	E
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

@test "what placements took changes costs and links to what they are" {
	for m in longer=0.3,slowdown=0.2,beside=0.1,link_error=1,seed=4 kind_error=0.3,handover=1e-4,seed=2; do
		devsim --machine $m learn.mp | devsim --refit > fit.mp
		devsim --machine $m --truth judge.mp > truth.mp
		devsim judge.mp > before.mp
		py '
			sys.path.insert(0, ".")
			from fitted import *
			with_costs("judge.mp", "fit.mp", "judge2.mp")
		'
		devsim judge2.mp > after.mp
		py '
			sys.path.insert(0, ".")
			from fitted import *
			t, a, b = (np.log(times(f)) for f in ("truth.mp", "before.mp", "after.mp"))
			off = lambda x: abs(x - t).mean()
			print(off(a), off(b))
			assert off(b) < 0.1 and off(b) < 0.1 * off(a), (off(a), off(b))
			rank = lambda x: np.corrcoef(x.argsort().argsort(), t.argsort().argsort())[0, 1]
			assert rank(b) > 0.98 and rank(b) >= rank(a), (rank(a), rank(b))
		'
	done
}

@test "the records pass; what is known already stays; draws are around it and follow the seed" {
	devsim --machine exact learn.mp > exact.mp
	devsim --refit -v exact.mp > fit.mp 2> note
	grep -q "23 runs, .*predictions off by 0.0 %, then by 0.0 %" note
	for i in 1 2 3; do devsim --refit --draw $i exact.mp > draw$i.mp; done
	devsim --refit --draw 2 exact.mp | cmp - draw2.mp
	devsim --refit --draw 2 --seed 2 exact.mp > other.mp
	py '
		sys.path.insert(0, ".")
		from fitted import *
		a, b = read("exact.mp"), read("fit.mp")
		assert [k for k, m in b] == [k for k, m in a[:-1]] + ["devs", "cost", "fit", "end"]
		p, f = array(cost("p.mp")["set_s"]), array(cost("fit.mp")["set_s"])
		runs = p > 0
		assert abs(np.log(f[runs] / p[runs])).max() < 0.01 and (f[~runs] == p[~runs]).all()
		d = [array(cost(g)["set_s"])[runs] for g in ("draw1.mp", "draw2.mp", "draw3.mp", "other.mp")]
		for i in range(4):
			e = np.log(d[i] / p[runs])
			level = np.log(d[i].sum() / p[runs].sum())
			assert 0.02 < e.std() < 0.2 and abs(level) < 0.05, (i, level, e.std())
			assert all(abs(np.log(d[i] / d[j])).max() > 0.05 for j in range(i))
		# The simulator takes all of them.
		with_costs("judge.mp", "draw1.mp", "drawn.mp")
	'
	devsim drawn.mp | recdump -k run | wc -l | grep -qx 41
	placebase heft draw3.mp | recdump --check -
}

@test "a disturbed run and runs of a race; single devices without a placement of their own" {
	devsim --machine longer=0.3 learn.mp > ran.mp
	devsim --machine longer=0.3 --paired --race 3 --candidates 100 learn.mp > raced.mp
	py '
		sys.path.insert(0, ".")
		from fitted import *
		r = read("ran.mp")[:-1]
		at = [i for i, (k, m) in enumerate(r) if k == "run"][3]
		for key in "lat_s", "lo_s", "hi_s":
			r[at][1][key] *= 5
		write("one.mp", r)
	'
	for f in ran one raced; do devsim --refit $f.mp > $f.fit.mp; done
	py '
		sys.path.insert(0, ".")
		from fitted import *
		p = array(cost("p.mp")["set_s"])
		runs = p > 0
		for f in "ran", "one", "raced":
			by = np.log(array(cost(f + ".fit.mp")["set_s"])[runs].sum() / p[runs].sum())
			assert abs(by - np.log(1.3)) < 0.05, (f, by)
	'
}

@test "what fits is found once: its record is taken while runs, placements and first costs are the same" {
	devsim --machine exact learn.mp > exact.mp
	py 'write("ran.mp", read("exact.mp"))'                  # as bytes that are written here
	devsim --refit ran.mp > fitted.mp
	for d in 0 2; do
		devsim --refit --draw $d ran.mp > "new$d.mp"
		devsim --refit --draw $d fitted.mp > "known$d.mp"
	done
	placebase single p.mp > few.mp
	devsim --fit ran.mp --draws 3 few.mp | recdump -k run > by-new
	devsim --fit fitted.mp --draws 3 few.mp | recdump -k run | cmp - by-new
	py '
		of = lambda f, kind: [m for k, m in read(f) if k == kind]
		for d in "02":
		    a, b = of("new%s.mp" % d, "cost"), of("known%s.mp" % d, "cost")
		    assert (array(a[-1]["set_s"]) == array(b[-1]["set_s"])).all()
		    assert len(of("known%s.mp" % d, "fit")) == 1
		fit = of("fitted.mp", "fit")[0]
		z, l = array(fit["z"]), array(fit["precision"])
		assert l.shape == (len(z), len(z)) and (abs(l[0, 1:]) == 0).all() and (l.diagonal() >= 1 - 1e-9).all(), l
		assert fit["cases"] == 23
		def changed(name, kind, change):  # the first record of this kind is another one
		    records, seen = read("fitted.mp"), []
		    write(name, [(k, change(m) if k == kind and not seen and not seen.append(1) else m) for k, m in records[:-1]])
		changed("same.mp", "fit", lambda m: m)
		changed("other.mp", "fit", lambda m: {**m, "z": tensor(z + 1)})
		changed("longer.mp", "run", lambda m: {**m, "lat_s": 1.5 * m["lat_s"], "lo_s": 1.5 * m["lo_s"], "hi_s": 1.5 * m["hi_s"]})
		changed("dearer.mp", "cost", lambda m: {**m, "set_s": tensor(2 * array(m["set_s"]))})
		changed("bad.mp", "fit", lambda m: {**m, "precision": tensor(-l)})
		changed("odd.mp", "fit", lambda m: {**m, "precision": tensor(l[:-1])})
	'
	for f in same other longer dearer; do
		devsim --refit $f.mp > by-$f.mp
	done
	py '
		of = lambda f, kind: [m for k, m in read(f) if k == kind]
		last = lambda f: array(of(f, "cost")[-1]["set_s"])
		assert (last("by-same.mp") == last("fitted.mp")).all() and (last("by-other.mp") != last("fitted.mp")).any()
		assert [len(of("by-%s.mp" % f, "fit")) for f in ("same", "other", "longer", "dearer")] == [1, 1, 2, 2]
	'
	for f in bad odd; do
		run -3 devsim --refit $f.mp
		[[ $output == *"fit: "* ]]
	done
}

@test "--fit: placements by costs that fit what those of another stream took, or by the mean over draws" {
	devsim --machine shared,seed=3 learn.mp > shared.mp
	placebase variety -n 6 --evals 100 p.mp | placebase single > few.mp
	for d in 0 1 2 3; do
		devsim --refit --draw $d shared.mp > draw.mp
		py '
			sys.path.insert(0, ".")
			from fitted import *
			with_costs("few.mp", "draw.mp", "by.mp")
		'
		devsim by.mp > by$d.mp
	done
	devsim --fit shared.mp few.mp > likely.mp
	devsim --fit shared.mp --order improved few.mp > improved.mp
	devsim --fit shared.mp --draws 1 few.mp > drawn.mp
	devsim --fit shared.mp --draws 3 few.mp > mean.mp
	devsim --fit shared.mp --draws 3 few.mp | topk -k 2 > top.mp
	py '
		sys.path.insert(0, ".")
		from fitted import *
		# But for orders: those of the costs that placements are planned by, which are not the fitted ones.  Single devices have one.
		assert np.allclose(times("likely.mp"), times("by0.mp"), rtol=0.05)
		for f, g in ("likely.mp", "by0.mp"), ("drawn.mp", "by1.mp"):
			one = [len(set(array(m["device"]).tolist())) == 1 for k, m in read(f) if k == "place"]
			assert sum(one) >= 2 and np.allclose(np.array(times(f))[one], np.array(times(g))[one], rtol=1e-9), (f, one)
		assert np.allclose(times("improved.mp"), times("by0.mp"), rtol=0.05)
		assert (np.array(times("improved.mp")) <= 1.02 * np.array(times("likely.mp"))).all()
		logs = np.log([times("by%d.mp" % d) for d in (1, 2, 3)])
		assert np.ptp(logs, axis=0).min() > 1e-4 and np.allclose(times("mean.mp"), np.exp(logs.mean(0)), rtol=0.05)
		low = [m["lo_s"] for k, m in read("mean.mp") if k == "run"]
		assert np.allclose(low, np.exp(logs.min(0)), rtol=0.05) and (np.array(low) < times("mean.mp")).all()
		top = [m["predicted_s"] for k, m in read("top.mp") if k == "place"]
		assert np.allclose(top, sorted(times("mean.mp"))[:2], rtol=1e-9), top
	'
	run -3 devsim --fit learn.mp few.mp
	[[ "$output" == "devsim: error: 'learn.mp': no placement in it has run"* ]]
	for options in "--draws 2" "--fit shared.mp --refit" "--fit shared.mp --noise 1" "--fit shared.mp --machine near"; do
		# shellcheck disable=SC2086
		run -2 devsim $options few.mp
	done
}

@test "--fit: cases and placements that a device cannot run are left out, and told" {
	devsim --machine shared,seed=3 learn.mp > shared.mp
	placebase variety -n 6 --evals 100 p.mp | placebase single > few.mp
	py '
		r = read("shared.mp")[:-1]
		for k, m in r:
			if k == "cost":
				s = array(m["set_s"]).copy()
				s[s[:, 1] > 0, 1] = [-1] + list(s[s[:, 1] > 0, 1][1:])
				bad = int((s[:, 1] < 0).argmax())
				m["set_s"] = tensor(s)
		write("cannot.mp", r)
		open("bad", "w").write(str(bad))
	'
	for order in rank improved; do
		devsim --refit --order $order cannot.mp > fit.mp
		devsim --fit cannot.mp --order $order few.mp > few.fit.mp
		py '
			bad = int(open("bad").read())
			at = [array(m["device"])[bad] for k, m in read("few.fit.mp") if k == "place"]
			ran = [m for k, m in read("few.fit.mp") if k == "run"]
			assert len(at) == len(ran) and 0 < sum(at) < len(at), at
			for d, m in zip(at, ran):
				assert m["ok"] == (d == 0) and (m["ok"] or "cannot run on cpu:1" in m["reason"]), (d, m)
		'
	done
}

@test "--predict: placements say what they should take, by costs that fit, beside the best single device" {
	ir2dag "$ROOT/tests/models/nmt2.xml" | devsim --probe --spec desktop-cpu,integrated-gpu > two.mp
	placebase single two.mp | placebase heft | placebase variety -n 20 --evals 200 --seed 1 > first.in.mp
	placebase variety -n 12 --evals 400 --seed 9 two.mp > other.mp
	for s in 1 2 3; do
		m=wild,seed=$s
		devsim --machine $m --paired --race 10 --candidates 100 first.in.mp > first.mp
		placebase single other.mp | devsim --fit first.mp --predict > predicted.mp
		placebase single other.mp | devsim --fit first.mp > simulated.mp
		placebase single other.mp | devsim --machine $m --truth > truth.mp
		placebase single other.mp | devsim > profile.mp
		py '
			sys.path.insert(0, ".")
			from fitted import *
			places = [m for k, m in read("predicted.mp") if k == "place"]
			told = np.array([m["predicted_s"] for m in places])
			assert not [k for k, m in read("predicted.mp") if k == "run"] and (told == times("simulated.mp")).all()
			single = np.array([m["source"] == "single" for m in places])
			truth, profile = times("truth.mp"), times("profile.mp")
			ref = np.argmin(np.where(single, truth, np.inf))
			fastest = np.argsort(np.where(single, np.inf, truth))[:8]
			off = lambda x: abs(np.log(x / x[ref]) - np.log(truth / truth[ref]))[fastest].mean()
			print(off(told), off(profile))
			with open("off.tsv", "a") as f:
				f.write("%g\t%g\n" % (off(told), off(profile)))
		'
	done
	py '
		t = np.loadtxt("off.tsv").mean(0)
		print(t)
		assert t[0] < 0.6 * t[1], t
	'
	# The report tells them beside the best single device, which takes what it took.
	devsim --machine wild,seed=3 --paired --race 10 --candidates 100 predicted.mp > raced.mp
	placeout --format report raced.mp > report
	py '
		import re
		r = [m for k, m in read("raced.mp") if k == "run" and m["ok"]]
		ref = [m for m in r if m["source"] == "single" and m["ratio"] == 1][0]
		rows = [l.split() for l in open("report") if re.search(" ms +[0-9.]+ ms ", l)]
		shown = {(float(x[-8 + ("<" not in x)]), float(x[-6 + ("<" not in x)])) for x in rows}
		want = {(round(1e3 * m["predicted_s"] / ref["predicted_s"] * ref["lat_s"], 3), round(1e3 * m["lat_s"], 3)) for m in r}
		assert len(shown) > 3 and shown <= want, (shown, want)
		line = [l for l in open("report") if l.startswith("predicted: ")][0]
		told = re.fullmatch(r"predicted: beside \S+ alone, which should have taken ([0-9.]+) ms; the (\d+) fastest are ([0-9.]+) % off\n", line)
		assert abs(float(told[1]) - 1e3 * ref["predicted_s"]) < 1e-3, line
		assert int(told[2]) == 10 and float(told[3]) < 40, line
	'
	run -2 devsim --predict first.mp
	[[ "$output" == *"--predict go with --fit"* ]]
}

@test "what cannot be fitted is refused" {
	run -3 devsim --refit learn.mp
	[[ "$output" == *"no placement of the input has run"* ]]
	devsim learn.mp > simulated.mp
	run -3 devsim --refit simulated.mp
	devsim --machine exact learn.mp > exact.mp
	mkdir broken
	: > broken/libopenblas.so.0
	LD_LIBRARY_PATH=broken run -1 devsim --refit exact.mp
	[[ "$output" == *"cannot load 'libopenblas.so.0' for linear algebra; install OpenBLAS"* ]]
	ir2dag "$ROOT/tests/models/nmt2.xml" > g.mp
	run -3 devsim --refit g.mp
	[[ "$output" == *"no costs and devices"* ]]
	for options in "--refit --probe" "--refit --machine near" "--draw 1" "--refit --spec desktop-cpu" "--refit --fixed"; do
		# shellcheck disable=SC2086
		run -2 devsim $options learn.mp
	done
}

@test "measure, refit, place, measure: the first costs stay the profile and the machine's" {
	m=kind_error=0.3,longer=0.2,seed=3
	devsim --machine $m learn.mp | devsim --refit > fit.mp
	# What is appended twice is the same; the machine is the one of the first costs.
	devsim --refit fit.mp > twice.mp
	placebase heft p.mp | devsim --machine $m --truth > heft.mp
	py '
		a = [m for k, m in read("twice.mp") if k == "cost"]
		assert len(a) == 3 and array(a[1]["set_s"]).tolist() == array(a[2]["set_s"]).tolist() != array(a[0]["set_s"]).tolist()
		heft = [m for k, m in read("heft.mp") if k == "place"][0]
		r = read("fit.mp")[:-1]
		write("known.mp", [x for x in r if x[0] not in ("place", "run")] + [("place", heft)])
	'
	devsim --machine $m --truth known.mp > known_truth.mp
	# A second measurement of all placements: the runs of both go with their placements.
	devsim --machine $m fit.mp | devsim --refit -v > again.mp 2> note
	grep -q " 23 runs, " note
	py '
		of = lambda f: [m for k, m in read(f) if k == "run"][-1]["lat_s"]
		assert of("heft.mp") == of("known_truth.mp")
		a, b = ([m for k, m in read(f) if k == "cost"][-1] for f in ("fit.mp", "again.mp"))
		assert abs(np.log(array(a["set_s"]).sum() / array(b["set_s"]).sum())) < 0.01
	'
}
