"""What Perfetto's importer of Chrome's JSON asks of a trace; problems(path) lists what breaks it.

The importer keeps whole nanoseconds.  How a reader makes them of the text differs: exactly, or as a binary number times
1000, cut or rounded, or whole and fraction apart.  Slices of a thread must be nested by each of these.
"""
import json
import math
from fractions import Fraction

READERS = {
    "exact": lambda t: Fraction(t) * 1000,
    "cut": lambda t: int(float(t) * 1000.0),
    "rounded": lambda t: round(float(t) * 1000.0),
    "apart": lambda t: int(t.split(".")[0]) * 1000 + int(float("0." + (t.split(".") + ["0"])[1]) * 1000.0),
}
METADATA = {"process_name": "name", "thread_name": "name", "thread_sort_index": "sort_index", "process_sort_index": "sort_index", "process_labels": "labels"}
KEYS = {"X": {"ph", "pid", "tid", "ts", "dur", "name", "cat", "args"}, "M": {"ph", "pid", "tid", "name", "args"},
        "s": {"ph", "pid", "tid", "ts", "name", "cat", "id"}, "f": {"ph", "pid", "tid", "ts", "name", "cat", "id", "bp"}}
LARGEST = 2**31 - 1


def whole(x):
    return isinstance(x, int) and not isinstance(x, bool)


def event_problems(e):
    ph = e.get("ph")
    if ph not in KEYS:
        return [f"phase {ph!r}"]
    out = [f"{ph}: no {k}" for k in KEYS[ph] - e.keys()]
    for k in ("pid", "tid"):
        if not whole(e.get(k)) or not 0 < e[k] <= LARGEST:
            out.append(f"{ph}: {k} is {e.get(k)!r}")
    if not isinstance(e.get("name"), str):
        out.append(f"{ph}: name is {e.get('name')!r}")
    if ph == "M":
        key = METADATA.get(e.get("name"))
        value = e.get("args", {}).get(key)
        if key is None or not (whole(value) if key == "sort_index" else isinstance(value, str)):
            out.append(f"metadata {e.get('name')!r}: {e.get('args')!r}")
    if ph == "X" and not (math.isfinite(float(e["dur"])) and float(e["dur"]) >= 0 and float(e["ts"]) >= 0):
        out.append(f"times {e['ts']} {e['dur']}")
    return out


def nesting_problems(slices, ns, how):
    """Of the slices of one thread, in the order of the file where they begin together."""
    out, open_ends = [], []
    for start, end, name in sorted(((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e["name"]) for e in slices), key=lambda x: (x[0], -x[1])):
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        if open_ends and end > open_ends[-1]:
            out.append(f"{how}: {name!r} ends {float(end - open_ends[-1])} ns after what it is in")
        open_ends.append(end)
    return out


def flow_problems(events, threads, ns, how):
    out, ends = [], {}
    for e in events:
        if e["ph"] in "sf":
            if e["ph"] in ends.setdefault(e["id"], {}):
                out.append(f"flow {e['id']} has two {e['ph']}")
            ends[e["id"]][e["ph"]] = e
            at = ns(e["ts"])
            inside = [x for x in threads.get((e["pid"], e["tid"]), []) if ns(x["ts"]) <= at < ns(x["ts"]) + ns(x["dur"])]
            if not inside:
                out.append(f"{how}: flow {e['id']} {e['ph']} is in no slice")
            if e["ph"] == "f" and e.get("bp") != "e":
                out.append(f"flow {e['id']}: binds to the next slice")
    for i, x in ends.items():
        if set(x) != {"s", "f"}:
            out.append(f"flow {i} has only {set(x)}")
        elif ns(x["s"]["ts"]) > ns(x["f"]["ts"]):
            out.append(f"{how}: flow {i} ends before it begins")
    return out


def problems(path):
    trace = json.load(open(path, encoding="utf-8"), parse_float=str, parse_int=lambda t: int(t))
    if not isinstance(trace.get("traceEvents"), list):
        return ["no list of traceEvents"]
    events = trace["traceEvents"]
    for e in events:     # texts, as times are read in several ways
        for k in ("ts", "dur"):
            if k in e:
                e[k] = str(e[k])
    out = [p for e in events for p in event_problems(e)]
    if out:
        return out
    threads, named = {}, {}
    for e in events:
        if e["ph"] == "X":
            threads.setdefault((e["pid"], e["tid"]), []).append(e)
        if e["ph"] == "M":
            key = (e["name"], e["pid"], None if e["name"].startswith("process") else e["tid"])
            if key in named:
                out.append(f"{key} is told twice")
            named[key] = e["args"]
    out += [f"thread {t} has no name" for t in threads if ("thread_name", *t) not in named]
    out += [f"process {p} has no name" for p in {t[0] for t in threads} if ("process_name", p, None) not in named]
    for how, ns in READERS.items():
        for slices in threads.values():
            out += nesting_problems(slices, ns, how)
        out += flow_problems(events, threads, ns, how)
    return out
