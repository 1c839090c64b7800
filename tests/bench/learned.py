"""learned.py - placement methods beside each other on sets of problems: makespans over HEFT's, seconds, paired intervals.

    python tests/bench/learned.py -d DIR... -m SPEC... [--base SPEC] [--seeds 1,2,3] [--half dev|test] [--every N]
                            [--cache DIR] [--key TEXT] [-j JOBS] [-v] [--rows FILE]

A DIR has problems as streams with costs (*.mp); --half test leaves out *.dev.mp, --every N takes each N-th.  A SPEC is a
method of placebase:
    METHOD        by itself
    METHOD@N      with --evals N
    METHOD:Ts     with --budget T (seconds)
    more words    are options of placebase, as in 'learned-moves@100 --params none'
The makespan is devsim's.  A ratio is the geometric mean over problems of makespan over HEFT's, seeds averaged (as
logarithms) within a problem first; a SPEC with seconds runs with the first seed alone.  --base prints how much longer a
method's makespans are in pairs with another's, in %, with the 95 % interval of Student's t over problems.  Seconds are of
the whole process: by the clock, and of processors.

A result is kept in --cache (default build/learned/cache) by the contents of the problem, the SPEC, the seed and the
placebase that made it, or --key in place of the latter.  Needs placebase, devsim, recdump in PATH."""
import argparse, concurrent.futures, hashlib, json, math, os, re, shlex, shutil, subprocess, sys, tempfile, time

HEFT = "heft"


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()[:16]


def command(spec):
    """(method and options of placebase) of a SPEC."""
    word, *more = shlex.split(spec)
    if m := re.fullmatch(r"(.+)@(\d+)", word):
        return [m[1], "--evals", m[2], *more]
    if m := re.fullmatch(r"(.+):(\d+(?:\.\d+)?)s", word):
        return [m[1], "--budget", m[2], *more]
    return [word, *more]


def seeds_of(spec, seeds):
    """The clock decides more than the seed does."""
    return seeds[:1] if "--budget" in command(spec) else seeds


# ---- Student's t ----

def t_inside(t, freedom):
    """P(|T| < t): finite sums over the angle (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    theta = math.atan(t / math.sqrt(freedom))
    c, s = math.cos(theta), math.sin(theta)
    odd = freedom % 2
    total, term = 0.0, c if odd else 1.0
    for i in range(1, freedom // 2 + 1):
        total += term
        term *= c * c * (2 * i / (2 * i + 1) if odd else (2 * i - 1) / (2 * i))
    return 2 / math.pi * (theta + s * total) if odd else s * total


def t_quantile(freedom, inside=.95):
    low, high = 0.0, 1e3
    for _ in range(100):
        mid = (low + high) / 2
        low, high = (mid, high) if t_inside(mid, freedom) < inside else (low, mid)
    return high


def interval(x):
    """(mean, half of the 95 % interval); no interval of one value."""
    mean = sum(x) / len(x)
    if len(x) < 2:
        return mean, math.nan
    deviation = math.sqrt(sum((v - mean) ** 2 for v in x) / (len(x) - 1))
    return mean, t_quantile(len(x) - 1) * deviation / math.sqrt(len(x))


# ---- results ----

def last_line(text):
    return (text.strip().splitlines() or [""])[-1]


def timed(args, out):
    """(status, last line of errors, seconds, processor seconds); the output goes to a file."""
    with open(out, "wb") as f, tempfile.TemporaryFile("w+", errors="replace") as err:
        start = time.monotonic()
        p = subprocess.Popen(args, stdout=f, stderr=err)
        _, status, use = os.wait4(p.pid, 0)
        took = time.monotonic() - start
        p.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        return p.returncode, last_line(err.read()), took, use.ru_utime + use.ru_stime


def run(spec, seed, problem):
    """What a method makes of a problem: {lat_s or why, seconds, cpu}."""
    with tempfile.TemporaryDirectory() as tmp:
        rc, error, seconds, cpu = timed(["placebase", "--seed", str(seed), *command(spec), problem], f"{tmp}/place.mp")
        out = {"seconds": seconds, "cpu": cpu}
        if rc < 0 or rc == 2:
            sys.exit(f"learned.py: {spec} on {problem}: {error or f'signal {-rc}'}")
        if rc:
            return {**out, "why": error}
        sim = subprocess.run(["devsim", f"{tmp}/place.mp", "-o", f"{tmp}/run.mp"], capture_output=True, text=True)
        if sim.returncode:
            sys.exit(f"learned.py: devsim on {spec}'s placement of {problem}: {last_line(sim.stderr)}")
        rows = subprocess.run(["recdump", "-k", "run", "--tsv", "ok,lat_s,reason", f"{tmp}/run.mp"], capture_output=True,
                              text=True, check=True).stdout
    best, why = math.inf, "no placement"
    for row in rows.splitlines():
        ok, lat, reason = row.split("\t")
        if ok == "true":
            best = min(best, float(lat))
        else:
            why = reason
    return {**out, "lat_s": best} if best < math.inf else {**out, "why": why}


class Cache:
    def __init__(self, folder, key):
        self.folder, self.key, self.seen = folder, key, {}
        os.makedirs(folder, exist_ok=True)

    def path(self, spec, seed, problem):
        if problem not in self.seen:
            self.seen[problem] = digest(problem)
        name = re.sub(r"[^A-Za-z0-9_.@:+-]+", "_", spec)
        mark = hashlib.sha256(f"{spec}\n{seed}\n{self.key}".encode()).hexdigest()[:12]
        return os.path.join(self.folder, self.seen[problem], f"{name}.{seed}.{mark}.json")

    def get(self, spec, seed, problem):
        try:
            with open(self.path(spec, seed, problem)) as f:
                return json.load(f)
        except FileNotFoundError:
            return None

    def make(self, job):
        spec, seed, problem = job
        path = self.path(spec, seed, problem)
        out = {"problem": problem, "spec": spec, "seed": seed, "key": self.key, **run(spec, seed, problem)}
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.{os.getpid()}", "w") as f:
            json.dump(out, f)
        os.rename(f.name, path)
        return out


# ---- tables ----

def geometric(x):
    return math.exp(sum(x) / len(x)) if x else math.nan


def log_of(results, spec, seeds, problem):
    """Logarithm of the makespan, the mean over seeds; None where a seed has none."""
    lat = [results[spec, s, problem].get("lat_s") for s in seeds_of(spec, seeds)]
    return sum(map(math.log, lat)) / len(lat) if all(lat) else None


def name_of(folder):
    return os.path.basename(os.path.normpath(folder))


def rows_of(folder, problems, results, o):
    """A dict for each method: what a line of the table has."""
    heft = {p: log_of(results, HEFT, o.seeds, p) for p in problems}
    base = {p: log_of(results, o.base, o.seeds, p) for p in problems} if o.base else {}
    for spec in o.m:
        logs = {p: log_of(results, spec, o.seeds, p) for p in problems}
        ratio = [x - heft[p] for p, x in logs.items() if x is not None and heft[p] is not None]
        every = [results[spec, s, p] for s in seeds_of(spec, o.seeds) for p in problems]
        row = {"folder": name_of(folder), "method": spec, "problems": len(ratio), "ratio": geometric(ratio),
               "best": math.exp(min(ratio, default=math.nan)), "worst": math.exp(max(ratio, default=math.nan)),
               "seconds": sum(r["seconds"] for r in every) / len(every), "cpu": sum(r["cpu"] for r in every) / len(every),
               "slowest": max(r["seconds"] for r in every), "failed": sum(x is None for x in logs.values())}
        pairs = [x - base[p] for p, x in logs.items() if x is not None and base.get(p) is not None]
        if pairs and spec != o.base:
            mean, half = interval(pairs)
            row.update(longer=100 * math.expm1(mean), low=100 * math.expm1(mean - half), high=100 * math.expm1(mean + half))
        yield row


def print_table(rows, o):
    pair = f" longer than {o.base}, % | 95 % interval |" if o.base else ""
    print(f"\n{rows[0]['folder']}: {max(r['problems'] for r in rows)} problems\n")
    print(f"| method | / HEFT | best | worst | failed | seconds | most | processor s |{pair}")
    print("|---" * (10 if o.base else 8) + "|")
    for r in rows:
        line = (f"| {r['method']} | {r['ratio']:.4f} | {r['best']:.3f} | {r['worst']:.3f} | {r['failed']} | {r['seconds']:.3f} | "
                f"{r['slowest']:.2f} | {r['cpu']:.3f} |")
        if o.base:
            line += f" {r['longer']:+.2f} | {r['low']:+.2f} .. {r['high']:+.2f} |" if "longer" in r else " - | - |"
        print(line)


def print_overview(tables, o):
    print("| / HEFT | " + " | ".join(t[0]["folder"] for t in tables) + " |")
    print("|---" * (len(tables) + 1) + "|")
    for i, spec in enumerate(o.m):
        print(f"| {spec} | " + " | ".join(f"{t[i]['ratio']:.3f}" + " (not all)" * (t[i]["failed"] > 0) for t in tables) + " |")


def print_rows(tables, path):
    keys = ["folder", "method", "problems", "ratio", "best", "worst", "failed", "seconds", "slowest", "cpu", "longer", "low", "high"]
    with open(path, "w") as f:
        f.write("\t".join(keys) + "\n")
        for row in (r for t in tables for r in t):
            f.write("\t".join(str(row.get(k, "")) for k in keys) + "\n")


def problems_of(folder, o):
    other = {"dev": ".test.mp", "test": ".dev.mp"}.get(o.half)
    names = sorted(n for n in os.listdir(folder) if n.endswith(".mp") and not (other and n.endswith(other)))
    if not names:
        sys.exit(f"learned.py: no problems in '{folder}'")
    return [os.path.join(folder, n) for n in names[::o.every]]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-d", nargs="+", required=True, metavar="DIR")
    p.add_argument("-m", nargs="+", required=True, metavar="SPEC")
    p.add_argument("--base", metavar="SPEC")
    p.add_argument("--seeds", default="1")
    p.add_argument("--half", choices=["dev", "test", "all"], default="all")
    p.add_argument("--every", type=int, default=1)
    p.add_argument("--cache", default="build/learned/cache")
    p.add_argument("--key", help="instead of the digest of placebase: its results count as those of another build")
    p.add_argument("--rows", help="the tables' numbers as TSV")
    p.add_argument("-j", type=int, default=1)
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    o.seeds = [int(s) for s in o.seeds.split(",")]
    o.m = list(dict.fromkeys(o.m + ([o.base] if o.base else [])))
    program = shutil.which("placebase") or sys.exit("learned.py: no placebase in PATH")
    cache = Cache(o.cache, o.key or digest(program))
    problems = {d: problems_of(d, o) for d in o.d}
    jobs = [(m, s, x) for d in o.d for m in dict.fromkeys([HEFT, *o.m]) for s in seeds_of(m, o.seeds) for x in problems[d]]
    results = {j: cache.get(*j) for j in jobs}
    missing = [j for j in results if results[j] is None]
    pool = concurrent.futures.ThreadPoolExecutor(o.j)
    try:
        for i, (j, r) in enumerate(zip(missing, pool.map(cache.make, missing))):
            results[j] = r
            if o.v:
                print(f"{i + 1}/{len(missing)} {j[0]} seed {j[1]} {j[2]}: {r.get('lat_s', r.get('why'))}", file=sys.stderr, flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
    tables = [list(rows_of(d, problems[d], results, o)) for d in o.d]
    print_overview(tables, o)
    for t in tables:
        print_table(t, o)
    if o.rows:
        print_rows(tables, o.rows)


if __name__ == "__main__":
    main()
