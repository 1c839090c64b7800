"""verdicts.py - what reports of races claim, on machines that are played (devsim --machine), whose truth is known.

    python tests/bench/verdicts.py [--trials N] [--first N] [--machine SPEC] [-j JOBS] [-v] [--rows FILE]

Each trial is one problem on one machine that is played: a model on two or three devices, some placements, a preset with noise,
load, drift, or a device that is far slower, and a race of 5 ms to 20 s.  Read is what a person reads, the report of placeout.
    contradicts   the verdict and the tables beside it do not say the same: another single device looks faster than the one that
                  is the reference; anything looks faster than what is the fastest or looked best; what is handed over without a
                  gain is not the best single device; a speed-up is not the quotient of its column; an interval of one burst
    gain          a placement is called faster than the best single device; wrong: in truth, when nothing disturbs, it is not
    alone         a single device is called the fastest; wrong: in truth something that ran is faster by more than a hundredth
    slower        what left the race as slower, so that others have its time; wrong: in truth it is faster than what was handed over.
                  Nothing says that this is sure: it is told, and fails nothing
Exit status 1: a contradiction, or more than one in a hundred of a kind of claim is wrong (beyond chance, where there are few)."""
import argparse, collections, concurrent.futures, json, math, os, random, re, shutil, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import stream

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MODELS = ["googlenet", "rnnlm", "mobilenet_v3_large"]
DEVICES = [("paper", "cpu,gpu"), ("desktop-cpu", "cpu:0,cpu:1"), ("paper", "cpu:0,cpu:1,gpu"),
           ("desktop-cpu,integrated-gpu", "cpu,igpu"), ("desktop-cpu,integrated-gpu,datacenter-gpu", "cpu,igpu,gpu")]
WRONG = 0.01


def sh(text, **words):
    p = subprocess.run(["bash", "-o", "pipefail", "-ec", text], env={**os.environ, **{k: str(v) for k, v in words.items()}},
                       capture_output=True, text=True)
    if p.returncode:
        sys.exit("verdicts.py: '%s' with %s: %s" % (text, words, p.stderr.strip()))
    return p.stdout


def make_problem(folder, i):
    """A stream with placements, and one of the single devices, for the truth of these."""
    model, (spec, devices) = MODELS[i % len(MODELS)], DEVICES[i // len(MODELS) % len(DEVICES)]
    path = os.path.join(folder, "%s-%s" % (model, devices.replace(":", "").replace(",", "-")))
    sh('ir2dag "$M" | devsim --probe --spec "$S" -D "$D" -o "$P.costs"; placebase single "$P.costs" -o "$P.singles";'
       '{ placebase single | placebase heft | placebase random -n 6 --seed 3; } < "$P.costs" > "$P.mp"',
       M=os.path.join(ROOT, "tests/models/%s.xml" % model), S=spec, D=devices, P=path)
    return path


def draw_trial(i, given=None):
    """The problem's number, the machine, unless it is given, and the seconds of trial i."""
    r = random.Random(i)
    spec = r.choice(["wild", "wild", "shared", "shared", "calm"])
    for key, p, values in [("noise", 0.4, [0.02, 0.2, 0.5]), ("drift", 0.3, [0, 0.1, 0.6]), ("drift_s", 0.3, [1, 5, 100]),
                           ("bursts", 0.3, [0, 0.05, 1, 3]), ("burst_s", 0.3, [0.05, 0.3, 5]), ("burst_slow", 0.3, [1.3, 6]),
                           ("device_error", 0.3, [0, 0.7]), ("cold", 0.2, [0, 0.5])]:
        if r.random() < p:
            spec += ",%s=%g" % (key, r.choice(values))
    race = round(10 ** r.uniform(math.log10(0.005), math.log10(20)), 4)
    return r.randrange(len(MODELS) * len(DEVICES)), "%s,seed=%d" % (given or spec, r.randrange(1, 10**6)), race


def truth_of(path, machine):
    """Undisturbed seconds of the placements and best records of a stream, and these."""
    with tempfile.NamedTemporaryFile() as f:
        sh('devsim --machine "$M" --truth "$IN" -o "$OUT"', M=machine, IN=path, OUT=f.name)
        records = stream.read(f.name)
    asked = [r for r in records if r[0] in ("place", "best")]
    told = [m for k, m in records if k == "run"][-len(asked):]
    return [m["lat_s"] if m["ok"] else math.inf for m in told], asked


def number(text):
    return float(text.rstrip("x")) if text != "-" else None


def read_tables(text):
    """{row: (latency in ms, interval or None, speed-up or None)} of the first table, and of the second."""
    first, second, at = {}, {}, 1
    for line in text.splitlines():
        at = 2 if line.startswith("raced ") else at
        m = re.match(r"(.*?) {2,}([0-9.]+) ms +(?:([0-9.]+) \.\. ([0-9.]+)|-) +([0-9.]+x|-)  ", line) if at == 1 else None
        if m:
            first[m[1]] = (float(m[2]), (float(m[3]), float(m[4])) if m[3] else None, number(m[5]))
        m = re.match(r"(.*?) {2,}(?:([0-9.]+) ms|-) +([0-9.]+) ms +([0-9.]+x|-) +(\d+) +(\d+)(  <)?$", line) if at == 2 else None
        if m:
            second[m[1]] = (float(m[3]), None, number(m[4]), int(m[6]), bool(m[7]))
    return first, second


def plain(label):
    """Whose row it is: a device or a source."""
    return "random" if re.match("best of .* random", label) else re.split(" alone|, best of", label)[0]


def contradictions(text):
    """What the verdict says that the tables do not."""
    first, second = read_tables(text)
    verdict = re.search(r"^verdict: (.*)$", text, re.M)[1]
    alone = {k[:-6]: v for k, v in list(second.items()) + list(first.items()) if k.endswith(" alone")}
    least = min((v[0] for v in alone.values()), default=math.inf)
    said, beyond = [], 1.0005 + 0.001 / max(least, 1e-3)
    gain = re.match(r"([0-9.]+) times as fast as (\S+) alone", verdict)
    if gain and alone[gain[2]][0] > least * beyond:
        said.append("%s is not the best single device" % gain[2])
    if gain and abs(alone[gain[2]][0] / first["this placement"][0] / float(gain[1]) - 1) > 0.002 + 0.002 / max(least, 1e-3):
        said.append("%s times, and the rows say %.3f" % (gain[1], alone[gain[2]][0] / first["this placement"][0]))
    if not gain and first["this placement"][0] > least * beyond:
        said.append("the single device that is handed over is not the best")
    rows = {**first, **second}
    rows.pop("this placement")
    looked = re.match(r"(?:cannot tell: )?(.*?)(?: or .*?)?(?: alone)? (?:is the fastest|looked best)", verdict)
    if looked:
        mine = min(v[0] for k, v in rows.items() if plain(k) == looked[1])
        said += ["%s looks faster than %s" % (k, looked[1]) for k, v in rows.items() if v[0] * beyond < mine]
    if "cannot tell" in verdict and "more runs would not change" in text:
        said.append("more runs would not change what cannot be told")
    unit = [v[0] for v in first.values() if v[2] == 1]
    for k, v in list(first.items()) + list(second.items()):
        if unit and v[2] and abs(unit[0] / v[0] - v[2]) > 0.0006 + v[2] * 0.0006 * (1 / unit[0] + 1 / v[0]):
            said.append("%s: %.3f is not %.3f / %.3f" % (k, v[2], unit[0], v[0]))
    for k, v in first.items():
        if k in second and second[k][3] < 2 and v[1]:
            said.append("%s has an interval, of one burst" % k)
    return said


def off(runs, ran, singles):
    """(placements whose true ratio to the reference is outside its interval, all that have one)"""
    ref = [singles[m["sample"]] for m in runs if m["source"] == "single" and m["ok"] and m.get("ratio") == 1]
    told = [(s / ref[0], m) for s, m in ran if s and m["source"] != "single" and m.get("ratio_lo", 0) > 0] if ref else []
    return sum(not m["ratio_lo"] <= s <= m["ratio_hi"] for s, m in told), len(told)


def judge(i, problems, given):
    which, machine, race = draw_trial(i, given)
    problem = problems[which]
    with tempfile.TemporaryDirectory() as folder:
        final = os.path.join(folder, "final")
        text = sh('devsim --machine "$M" --paired --candidates 20 --race "$R" "$P.mp" -o "$OUT"; placeout --format report "$OUT"',
                  M=machine, R=race, P=problem, OUT=final)
        times, asked = truth_of(final, machine)
        runs = stream.runs(final)
    singles, _ = truth_of(problem + ".singles", machine)
    best = next(m for k, m in asked if k == "best")
    handed = times[-1]
    verdict = re.search(r"^verdict: (.*)$", text, re.M)[1]
    kind = "gain" if re.match("[0-9.]+ times as fast", verdict) else "alone" if "is the fastest" in verdict else "undecided"
    place_s = {(m["source"], m["episode"], m["step"], m["sample"]): s for s, (k, m) in zip(times, asked) if k == "place"}
    ran = [(place_s.get((m["source"], m["episode"], m["step"], m["sample"]), None) if m["source"] != "single"
            else singles[m["sample"]], m) for m in runs if m["ok"]]
    # Single devices that are alike count as one: the best of them.
    named = min([handed] + [singles[m["sample"]] for m in runs if m["source"] == "single" and m["ok"] and m.get("ratio") == 1])
    wrong = kind == "gain" and handed >= min(singles) or kind == "alone" and any(s < named / 1.01 for s, m in ran if s)
    out = [(s, m) for s, m in ran if s and m.get("out")]
    keep = ("ratio", "ratio_lo", "ratio_hi", "race", "verdict")
    return {"trial": i, "problem": os.path.basename(problem), "machine": machine, "race": race, "kind": kind, "wrong": bool(wrong),
            "said": contradictions(text), "slower": len(out), "slower_wrong": sum(s < handed for s, m in out), "verdict": verdict,
            "off": off(runs, ran, singles), "final": {k: v for k, v in best.items() if k in keep}, "true": min(singles) / handed,
            "lost": handed / min([s for s, m in ran if s] + singles) - 1, "text": text}


def beyond_chance(wrong, n):
    """Is WRONG of n exceeded by more than chance would in one of a hundred campaigns?"""
    p, term = 0, (1 - WRONG) ** n
    for k in range(wrong):
        p += term
        term *= (n - k) / (k + 1) * WRONG / (1 - WRONG)
    return wrong > 0 and p > 0.99


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--trials", type=int, default=2000)
    a.add_argument("--first", type=int, default=1)
    a.add_argument("--machine", help="instead of one that is drawn; its seed is drawn")
    a.add_argument("-j", type=int, default=2)
    a.add_argument("-v", action="store_true", help="reports of what is wrong")
    a.add_argument("--rows")
    o = a.parse_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(o.j) as pool:
        problems = list(pool.map(lambda i: make_problem(folder, i), range(len(MODELS) * len(DEVICES))))
        rows = list(pool.map(lambda i: judge(i, problems, o.machine), range(o.first, o.first + o.trials)))
    for r in rows:
        if (r["said"] or r["wrong"]) and o.v:
            print("%(trial)d: %(problem)s %(machine)s --race %(race)g: %(said)s %(wrong)s, true %(true).3f\n%(text)s" % r)
    if o.rows:
        with open(o.rows, "w") as f:
            f.writelines(json.dumps({k: v for k, v in r.items() if k != "text"}) + "\n" for r in rows)
    bad = [r for r in rows if r["said"]]
    print("%d races, %d contradict their tables" % (len(rows), len(bad)), *[r["trial"] for r in bad[:20]])
    failed = bool(bad)
    for kind in ("gain", "alone", "undecided"):
        n = [r for r in rows if r["kind"] == kind]
        wrong = [r["trial"] for r in n if r["wrong"]]
        print("%s: %d, wrong %d%s" % (kind, len(n), len(wrong), " " + " ".join(map(str, wrong[:20]))))
        failed |= beyond_chance(len(wrong), len(n))
    n, wrong = sum(r["slower"] for r in rows), sum(r["slower_wrong"] for r in rows)
    print("slower: %d, wrong %d" % (n, wrong))
    print("ratios outside their intervals: %d of %d" % tuple(sum(r["off"][i] for r in rows) for i in (0, 1)))
    lost = sorted(r["lost"] for r in rows)
    print("behind the best that ran: mean %.2f %%, median %.2f %%, 95 %% %.1f %%" % (
        100 * sum(lost) / len(lost), 100 * lost[len(lost) // 2], 100 * lost[int(0.95 * len(lost))]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
