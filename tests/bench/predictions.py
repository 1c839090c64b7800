"""predictions.py - predicted over measured times of placements that cut models into few pieces.

    python tests/bench/predictions.py -D DEVICES [--pieces N,N...] [--each N] [--rounds N] [--profile S] [--seed N]
                                      [--beside BIN] [-v] MODEL.xml...

For each model: a profile, which takes about four times S seconds; placements of so many pieces, each of which is a stretch
of the operations in the file's order and goes to another device than the one before; what devsim predicts of them, and what they
take in rounds by devrun.  As the machine is not equally fast at all times, both are parts of the geometric mean of the single devices,
what is measured that of the same round, in the median over rounds; `level` is the predicted over the median measured of that mean.
--beside: the programs in that directory take a profile, too, and predict the same placements.
A model without a .bin beside it has drawn weights.  A line for each number of pieces, and in the end one for the model.  Programs are those on PATH."""
import argparse, os, random, statistics, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import stream


def sh(*words):
    p = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if p.returncode:
        sys.exit("predictions.py: '%s': %s" % (" ".join(map(str, words)), p.stderr.strip()))


def weights_of(model, folder, seed):
    path = os.path.abspath(model[:-4] + ".bin")
    if not os.path.exists(path):
        path = os.path.join(folder, "weights.bin")
        sh("irfill", model, "--seed", seed, "-o", path)
    return path


def draw(order, mask, pieces, rng):
    """The device of each set: `pieces` stretches, none on the device of the one before."""
    k = mask.shape[1]
    cuts = sorted(rng.sample(range(1, len(order)), pieces - 1))
    device, d = [0] * mask.shape[0], rng.randrange(k)
    for i, s in enumerate(order):
        if i in cuts:
            d = (d + 1 + rng.randrange(k - 1)) % k
        device[s] = next(e % k for e in range(d, d + k) if mask[s, e % k])
    return device


def draw_all(records, a):
    """[(pieces, the place record)]; 0 pieces: a single device."""
    rng, graph, devs = random.Random(a.seed), stream.first(records, "graph"), stream.first(records, "devs")
    mask = stream.array(devs["mask"])
    order = list(dict.fromkeys(int(s) for s in stream.array(graph["set"]) if s != 2**32 - 1))      # by their first operations
    drawn = [(0, [d] * len(mask)) for d in range(mask.shape[1]) if mask[order, d].all()]
    drawn += [(n, draw(order, mask, n, rng)) for n in a.pieces for _ in range(a.each) if n <= len(order)]
    return [(n, ["place", {"graph": graph["digest"], "episode": 0, "step": 0, "sample": i, "devices": devs["names"],
                           "device": stream.tensor(stream.np.array(d, "u2")), "source": "drawn"}]) for i, (n, d) in enumerate(drawn)]


def measure(model, folder, a):
    """For each directory of programs the level and [(pieces, predicted, measured)], as parts of the single devices; 0 pieces: one of them."""
    path, placed, predicted = os.path.join(folder, "graph.mp"), None, []
    sh("ir2dag", model, "--weights", weights_of(model, folder, a.seed), "-o", path)
    for i, where in enumerate(["", *a.beside]):
        out = os.path.join(folder, "profile.%d.mp" % i)
        sh(os.path.join(where, "devrun"), "probe", "--profile", "-D", a.devices, "--max-seconds", a.profile, "--seed", a.seed, path, "-o", out)
        records = stream.read(out)
        placed = placed or draw_all(records, a)
        stream.write(out, records + [r for _, r in placed])
        sh(os.path.join(where, "devsim"), out, "-o", out + ".predicted")
        predicted.append(stream.runs(out + ".predicted"))
    first = os.path.join(folder, "profile.0.mp")
    sh("devrun", "run", "--no-reference", "--rounds", a.rounds, "--seed", a.seed, first, "-o", first + ".measured")
    return [compare([n for n, _ in placed], p, stream.runs(first + ".measured")) for p in predicted]


def compare(pieces, predicted, measured):
    rows = []
    for n, p, m in zip(pieces, predicted, measured):
        if p["ok"] and m["ok"]:
            rows.append((n, p["lat_s"], stream.array(m["samples_s"])))
        else:
            print("  left out: %s" % m.get("reason", p.get("reason")), file=sys.stderr)
    np, single = stream.np, [r for r in rows if r[0] == 0]
    p0 = statistics.geometric_mean(p for _, p, _ in single)
    m0 = np.exp(np.mean([np.log(m) for _, _, m in single], axis=0))
    return p0 / float(np.median(m0)), [(n, p / p0, float(np.median(m / m0))) for n, p, m in rows]


def tell(name, rows):
    ratios = sorted(p / m for p, m in rows)
    print("%-48s %6.3f (%.3f .. %.3f), within 10 %%: %d of %d" %
          (name, statistics.median(ratios), ratios[0], ratios[-1], sum(1 / 1.1 <= r <= 1.1 for r in ratios), len(rows)), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", nargs="+")
    p.add_argument("-D", "--devices", required=True)
    p.add_argument("--pieces", type=lambda t: [int(n) for n in t.split(",")], default=[2, 3, 5, 8, 12])
    p.add_argument("--each", type=int, default=4)
    p.add_argument("--rounds", type=int, default=20)
    p.add_argument("--profile", type=float, default=3)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--beside", action="append", default=[])
    p.add_argument("-v", "--verbose", action="store_true")
    a = p.parse_args()
    for model in a.models:
        with tempfile.TemporaryDirectory() as folder:
            for where, (level, rows) in zip(["", *a.beside], measure(model, folder, a)):
                name = os.path.basename(model)[:-4] + (", " + where if where else "")
                print("%s: level %.3f" % (name, level))
                for n in sorted({n for n, _, _ in rows}) if a.verbose else []:
                    of = [(p, m) for k, p, m in rows if k == n]
                    tell("%s, %s" % (name, "%d pieces" % n if n else "one device"), of)
                    print("    " + " ".join("%.3f/%.3f=%.2f" % (p, m, p / m) for p, m in of))
                tell("%s, all" % name, [(p, m) for n, p, m in rows if n])


if __name__ == "__main__":
    main()
