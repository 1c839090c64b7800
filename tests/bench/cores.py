"""cores.py - what `place` hands over on this machine's devices, beside HEFT alone and the portfolio alone.

    python tests/bench/cores.py -m MODEL.xml... [-D DEVICES] [--budgets 15,40] [--times 5] [--judge S] [--cache DIR]
                           [--table FILE] [--rows FILE]

One trial: `place MODEL --budget S`, with another seed each time; then, on the costs that it has measured, HEFT and
`placebase portfolio` (3 s) are placed as somebody would who does without the rest.  These, what place handed over, and up to
seven more that it had raced, the best predicted, run in one race of --judge seconds (devrun paired --race), which nothing leaves as a winner:
all ratios are to the best single device in the same blocks.

A row is a model and a budget: geometric means over its trials, with Student's 95 % intervals where there are two or more.
    speedup         the best single device over what was handed over; likewise of HEFT and of the portfolio
    devices         the best single device over each single device, in their order: so what is handed over beside any of them
    over HEFT       how much less time than HEFT it takes, %: measured, and predicted as it was handed over
    behind          trials in which it takes longer than HEFT, or the portfolio, by more than both intervals allow
    predicted       mean of |log(predicted / measured)| over what was judged, %, both beside the best single device, as speed-ups
                    are: by the profile, as handed over (by costs that fit place's first race, where there was one), and the
                    same when all are longer alike; in seconds, as handed over
    then, later     of those that place's last race had measured, %: predicted, as handed over, over what that race says, which is
                    of the same minute; and that race over this judgement, as a machine changes from one to the other
    rank            mean rank correlation of predicted and measured times over what was judged; with predictions of the same
                    whole percent as equal; and of this judgement with another one like it, as far as its intervals tell: more
                    than that no prediction can have, and where all take as long it is little
    bound           the bound of the sets' times (placebase's bound_s) over the measured time, %: both beside the best single
                    device, as predictions are; and in seconds, which cores that are faster when they are profiled than later make less

Behind the table are the goals: in how many trials what was handed over takes longer than HEFT, the portfolio, or anything else that was
judged, by more than both intervals allow (one of 50 at most); and of each model, over all its trials, the largest speed-up less the
least, over the median (below 5 %).

First all models and budgets have one trial, then a second one: --table and --rows are of what is there after each, so that
the whole may end at any time and goes on when it is started again.  A trial is kept in --cache by model, devices, budget,
number and the programs that made it, or --key in their place."""
import argparse, hashlib, json, os, shutil, subprocess, sys, tempfile, time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import stream

PROGRAMS = ["ir2dag", "placebase", "devrun", "reinforce", "placepolicy"]
MORE = 7  # of what place raced, beside the three
DRAWS = 200     # of two judgements
ANOTHER = 0.02  # share of the sets in which a placement is another one
T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]


def shell(text, **words):
    p = subprocess.run(["bash", "-o", "pipefail", "-ec", text], env={**os.environ, **words}, capture_output=True, text=True)
    if p.returncode:
        sys.exit("cores.py: '%s': %s" % (text, p.stderr.strip().splitlines()[-1:]))


PLACE_KEYS = ("graph", "episode", "step", "sample", "source", "devices", "device")


def candidates(folder):
    """Place records: what was handed over, HEFT, the portfolio, and the best predicted of the others that were raced, but for
    those that are nearly one of these before: single sets moved say the same ten times."""
    at = lambda name: os.path.join(folder, name + ".mp")
    final = [m for m in stream.of(at("final"), "best") if m.get("final")][-1]
    some = stream.of(at("alone"), "place")
    out = [{k: m[k] for k in PLACE_KEYS if k in m} for m in (final, some[0], some[1])]
    names = ["handed", "heft", "portfolio"]
    key = lambda m: (m["episode"], m["step"], m["sample"], m["source"])
    raced = {key(m): m.get("ratio") for m in stream.of(at("final"), "run") if m["source"] != "single"}
    runs = (stream.array(stream.of(at("input"), "cost")[-1]["set_s"]) > 0).any(axis=1)
    seen = [stream.array(m["device"])[runs] for m in out]
    both = stream.of(at("final"), "place") + stream.of(at("final"), "best")
    for m in sorted(both, key=lambda m: m.get("predicted_s", np.inf)):
        on = stream.array(m["device"])[runs]
        if key(m) in raced and len(set(on.tolist())) > 1 and len(out) < 3 + MORE and \
           all((on != x).mean() >= ANOTHER for x in seen):
            seen.append(on)
            out.append({k: m[k] for k in PLACE_KEYS if k in m})
            names.append("raced")
    then = [raced.get(key(m)) if name != "heft" and name != "portfolio" else None for name, m in zip(names, out)]
    for i, m in enumerate(out):
        m.update(episode=0, step=0, sample=i, source=names[i])
    return names, then, out


def trial(model, devices, budget, number, o):
    with tempfile.TemporaryDirectory() as d:
        words = dict(M=model, D=devices, B="%g" % budget, S=str(number), O=d, J="%g" % o.judge)
        began = time.monotonic()
        at = lambda name: os.path.join(d, name + ".mp")
        shell('place "$M" -D "$D" --budget "$B" --seed "$S" -o "$O"', **words)
        took = time.monotonic() - began
        shell('placebase heft "$O/input.mp" | placebase portfolio --budget 3 -o "$O/alone.mp"', **words)
        names, then, places = candidates(d)
        stream.write(os.path.join(d, "some.mp"), stream.read(os.path.join(d, "input.mp")) + [["place", m] for m in places])
        shell('placebase single "$O/some.mp" -o "$O/all.mp"', **words)
        shell('devsim "$O/all.mp" -o "$O/predicted.mp"', **words)
        if os.path.exists(at("first")):
            shell('devsim --fit "$O/first.mp" "$O/all.mp" -o "$O/told.mp"', **words)
        else:
            shutil.copy(at("predicted"), at("told"))
        shell('devrun paired --placements --candidates 100 --race "$J" --starts 3 "$O/some.mp" -o "$O/judged.mp"', **words)
        predicted, told = ([m.get("lat_s", np.nan) for m in stream.of(at(name), "run")] for name in ("predicted", "told"))
        last = [m for m in stream.of(at("judged"), "best") if m.get("final")][-1]
        reference = len(names) + last["devices"].index(last["reference"])
        runs = [m for m in stream.of(at("judged"), "run") if m["source"] != "single" and m["source"] in names]
        alone = {m["sample"]: m["ratio"] for m in stream.of(at("judged"), "run") if m["source"] == "single" and m.get("ratio")}
        bounds = [m.get("bound_s", 0) for m in stream.of(at("alone"), "place")]
        return {"took_s": took, "bound_s": max(bounds), "names": names, "then": then, "predicted_s": predicted, "told_s": told,
                "reference": reference, "single": [alone.get(i) for i in range(len(last["devices"]))],
                "measured": [{k: m.get(k) for k in ("lat_s", "lo_s", "hi_s", "ratio", "ratio_lo", "ratio_hi", "ref_s")}
                             if m["ok"] else None for m in runs]}


# ---- tables ----

def mean(x):
    """Mean, low, high: by Student."""
    x = np.asarray(x, float)
    half = T95[min(len(x) - 2, len(T95) - 1)] * x.std(ddof=1) / np.sqrt(len(x)) if len(x) > 1 else np.nan
    return x.mean(), x.mean() - half, x.mean() + half


def show(x, scale):
    m, lo, hi = (scale(v) for v in x)
    return "%.3g" % m if np.isnan(lo) else "%.3g (%.3g .. %.3g)" % (m, min(lo, hi), max(lo, hi))


def ranks(x):
    """From 0; equal ones have the mean of theirs."""
    x = np.asarray(x)
    return np.array([(x < v).sum() + ((x == v).sum() - 1) / 2 for v in x])


def correlation(x, y):
    """Of ranks; not a number for few, or where all are equal."""
    a, b = ranks(x), ranks(y)
    return np.corrcoef(a, b)[0, 1] if len(x) > 3 and a.std() > 0 and b.std() > 0 else np.nan


def again(measured):
    """The rank correlation of two judgements of what was judged, by its intervals: mean of draws."""
    known = [x for x in measured if x and x.get("ratio")]
    at = np.log([x["ratio"] for x in known])
    sd = np.array([np.log(x["ratio_hi"] / x["ratio_lo"]) / (2 * 1.96) if x["ratio_lo"] > 0 else 0 for x in known])
    rng = np.random.default_rng(1)
    r = [correlation(at + sd * rng.standard_normal(len(at)), at + sd * rng.standard_normal(len(at))) for _ in range(DRAWS)]
    return np.nanmean(r) if len(at) > 3 else np.nan


def figures(t):
    """Of a trial."""
    m, p = t["measured"], t["predicted_s"]
    r = [x["ratio"] for x in m[:3]]
    both = [(a, x["ratio"] * x["ref_s"]) for a, x in zip(p, m) if x and x.get("ratio")]
    beside = lambda s: np.log([a / s[t["reference"]] / x["ratio"] for a, x in zip(s, m) if x and x.get("ratio")])
    off, told = beside(p), beside(t["told_s"])
    seconds = np.log([a / x["ratio"] / x["ref_s"] for a, x in zip(t["told_s"], m) if x and x.get("ratio")])
    bound = t["bound_s"] / p[t["reference"]]
    told_s = [a for a, x in zip(t["told_s"], m) if x and x.get("ratio")]
    then = np.log([[a, s / t["told_s"][t["reference"]], x["ratio"]] for a, s, x in zip(t.get("then", []), t["told_s"], m)
                   if a and x and x.get("ratio")] or [[np.nan] * 3])
    behind = lambda i: m[0]["ratio_lo"] > m[i]["ratio_hi"]
    return {"handed": -np.log(r[0]), "heft": -np.log(r[1]), "portfolio": -np.log(r[2]), "gain": np.log(r[1] / r[0]),
            "promised": np.log(t["told_s"][1] / t["told_s"][0]), "behind_heft": behind(1), "behind_portfolio": behind(2), "off": abs(off).mean(),
            "off_told": abs(told).mean(), "off_alike": abs(told - np.median(told)).mean(), "off_s": abs(seconds).mean(),
            "off_then": abs(then[:, 1] - then[:, 0]).mean(), "off_later": abs(then[:, 0] - then[:, 2]).mean(), "bound": np.log(bound / r[0]), "bound_s": np.log(t["bound_s"] / both[0][1]),
            "rank": correlation(told_s, [b for a, b in both]),
            "rank_again": again(m), "rank_percent": correlation(np.round(100 * np.log(told_s)), [b for a, b in both]),
            "took": t["took_s"], "single": [np.nan if r is None else -np.log(r) for r in t["single"]]}


def row(model, budget, trials):
    f = [figures(t) for t in trials]
    col = lambda name: mean([x[name] for x in f])
    times, less, share = np.exp, lambda v: 100 * (1 - np.exp(-v)), lambda v: 100 * np.exp(v)
    known = lambda name: [x[name] for x in f if not np.isnan(x[name])]
    rank = lambda name: "%.2f" % np.mean(known(name)) if known(name) else "-"
    return [model, "%g" % budget, str(len(f)), show(col("handed"), times), show(col("heft"), times), show(col("portfolio"), times),
            ", ".join("%.2f" % x for x in np.exp(np.mean([x["single"] for x in f], axis=0))),
            show(col("gain"), less), show(col("promised"), less),
            "%d, %d" % (sum(x["behind_heft"] for x in f), sum(x["behind_portfolio"] for x in f)),
            "%.1f, %.1f, %.1f, %.1f" % tuple(100 * col(x)[0] for x in ("off", "off_told", "off_alike", "off_s")),
            ", ".join("%.1f" % (100 * np.mean(known(x))) if known(x) else "-" for x in ("off_then", "off_later")),
            ", ".join(rank(x) for x in ("rank", "rank_percent", "rank_again")), "%.0f, %.0f" % (share(col("bound")[0]), share(col("bound_s")[0])), "%.0f" % col("took")[0]]


HEADS = ["model", "budget, s", "trials", "speedup", "HEFT's", "portfolio's", "devices", "less than HEFT, %", "promised, %",
         "behind HEFT, portfolio", "predicted, %", "then, later, %", "rank", "bound, %", "s in all"]


def rows_of(known, o):
    """By model, then budget, of what is known of these."""
    return [row(os.path.basename(m)[:-4], b, known[m, b]) for m in o.m for b in map(float, o.budgets.split(","))
            if (m, b) in known]


def markdown(rows):
    return "\n".join("| " + " | ".join(r) + " |" for r in [HEADS, ["---"] * len(HEADS)] + rows)


MOST_BEHIND, MOST_SPREAD = 1 / 50, 0.05


def behind_any(t):
    """Does what was handed over take longer than anything that was judged, beyond both intervals?"""
    first, *others = [x for x in t["measured"] if x and x.get("ratio")]
    return any(first["ratio_lo"] > x["ratio_hi"] for x in others)


def goals(known):
    """Lines of text."""
    trials = [t for ts in known.values() for t in ts]
    f = [figures(t) for t in trials]
    out, said = [], lambda ok: "reached" if ok else "MISSED"
    for what, n in (("HEFT", sum(x["behind_heft"] for x in f)), ("the portfolio", sum(x["behind_portfolio"] for x in f)),
                    ("anything that was judged", sum(map(behind_any, trials)))):
        out.append("behind %s: %d of %d (%s)" % (what, n, len(f), said(n <= MOST_BEHIND * len(f))))
    for model in dict.fromkeys(m for m, _ in known):
        x = np.exp([figures(t)["handed"] for (m, _), ts in known.items() if m == model for t in ts])
        spread = (x.max() - x.min()) / np.median(x)
        out.append("spread of %s: %.1f %% of %d, from %.3f to %.3f (%s)" %
                   (os.path.basename(model)[:-4], 100 * spread, len(x), x.min(), x.max(), said(spread < MOST_SPREAD)))
    return out


def write_table(known, o):
    rows = rows_of(known, o)
    for path, text in ((o.table, markdown(rows) + "\n\n" + "\n".join("- " + x for x in goals(known))), (o.rows, "\n".join("\t".join(r) for r in [HEADS] + rows))):
        if path:
            with open(path + ".tmp", "w") as f:
                f.write(text + "\n")
            os.rename(path + ".tmp", path)


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()[:16]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-m", nargs="+", required=True, metavar="MODEL")
    p.add_argument("-D", default="cpu:0,cpu:1,cpu", metavar="DEVICES")
    p.add_argument("--budgets", default="15,40", metavar="S,...")
    p.add_argument("--times", type=int, default=5, metavar="N")
    p.add_argument("--judge", type=float, default=15, metavar="S")
    p.add_argument("--cache", default="build/cores/cache")
    p.add_argument("--key")
    p.add_argument("--table")
    p.add_argument("--rows")
    o = p.parse_args()
    os.makedirs(o.cache, exist_ok=True)
    o.key = o.key or "".join(digest(shutil.which(x) or sys.exit("cores.py: no %s in PATH" % x)) for x in PROGRAMS)
    todo = [(number, budget, model) for number in range(1, o.times + 1) for budget in map(float, o.budgets.split(","))
            for model in o.m]
    known = {}
    for i, (number, budget, model) in enumerate(todo):
        text = "\n".join(map(str, (digest(model), o.D, budget, number, o.judge, o.key)))
        path = os.path.join(o.cache, hashlib.sha256(text.encode()).hexdigest()[:24] + ".json")
        new = not os.path.exists(path)
        if new:
            out = trial(model, o.D, budget, number, o)
            with open(path + ".tmp", "w") as f:
                json.dump(out, f)
            os.rename(path + ".tmp", path)
            print("%d of %d: %s, %g s, %d: %.3fx" % (i + 1, len(todo), os.path.basename(model), budget, number,
                                                      np.exp(figures(out)["handed"])), file=sys.stderr, flush=True)
        with open(path) as f:
            known.setdefault((model, budget), []).append(json.load(f))
        if new or i + 1 == len(todo):
            write_table(known, o)
    if not o.table:
        print(markdown(rows_of(known, o)))
        print("\n".join(goals(known)))


if __name__ == "__main__":
    main()
