"""stream.py - streams in Python, for tests: read, write with the right end, tensors."""
import msgpack, numpy as np, xxhash


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
