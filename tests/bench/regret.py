"""regret.py - what is lost between a search and its answer, on machines that are played (devsim --machine).

    python tests/bench/regret.py -d PROBLEM.mp... -m METHOD... --machines SPEC... --budgets S... [--seeds 1,2,3]
                            [--portfolio S] [--cache DIR] [--key TEXT] [-j JOBS] [-v] [--rows FILE]

A PROBLEM is a stream with features and costs.  The machine's true costs differ from these; a method knows the costs and may
use the machine for so many of its seconds, with 100r as a budget for as long as 100 runs of HEFT's placement should take by
the costs.  METHODS:
    heft        HEFT on the costs, handed over unseen
    portfolio   placebase portfolio on the costs, likewise (--portfolio seconds of real time)
    judged      single devices, HEFT, look-ahead, cluster, climbing and portfolio in a contest: devrun paired
    loop        HEFT, climbing and random placements, the learner's loop with so many seconds, devrun paired
    race        what `judged` compares, in a race: devrun paired --race
    place       what pipelines/place does with these starts (pipelines/compete): a first race of them and of 12 more; costs
                that fit it; portfolios on the most likely costs and on two draws, judged by 16 draws; the last race
    point       the same with the most likely costs alone
    searched    the same as place, and three tenths of the seconds for the learner's search
    screened    the same, the learner draws 25 times as many placements, and runs those that should be the fastest
    unfitted    no first race and no fitted costs: half of the seconds for the learner's search, then the last race
A seed is that of the machine (its true costs and what happens) and of the method.  What was handed over is compared, by
undisturbed times on the true costs, with
    proposed    the best of all that the method proposed
    start       the best of all starts: what `judged` compares, whether the method knew them or not
    HEFT        HEFT on the costs
    truth       placebase portfolio on the true costs
A regret is how much longer it takes, in %: the geometric mean over problems and seeds, and a 95 % interval by bootstrap (pairs
of problem and seed drawn anew, 4,000 times).  "below": how often it is more than 0.5 % longer than the best start.

A result is kept in --cache by problem, method, machine, budget, seed and the programs that made it, or --key in their place."""
import argparse, concurrent.futures, hashlib, json, os, shutil, subprocess, sys, tempfile, time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import stream

PROGRAMS = ["placebase", "devsim", "reinforce", "gpnembed", "placepolicy", "compete"]
BRIEF = "--min-runs 3 --max-seconds 0.25"  # as pipelines/place measures
BELOW = 0.005


def shell(text, **words):
    """A pipeline; words are its variables."""
    p = subprocess.run(["bash", "-o", "pipefail", "-ec", text], env={**os.environ, **{k: str(v) for k, v in words.items()}},
                       capture_output=True, text=True)
    if p.returncode:
        sys.exit("regret.py: '%s' with %s: %s" % (text, words, p.stderr.strip().splitlines()[-1:]))


def portfolio(problem, seconds, out):
    shell('placebase portfolio --budget "$S" --seed 1 "$P" -o "$OUT"', P=problem, S=seconds, OUT=out)


def seconds_of(budget, problem, o):
    """Of the machine."""
    if budget is None or not budget.endswith("r"):
        return budget and float(budget)
    return float(budget[:-1]) * o.heft_s[problem]


def append(problem, others, out):
    """The problem's records and the place records of others, as if they had been made of these costs."""
    stream.write(out, stream.read(problem) + [r for path in others for r in stream.read(path) if r[0] == "place"])


class Trial:
    """One machine, and what a method does on it in a folder of its own."""
    def __init__(self, problem, machine, budget, seed, o, folder):
        self.problem, self.seed, self.o, self.folder = problem, seed, o, folder
        self.budget = seconds_of(budget, problem, o)
        self.machine = "%s,seed=%d" % (machine, seed)

    def file(self, name):
        return os.path.join(self.folder, name + ".mp")

    def sh(self, text, **words):
        shell(text, P=self.problem, M=self.machine, SEED=self.seed, BUDGET=self.budget, BRIEF=BRIEF, DIR=self.folder, **words)

    def truth(self, path):
        """Undisturbed seconds of the place and best records of a stream, and these records."""
        out = self.file("truth")
        shell('devsim --machine "$M" --truth "$IN" -o "$OUT"', M=self.machine, IN=path, OUT=out)
        records = stream.read(out)
        asked = [r for r in records if r[0] in ("place", "best")]
        told = [m for k, m in records if k == "run"][-len(asked):]
        return [m["lat_s"] if m["ok"] else np.inf for m in told], asked

    def starts(self):
        """The stream with all starts."""
        out = self.file("starts")
        if not os.path.exists(out):
            self.sh('{ placebase single "$P" | placebase heft | placebase lookahead | placebase cluster |'
                    ' placebase climb --evals 2000 --seed "$SEED"; } > "$DIR/some.mp"')
            append(self.problem, [self.file("some"), self.o.portfolios[self.problem]], out)
        return out

    def plain_starts(self):
        """The same without single devices."""
        out = self.file("plain")
        stream.write(out, [r for r in stream.read(self.starts()) if r[0] != "place" or r[1]["source"] != "single"][:-1])
        return out

    def loop(self, starts, seconds):
        """The learner's search: a stream with all that it ran and the best of it."""
        self.sh('train --seed "$SEED" --run "devsim --machine $M $BRIEF" "$IN" --steps 1 --episodes 4000 --seconds "$S" --keep'
                ' > "$DIR/result.mp"', IN=starts, S=seconds)


# What a method hands over: (true seconds, of all that it proposed, seconds of the machine).

def of_final(t, path):
    times, asked = t.truth(path)
    final = [s for s, (k, m) in zip(times, asked) if k == "best" and m.get("final")]
    clock = max(m["clock_s"] for m in stream.of(path, "run") if "clock_s" in m)
    return final[-1], times, clock


def heft(t):
    t.sh('placebase heft "$P" -o "$DIR/heft.mp"')
    times, _ = t.truth(t.file("heft"))
    return times[0], times, 0


def profiled_portfolio(t):
    times, _ = t.truth(t.o.portfolios[t.problem])
    return times[0], times, 0


def judged(t):
    t.sh('devsim --machine "$M" --paired "$STARTS" -o "$DIR/final.mp"', STARTS=t.starts())
    return of_final(t, t.file("final"))


def raced(t, path, seconds, clock=0):
    """The race of a stream's placements, all starts first."""
    t.sh('devsim --machine "$M" --clock "$C" --paired --race "$S" --starts "$N" --candidates 100 "$IN" -o "$DIR/final.mp"',
         IN=path, N=len(stream.of(t.starts(), "place")), S=seconds, C=clock)
    return of_final(t, t.file("final"))


def race(t):
    return raced(t, t.starts(), t.budget)


def competed(*options):
    """A method: pipelines/compete with these options."""
    def method(t):
        t.sh('compete --machine "$M" --starts "$STARTS" -d "$DIR/c" --budget "$BUDGET" --seed "$SEED" --portfolio "$S"'
             ' %s "$P"' % " ".join(options), STARTS=t.plain_starts(), S=t.o.portfolio)
        return of_final(t, os.path.join(t.folder, "c", "final.mp"))
    return method


def loop(t):
    t.sh('placebase heft "$P" | placebase climb --evals 2000 --seed "$SEED" | placebase random -n 20 --seed "$SEED"'
         ' > "$DIR/start.mp"')
    t.loop(t.file("start"), t.budget)
    t.sh('devsim --machine "$M" --paired "$DIR/result.mp" -o "$DIR/final.mp"')
    return of_final(t, t.file("final"))


METHODS = {"heft": heft, "portfolio": profiled_portfolio, "judged": judged, "loop": loop, "race": race, "place": competed(),
           "point": competed("--draws 0 --judges 0"), "searched": competed("--search 0.3"),
           "screened": competed("--search 0.3 --screen 25"), "unfitted": competed("--first 0 --search 0.5")}
UNSEEN = ("heft", "portfolio", "judged")  # they take the time that they take


def oracle(t):
    """Undisturbed seconds of the portfolio on the true costs."""
    t.sh('devsim --machine "$M" --true-costs "$P" | placebase portfolio --budget "$S" -o "$DIR/true.mp"', S=t.o.portfolio)
    append(t.problem, [t.file("true")], t.file("oracle"))
    return t.truth(t.file("oracle"))[0][0]


def anchors(t):
    times, asked = t.truth(t.starts())
    by = {m["source"]: s for s, (_, m) in zip(times, asked) if m["source"] != "single"}
    return {"start_s": min(times), "heft_s": by["heft"], "truth_s": oracle(t)}


def run(job, o):
    problem, machine, budget, method, seed = job
    with tempfile.TemporaryDirectory() as folder:
        t, began = Trial(problem, machine, budget, seed, o, folder), time.monotonic()
        if method == "anchors":
            return anchors(t)
        handed, proposed, clock = METHODS[method](t)
        return {"handed_s": handed, "proposed_s": min(proposed), "n": len(set(proposed)), "clock_s": clock,
                "real_s": time.monotonic() - began}


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()[:16]


class Cache:
    def __init__(self, o):
        self.o = o
        os.makedirs(o.cache, exist_ok=True)
        self.problems = {p: digest(p) for p in o.d}

    def path(self, job):
        problem, machine, budget, method, seed = job
        text = "\n".join(map(str, (self.problems[problem], machine, budget, method, seed, self.o.portfolio, self.o.key)))
        return os.path.join(self.o.cache, hashlib.sha256(text.encode()).hexdigest()[:24] + ".json")

    def get(self, job):
        try:
            with open(self.path(job)) as f:
                return json.load(f)
        except FileNotFoundError:
            return None

    def make(self, job):
        out = {"job": job, **run(job, self.o)}
        with open("%s.%d" % (self.path(job), os.getpid()), "w") as f:
            json.dump(out, f)
        os.rename(f.name, self.path(job))
        return out

    def heft_times(self):
        """What HEFT's placement should take by each problem's costs."""
        out = {}
        with tempfile.TemporaryDirectory() as d:
            for p in self.o.d:
                shell('placebase heft "$P" | devsim -o "$OUT"', P=p, OUT=os.path.join(d, "heft.mp"))
                out[p] = stream.of(os.path.join(d, "heft.mp"), "run")[-1]["lat_s"]
        return out

    def portfolios(self):
        """The portfolio on each problem's costs, made once."""
        out = {}
        for p in self.o.d:
            out[p] = os.path.join(self.o.cache, "portfolio.%s.%g.%s.mp" % (self.problems[p], self.o.portfolio, self.o.key))
            if not os.path.exists(out[p]):
                portfolio(p, self.o.portfolio, out[p] + ".tmp")
                os.rename(out[p] + ".tmp", out[p])
        return out


# ---- tables ----

AGAINST = ["proposed", "start", "heft", "truth"]


def interval(x, key):
    """Mean of logarithms as %, with its bootstrap interval; every row draws the same trials."""
    x = np.asarray(x)
    rng = np.random.default_rng(key)
    means = x[rng.integers(0, len(x), (4000, len(x)))].mean(1)
    return [100 * np.expm1(v) for v in (x.mean(), *np.quantile(means, [.025, .975]))]


def row(trials, machine, budget, method):
    """A line of the table from pairs (result, anchors)."""
    out = {"machine": machine, "budget": budget, "method": method, "trials": len(trials)}
    for name in AGAINST:
        logs = [np.log(r["handed_s"] / (r if name == "proposed" else a)[name + "_s"]) for r, a in trials]
        out[name], out[name + "_lo"], out[name + "_hi"] = interval(logs, 17)
        if name == "start":
            out["below"] = sum(v > np.log1p(BELOW) for v in logs)
            out["worst"] = 100 * np.expm1(max(logs))
    for name in ("n", "clock_s", "real_s"):
        out[name] = float(np.mean([r[name] for r, _ in trials]))
    return out


def show(r, name):
    return "%.1f (%.1f .. %.1f)" % (r[name], r[name + "_lo"], r[name + "_hi"])


def print_table(rows):
    print("| machine | seconds | method | to the best proposed, % | to the best start, % | below | worst, % | to HEFT, % |"
          " to the truth's, % | proposed | machine's s |")
    print("|---" * 11 + "|")
    for r in rows:
        print("| %s | %s | %s | %s | %s | %d of %d | %.1f | %s | %s | %.0f | %.1f |" % (
            r["machine"], r["budget"] or "-", r["method"], show(r, "proposed"), show(r, "start"),
            r["below"], r["trials"], r["worst"], show(r, "heft"), show(r, "truth"), r["n"], r["clock_s"]))


def print_rows(rows, path):
    with open(path, "w") as f:
        f.write("\t".join(rows[0]) + "\n")
        for r in rows:
            f.write("\t".join("%.6g" % v if isinstance(v, float) else str(v) for v in r.values()) + "\n")


def budgets_of(method, o):
    return [None] if method in UNSEEN else o.budgets


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-d", nargs="+", required=True, metavar="PROBLEM")
    p.add_argument("-m", nargs="+", required=True, metavar="METHOD")
    p.add_argument("--machines", nargs="+", required=True, metavar="SPEC")
    p.add_argument("--budgets", nargs="+", required=True, metavar="S")
    p.add_argument("--seeds", default="1")
    p.add_argument("--portfolio", type=float, default=3, metavar="S")
    p.add_argument("--cache", default="build/regret/cache")
    p.add_argument("--key")
    p.add_argument("--rows")
    p.add_argument("-j", type=int, default=1)
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    for m in o.m:
        if m not in METHODS:
            p.error("unknown method '%s'; there are %s" % (m, ", ".join(METHODS)))
    o.seeds = [int(s) for s in o.seeds.split(",")]
    where = {x: shutil.which(x) or sys.exit("regret.py: no %s in PATH" % x) for x in PROGRAMS}
    made_by = [*where.values(), os.path.join(os.path.dirname(where["compete"]), "compete.sh")]
    o.key = o.key or hashlib.sha256("".join(digest(x) for x in made_by).encode()).hexdigest()[:16]
    cache = Cache(o)
    o.portfolios, o.heft_s = cache.portfolios(), cache.heft_times()
    cells = [(x, b, m) for x in o.machines for m in o.m for b in budgets_of(m, o)]
    pairs = [(d, s) for d in o.d for s in o.seeds]
    jobs = [(d, x, None, "anchors", s) for x in o.machines for d, s in pairs]
    jobs += [(d, x, b, m, s) for x, b, m in cells for d, s in pairs]
    results = {j: cache.get(j) for j in jobs}
    missing = [j for j in results if results[j] is None]
    pool = concurrent.futures.ThreadPoolExecutor(o.j)
    try:
        for i, (j, r) in enumerate(zip(missing, pool.map(cache.make, missing))):
            results[j] = r
            if o.v:
                print("%d/%d %s" % (i + 1, len(missing), j), file=sys.stderr, flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
    rows = [row([(results[d, x, b, m, s], results[d, x, None, "anchors", s]) for d, s in pairs], x, b, m) for x, b, m in cells]
    print_table(rows)
    if o.rows:
        print_rows(rows, o.rows)


if __name__ == "__main__":
    main()
