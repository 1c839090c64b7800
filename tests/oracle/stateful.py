#!/usr/bin/env python3
"""Language models as they are exported, with variables, over three inferences in a row with 1, 2 and 4 rows: what devrun, segments,
HETERO and the answers of place compute beside the whole model in OpenVINO.

    stateful.py [--bin DIR] [--rows LIST] [--place N] [--seconds S] WORK [NAME...]

WORK/NAME/openvino_model.xml are the models (stateful_exports.py makes them).  The first N of them (3) are placed, too, by place with a budget of 5 s,
and their answers run by apply and by use.py.  Prints a row for each model and number of rows: largest differences of outputs, of their scale,
or `refused` where HETERO does not compile a placement, whose causes are listed below.  Exit status 1 where something differs or fails.
A row has S seconds (1200), and a process and a folder of its own, WORK/runs/NAME.ROWS; its row.json says that it was right, and it is
not run again.

devrun     all tokens in one inference, on one core, and in a random placement on two, beside three inferences of OpenVINO;
kept       devrun --keep-state: three inferences of one token in a placement on two cores beside those on one
parts      operations and caches in two parts (dagsplit): the same as kept, and the graph of parts as IR in OpenVINO
segments   placeout --segments of a random placement and of one device, with open lengths: 5 tokens, then one and one, beams that change
           their rows
layers     HETERO, a layer of the model on each device (apply)
random     HETERO, a random placement (apply)
"""
import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import openvino as ov

sys.path.insert(0, str(Path(__file__).resolve().parent))
import segments as seg  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SAME = 1e-4
seg.CONFIG["KV_CACHE_PRECISION"] = "f32"     # the hint of f32 leaves caches in 8 bits


def shell(command, log):
    with open(log, "a", encoding="utf-8") as f:
        f.write("$ %s\n" % command)
        p = subprocess.run(["bash", "-o", "pipefail", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
        f.write(p.stdout)
    return p


def draw(model, rows, n, past, rng):
    """n tokens behind `past` others; beams take the cache of the next row once there is one."""
    values = []
    for port in model.inputs:
        name, kind = " ".join(port.names), port.element_type.to_dtype()
        if "mask" in name:
            x = np.ones((rows, past + n))
        elif "position" in name:
            x = np.broadcast_to(np.arange(past, past + n), (rows, n))
        elif "beam" in name:
            x = np.roll(np.arange(rows), 1) if past else np.arange(rows)
        else:
            x = rng.integers(3, 60, (rows, n))
        values.append(x.astype(kind))
    return values


def shapes(model, rows, n, more=""):
    text = ";".join("%s=%d%s" % (p.any_name, rows, "" if "beam" in p.any_name else ",%s" % n) for p in model.inputs)
    return "--shape '%s%s'" % (text, more)


def open_variables(model, rows):
    """Caches with an open length, for inputs whose own is fixed."""
    text = ""
    for op in model.get_ops():
        if op.get_type_name() == "ReadValue":
            dims = [d.get_length() if d.is_static else None for d in op.get_output_partial_shape(0)]
            text += ";%s=%s" % (op.get_variable_id(), ",".join(str(rows) if k == 0 else "?" if d is None else str(d)
                                                               for k, d in enumerate(dims)))
    return text


def without_names(cause):
    return re.sub(r"\w*_\d+\b", "...", re.sub(r"'[^']*'", "...", re.sub(r"\(shape=[^)]*\)+", "", cause))).replace("  ", " ")


class Case:
    """A model with a number of rows, whose files are in `work`."""

    def __init__(self, core, xml, rows, work, binaries):
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        self.core, self.xml, self.rows, self.work, self.log = core, xml, rows, work, work / "log"
        self.path = "export PATH=%s:$PATH; " % binaries
        self.model = core.read_model(xml)
        self.ir2dag = "ir2dag %s " % xml
        self.problems, self.causes = [], []

    def run(self, command):
        p = shell(self.path + command, self.log)
        if p.returncode != 0:
            raise RuntimeError((p.stdout.strip() or "status %d" % p.returncode).splitlines()[-1])
        return p.stdout

    def whole(self):
        return seg.Runner(seg.load(self.core, str(self.xml)))

    def guarded(self, what, f):
        try:
            worst = f()
        except (RuntimeError, AssertionError, OSError, subprocess.TimeoutExpired) as e:
            self.problems.append("%s: %s" % (what, str(e).strip().splitlines()[-1][:300]))
            return "failed"
        if not isinstance(worst, float):
            return worst
        if not worst <= SAME:
            self.problems.append("%s: difference %.2g" % (what, worst))
        return "%.0e" % worst

    def devrun(self, how, options, values, shape, cut=""):
        """Outputs of devrun for `values`."""
        given, to, stream = self.work / "in", self.work / "out", self.work / "devrun.mp"
        for directory in given, to:
            shutil.rmtree(directory, ignore_errors=True)
        given.mkdir()
        for i, v in enumerate(values):
            np.save(given / ("%d.npy" % i), np.ascontiguousarray(v))
        self.run("%s %s | %splacebase %s -o %s" % (self.ir2dag, shape, cut, how, stream))
        self.run("devrun run %s --warmup 0 --timeout 60 -i %s --outputs %s -o /dev/null %s" % (options, given, to, stream))
        return [np.load(to / ("%d.npy" % i)) for i in range(len(self.model.outputs))]

    def at_once(self, how):
        """All tokens in one inference of devrun: as later ones do not change earlier ones, what OpenVINO has over three."""
        whole, made, steps = self.whole(), [], list(self.steps(False))
        for values in steps:
            made.append(whole.run(values)[0])
        n = [next(i for i, p in enumerate(self.model.inputs) if word in p.any_name) for word in ("input_ids", "mask")]
        values = [np.concatenate([v[i] for v in steps], 1) if i == n[0] or "position" in p.any_name else steps[-1][i]
                  for i, p in enumerate(self.model.inputs)]
        got = self.devrun(how, "-n 1", values, shapes(self.model, self.rows, values[n[0]].shape[1]))
        return seg.difference(got[:1], [np.concatenate(made, 1)])

    def kept(self, cut=""):
        """Variables that last on two devices beside those on one.  OpenVINO is no oracle here: inputs of devrun keep their shapes, and
        OpenVINO 2026.4 reads beyond a mask that is shorter than the cache."""
        values, worst = draw(self.model, self.rows, 1, 0, np.random.default_rng(2)), 0.0
        for v, port in zip(values, self.model.inputs):
            if "beam" in port.any_name:
                v[:] = np.roll(v, 1)
        shape = shapes(self.model, self.rows, 1, open_variables(self.model, self.rows))
        for k in 2, 3:
            one, two = (self.devrun(how, "--keep-state -n %d" % k, values, shape, made)
                        for how, made in (("single -D cpu:0", ""), ("random -D cpu:0,cpu:1 --seed 2", cut)))
            worst = max(worst, seg.difference(two, one))
        return worst

    def parts(self):
        cut, to = "dagsplit --no-auto --if-possible | ", self.work / "parts"
        worst = self.kept(cut)
        shape = shapes(self.model, self.rows, 1, open_variables(self.model, self.rows))
        shape = shape.replace("attention_mask=%d,1" % self.rows, "attention_mask=%d,?" % self.rows)
        self.run("%s %s | %splacebase random -D cpu:0,cpu:1 | placeout --openvino %s -o /dev/null" % (self.ir2dag, shape, cut, to))
        made, whole = seg.Runner(seg.load(self.core, str(to / "model.xml"))), self.whole()
        rng = np.random.default_rng(4)
        for past in range(3):
            values = draw(self.model, self.rows, 1, past, rng)
            worst = max(worst, seg.difference(made.run(values), whole.run(values)))
        return worst

    def steps(self, beams=True):
        rng, past = np.random.default_rng(3), 0
        for n in 5, 1, 1:
            values = draw(self.model, self.rows, n, past, rng)
            for v, port in zip(values, self.model.inputs):
                if "beam" in port.any_name and not beams:
                    v.sort()
            yield values
            past += n

    def segments(self):
        worst = 0.0
        for how in "random -D cpu:0,cpu:1 --seed %d" % self.rows, "single -D cpu:0":
            to = self.work / ("segments." + how.split()[0])
            self.run("%s %s | placebase %s | placeout --segments %s -o /dev/null" % (self.ir2dag, shapes(self.model, self.rows, "?"), how, to))
            parts, whole = seg.Segments(self.core, to), self.whole()
            worst = max(worst, *(seg.difference(parts.run(v), whole.run(v)) for v in self.steps()))
        return worst

    def placed(self, how):
        """A directory as place leaves it."""
        to = self.work / ("placed." + how)
        to.mkdir()
        first = "%s %s | " % (self.ir2dag, shapes(self.model, self.rows, 5))
        by = "random --seed 1"
        if how == "layers":
            self.run("%s placebase random -D cpu:0,cpu:1 | placeout --format tsv -o %s/drawn.tsv" % (first, to))
            (to / "layers.json").write_text(json.dumps(self.by_layers(to / "drawn.tsv")))
            by = "expert:%s/layers.json" % to
        self.run("%s placebase -D cpu:0,cpu:1 %s -o %s/final.mp" % (first, by, to))
        self.run("placeout --format affinity -o %s/placement.json %s/final.mp" % (to, to))
        return to

    def by_layers(self, tsv):
        """{operation: device}: the second layer, and what is behind it, on a device of its own; what is placed together stays together."""
        with open(tsv, encoding="utf-8") as f:
            rows = list(csv.DictReader(f, delimiter="\t"))
        variable = {op.get_friendly_name(): op.get_variable_id() for op in self.model.get_ops() if op.get_type_name() in ("ReadValue", "Assign")}
        later, votes = re.compile(r"(layers|\.h)\.1[./]|lm_head"), {}
        for row in rows:
            vote = votes.setdefault(row["set"], [])
            if row["name"] in variable:
                vote += [".1." in variable[row["name"]]] * len(rows)
            else:
                vote.append(bool(later.search(row["name"])))
        return {row["name"]: "cpu:%d" % (2 * sum(votes[row["set"]]) > len(votes[row["set"]])) for row in rows}

    def apply(self, directory, what):
        p = shell(self.path + "%s %s/pipelines/apply --segments --seconds 0 --tolerance %g %s %s" %
                  (sys.executable, ROOT, SAME, self.xml, directory), self.log)
        lines = p.stdout.splitlines()
        hetero = next((x for x in lines if x.startswith("HETERO: ")), "")
        if p.returncode != 0 or "3 inferences in a row are compared" not in p.stdout or "other outputs" in p.stdout:
            raise RuntimeError((lines or ["apply says nothing"])[-1])
        if "refuses" in hetero:
            self.causes.append("%s: %s" % (what, hetero.split("refuses: ", 1)[1]))
            return "refused"
        return float(re.search(r"largest difference ([^ ]+) of", hetero)[1])

    def answer(self):
        """place, apply, use.py"""
        to = self.work / "answer"
        self.run("%s/pipelines/place %s -D cpu:0,cpu:1 --budget 5 %s -o %s" % (ROOT, self.xml, shapes(self.model, self.rows, 5), to))
        self.run("%s %s/openvino/use.py" % (sys.executable, to))
        return self.apply(to, "place")


COLUMNS = ("devrun one", "devrun placed", "devrun kept", "parts", "segments", "HETERO layers", "HETERO random", "place, apply")


def folder(work, name, rows):
    return (work / "runs" / ("%s.%d" % (name, rows))).resolve()


def run_row(work, name, rows, placed, binaries):
    """All ways of one row, in a process of its own: what a runtime does to it is the row's."""
    c = Case(ov.Core(), (work / name / "openvino_model.xml").resolve(), rows, folder(work, name, rows), os.path.abspath(binaries))
    ways = (lambda: c.at_once("single -D cpu:0"), lambda: c.at_once("random -D cpu:0,cpu:1 --seed 2"), c.kept, c.parts, c.segments,
            lambda: c.apply(c.placed("layers"), "layers"), lambda: c.apply(c.placed("random"), "random"),
            c.answer if placed else lambda: "")
    row = {"cells": [c.guarded(what, f) for what, f in zip(COLUMNS, ways)], "problems": c.problems,
           "causes": [without_names(x.split(": ", 1)[1]) for x in c.causes]}
    (c.work / "row.json").write_text(json.dumps(row), encoding="utf-8")


def kept_row(work, name, rows, placed):
    """What an earlier call found; none where that was wrong, or lacks what is asked for now."""
    try:
        row = json.loads((folder(work, name, rows) / "row.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return None if row["problems"] or placed and not row["cells"][-1] else row


def make_row(o, name, rows, placed):
    command = [sys.executable, "-W", "ignore", __file__, "--bin", o.bin, "--row", str(rows), "--place", str(int(placed)), str(o.work), name]
    why = ""
    try:
        p = subprocess.run(command, timeout=o.seconds, check=False)
        row = kept_row(o.work, name, rows, placed)
        if row:
            return row
        why = "status %d" % p.returncode
        return json.loads((folder(o.work, name, rows) / "row.json").read_text(encoding="utf-8"))
    except subprocess.TimeoutExpired:
        why = "not done in %g s" % o.seconds
    except (OSError, ValueError):
        pass
    return {"cells": ["failed"] * len(COLUMNS), "problems": [why], "causes": []}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/bin"))
    parser.add_argument("--rows", default="1,2,4")
    parser.add_argument("--place", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--row", type=int, help=argparse.SUPPRESS)
    parser.add_argument("work", type=Path)
    parser.add_argument("names", nargs="*")
    o = parser.parse_args()
    if o.row:
        run_row(o.work, o.names[0], o.row, o.place, o.bin)
        return 0
    names = o.names or sorted(p.parent.name for p in o.work.glob("*/openvino_model.xml"))
    problems, causes = [], []
    print("%-10s %4s" % ("model", "rows") + "".join("%15s" % c for c in COLUMNS), flush=True)
    for i, name in enumerate(names):
        for rows in map(int, o.rows.split(",")):
            row = kept_row(o.work, name, rows, i < o.place) or make_row(o, name, rows, i < o.place)
            print("%-10s %4d" % (name, rows) + "".join("%15s" % x for x in row["cells"]), flush=True)
            problems += ["%s, %d rows: %s" % (name, rows, x) for x in row["problems"]]
            causes += row["causes"]
    for cause in sorted(set(causes)):
        print("HETERO refused %d: %s" % (causes.count(cause), cause))
    print("\n".join(problems) if problems else "nothing differs")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
