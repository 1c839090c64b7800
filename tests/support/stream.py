"""stream.py - streams in Python, for tests: read, write with the right end, tensors."""
import msgpack, xxhash


class Numpy:
    """numpy, once somebody needs it: to import it takes longer than most tests do in Python."""

    def __getattr__(self, name):
        import numpy
        return getattr(numpy, name)


np = Numpy()


def read(path):
    with open(path, "rb") as f:
        return list(msgpack.Unpacker(f, max_buffer_size=2**30))


def write(path, records):
    """hdr and the records behind it; the end record is made here."""
    records = [r for r in records if r[0] != "end"]
    wire = [msgpack.packb(r) for r in records]
    end = {"records": len(wire) - 1, "digest": xxhash.xxh64(b"".join(wire[1:])).intdigest()}
    with open(path, "wb") as f:
        f.write(b"".join(wire) + msgpack.packb(["end", end]))


def array(t):
    return np.frombuffer(t["data"], "<" + t["dtype"][0] + str(int(t["dtype"][1:]) // 8)).reshape(t["shape"])


def tensor(a):
    a = np.ascontiguousarray(a)
    return {"dtype": a.dtype.kind + str(a.dtype.itemsize * 8), "shape": list(a.shape), "data": a.tobytes()}


def first(records, kind):
    return next(m for k, m in records if k == kind)


def of(path, kind):
    """The maps of all records of a kind."""
    return [m for k, m in read(path) if k == kind]


def runs(path):
    return of(path, "run")


def value(run):
    """What a run is judged by, of any objective; infinity where it is not legal."""
    return run.get("value", run["lat_s"]) if run["ok"] else float("inf")


def run_record(sample, seconds, source="moved", busy=(1.0, 1.0), loops=None, ok=True):
    """A `run` record as devrun writes it; seconds: of its samples; loops (n, k, 2): of short loops beside them."""
    m = {"graph": 1, "episode": 0, "step": 0, "sample": sample, "source": source, "ok": ok}
    if not ok:
        return ["run", {**m, "reason": "it does not fit"}]
    seconds = np.asarray(seconds, "f8")
    m.update(lat_s=float(np.median(seconds)), lo_s=float(seconds.min()), hi_s=float(seconds.max()),
             samples_s=tensor(seconds), ref_s=1.0, mem_bytes=tensor(np.zeros(len(busy), "u8")), copies=0,
             copy_bytes=0, in_host=0, steps=1, splits=0, busy_s=tensor(np.asarray(busy, "f8")))
    if loops is not None:
        m["pulse_s"] = tensor(np.asarray(loops, "f8"))
    return ["run", m]


def write_runs(path, runs):
    """A stream of run records."""
    write(path, [["hdr", {"version": 1, "chain": []}], *runs])


def is_move(home, on):
    """Is placement `on` a move of `home`: from one device to another, and maybe back (a swap)?"""
    ways = {frozenset((int(a), int(b))) for a, b in zip(home, on) if a != b}
    return len(ways) == 1
