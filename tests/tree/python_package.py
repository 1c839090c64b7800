#!/usr/bin/env python3
"""python_package.py [--slow] - is the package hsdag right?  The one that this Python imports: of a wheel, else share/python.

Streams of programs and made ones are read and written beside recdump, mistakes end in one line, and the cells of the notebook run.
--slow: every byte of a stream damaged, cells that measure, and interrupts.  What it prints is what is wrong; status 1 then."""
import io
import json
import math
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import traceback

import hsdag
import msgpack
import numpy as np

from hsdag import console, stream

SLOW = "--slow" in sys.argv
MODEL = hsdag.EXAMPLES / "branches.xml"
RECDUMP = console.find("recdump")


def dump(data):
    """recdump's JSON of a stream's bytes."""
    told = subprocess.run([RECDUMP, "--full"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in told.splitlines()]


def accepted(data):
    return subprocess.run([RECDUMP, "--check"], input=data, stderr=subprocess.DEVNULL).returncode == 0


def readable(data):
    try:
        return list(hsdag.read(data)) is not None
    except hsdag.StreamError:
        return False


def as_json(value):
    """A value that was read, as recdump prints it."""
    if isinstance(value, np.ndarray):
        name = {"u": "u%d", "i": "i%d", "f": "f%d"}[value.dtype.kind] % (8 * value.dtype.itemsize)
        return {"dtype": name, "shape": list(value.shape), "data": value.tolist()}
    if isinstance(value, dict):
        return {k: as_json(v) for k, v in value.items()}
    return [as_json(v) for v in value] if isinstance(value, list) else value


def same(a, b):
    """Equal, but for digits of f32 that are not printed."""
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-12)
    return type(a) is type(b) and a == b


def write(*records, **options):
    file = io.BytesIO()
    hsdag.write(file, records, **options)
    return file.getvalue()


def refused(what, function, *arguments, error=hsdag.Error, **options):
    try:
        function(*arguments, **options)
    except error as e:
        assert what in str(e) and "\n" not in str(e), "%r instead of %r" % (str(e), what)
        return e
    raise AssertionError("nothing was raised: %r" % what)


def pipeline(*commands, data=None):
    """What a pipeline writes, by this script's own means."""
    for command in commands:
        data = subprocess.run([console.find(command[0]), *map(str, command[1:])], input=data, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True).stdout
    return data


def streams():
    costs = pipeline(["ir2dag", MODEL], ["dagfeat"], ["devsim", "--probe"])
    yield pipeline(["ir2dag", hsdag.EXAMPLES / "layers.xml"])
    yield pipeline(["placebase", "heft,random", "-n", "2"], ["devsim", "--schedule"], data=costs)
    yield pipeline(["gpnembed"], ["placepolicy"], data=costs)


def check_round_trips():
    for data in streams():
        told, records = dump(data), list(hsdag.read(io.BytesIO(data)))
        assert [r.kind for r in records] == [t["kind"] for t in told]
        for r, t in zip(records, told):
            assert same(as_json(r), t["map"]), r.kind
        again = write(*records, program="guest")
        back = dump(again)
        assert all(same(a, b) for a, b in zip(told[1:-1], back[1:-1])) and len(back) == len(told)
        assert back[0]["map"]["chain"] == told[0]["map"]["chain"] + [
            {"program": "guest", "version": hsdag.__version__, "args": [], "threads": 1}]
        # Two streams in a row stay two.
        twice = list(hsdag.read(data + again))
        assert [r.kind for r in twice].count("hdr") == 2 and accepted(write(*twice))


def check_arrays():
    rows = {t: np.arange(6, dtype=d).reshape(2, 3) for t, d in stream.DTYPES.items()}
    given = {**rows, "big_endian": rows["f64"].astype(">f8"), "transposed": rows["i32"].T, "every_second": rows["u16"][:, ::2],
             "scalar": np.array(2.5), "nothing": np.zeros((0, 3), "f4"), "number": np.int64(7), "pair": (1, "a"), "text": "a\"\n",
             "large": 2**64 - 1, "least": -2**63, "list": [1, -2, None, True, 0.5], "deep": {"a": [{"b": rows["i8"]}]}}
    data = write(("odd", given))
    told, (_, odd, _) = dump(data)[1]["map"], hsdag.read(data)
    assert isinstance(odd, dict) and odd.kind == "odd" and same(as_json(odd), told)
    for name, a in given.items():
        if isinstance(a, np.ndarray):
            assert np.array_equal(odd[name], a) and odd[name].shape == a.shape and odd[name].dtype == a.dtype.newbyteorder("<")
    assert not odd["f64"].flags.writeable and not odd["f64"].flags.owndata     # a view of what was read
    assert told["number"] == 7 and told["pair"] == [1, "a"] and told["big_endian"]["data"] == rows["f64"].tolist()


def made_streams():
    """(a name, bytes), most of them wrong."""
    def made(*records, end=None, n=None, head=None):
        raw = [r if isinstance(r, bytes) else msgpack.packb(r) for r in records]
        body, digest = b"".join(raw), stream.Digest()
        digest.add(body, 0, len(body))
        last = {"records": len(raw) if n is None else n, "digest": digest.value(), **(end or {})}
        return msgpack.packb(["hdr", head or {"version": 1, "chain": []}]) + body + msgpack.packb(["end", last])

    def value(raw):
        return b"\x92\xa1a\x81\xa1b" + raw

    def nested(n, inner=b"\x01"):
        return value(b"\x91" * n + inner)

    yield "good", made(["a", {"b": 1}])
    yield "not a record", made([1, {}])
    yield "three values", made(["a", {}, 1])
    yield "a list", made(["a", []])
    yield "kind", made(["A b", {}])
    yield "kind of 64", made(["k" * 64, {}])
    yield "kind of 65", made(["k" * 65, {}])
    yield "no kind", made(["", {}])
    yield "nil", made(b"\xc0")
    yield "not finite", made(value(b"\xcb\x7f\xf8" + bytes(6)))
    yield "infinite f32 in a list", made(value(b"\x91\xca\x7f\x80\0\0"))
    yield "f32", made(value(b"\xca\x3f\x80\0\0"))
    yield "extension", made(value(b"\xd4\x05x"))
    yield "timestamp", made(value(b"\xd6\xff" + bytes(4)))
    yield "extension of no bytes", made(value(b"\xc7\0\x05"))
    yield "never used", made(value(b"\xc1"))
    yield "key twice", made(b"\x92\xa1a\x82\xa1b\x01\xa1b\x01")
    yield "key of bytes", made(b"\x92\xa1a\x81\xc4\x01b\x01")
    yield "key is a number", made(b"\x92\xa1a\x81\x01\x01")
    yield "no UTF-8", made(value(b"\xa2\xc3\x28"))
    yield "surrogate", made(value(b"\xa3\xed\xa0\x80"))
    for n in 29, 30, 31, 40, 600:
        yield "nested %d" % n, made(nested(n))
        yield "nested %d, empty" % n, made(nested(n, b"\x90"))
        yield "nested %d, a map" % n, made(nested(n, b"\x81\xa1b\x01"))
    yield "tensor at the limit", made(nested(28, msgpack.packb({"dtype": "u8", "shape": [1], "data": b"x"})))
    yield "tensor beyond it", made(nested(29, msgpack.packb({"dtype": "u8", "shape": [1], "data": b"x"})))
    yield "counted wrong", made(["a", {}], n=2)
    yield "digest", made(["a", {}], end={"digest": 5})
    yield "end without digest", made(["a", {}], end={"digest": None})
    yield "a second header", made(["a", {}], ["hdr", {"version": 1, "chain": []}])
    yield "version 2", made(["a", {}], head={"version": 2, "chain": []})
    yield "no chain", made(["a", {}], head={"version": 1})
    yield "failed", made(["a", {}], ["fail", {}])
    yield "wide", made(b"\xdc\0\x02\xda\0\x01a\xdf\0\0\0\x01\xdb\0\0\0\x01b\xcf" + bytes(7) + b"\x05")
    yield "a count without values", made(value(b"\xdd\x7f\xff\xff\xff"))
    yield "no end", made(["a", {}])[:-20]
    yield "nothing", b""
    yield "text", b"<?xml version='1.0'?><net/>"


def check_damage():
    for name, data in made_streams():
        assert accepted(data) == readable(data), name
    for what, tensor in (("dtype", {"dtype": "f16", "shape": [1], "data": b"xx"}), ("its shape does not", {"dtype": "u8", "shape": [2], "data": b"x"}),
                         ("not bin", {"dtype": "u8", "shape": [1], "data": "x"}), ("at most 8", {"dtype": "u8", "shape": [1] * 9, "data": b"x"}),
                         ("at most 8", {"dtype": "u8", "shape": [-1], "data": b"x"}), ("at most 8", {"dtype": "u8", "shape": 1, "data": b"x"}),
                         ("shape", {"dtype": "u8", "shape": [2**63, 0], "data": b""}),
                         ("not finite", {"dtype": "f32", "shape": [1], "data": struct.pack("<f", math.inf)})):
        refused(what, list, hsdag.read(write(("a", {"t": tensor}))))
    good = write(("odd", {"t": np.arange(3.0), "list": [1, "x"]}), ("even", {}))
    for n in range(len(good)):
        assert "input 'bytes'" in str(refused("", list, hsdag.read(good[:n]), error=hsdag.StreamError)), n
    refused("truncated input 'bytes': no end record after 3 records (byte %d)" % (len(good) - 1), list, hsdag.read(good[:-1]))
    for i in range(0, len(good), 1 if SLOW else 60):
        for bit in range(8):
            data = good[:i] + bytes([good[i] ^ 1 << bit]) + good[i + 1:]
            # recdump --check looks into no tensor.
            assert accepted(data) == readable(data) or (accepted(data) and b"\xa5dtype" in good), (i, bit)


def check_writing():
    for value, what in ((math.nan, "a.x: a number is not finite"), (np.array([math.inf]), "a.x: a number is not finite"),
                        (np.array([True]), "a.x: a tensor has no elements of type bool"), (np.float16([1]), "float16"),
                        ({1: 2}, "the key 1 is not a str"), ({1}, "a.x: a stream has no set"), (2**64, "a"), ("\ud800", "surrogates"),
                        (np.zeros([1] * 9), "at most 8"), ([[math.nan]], "a.x[0][0]"), (np.array(["x"]), "no elements")):
        refused(what, write, ("a", {"x": value}), error=hsdag.StreamError)
    deep = {}
    for _ in range(40):
        deep = {"x": deep}
    refused("nesting is too deep", write, ("a", deep))
    for kind in "", "A", "fail", None, "k" * 65:
        refused("no record can be of the kind", write, (kind, {}))
    pathlib.Path("kept.mp").write_bytes(b"as it was")
    refused("not finite", hsdag.write, "kept.mp", [("a", {}), ("b", {"x": math.nan})])
    assert pathlib.Path("kept.mp").read_bytes() == b"as it was" and not list(pathlib.Path().glob(".new*"))
    hsdag.write("kept.mp", [("a", {"x": 1})])
    assert [r.kind for r in hsdag.read(pathlib.Path("kept.mp"))] == ["hdr", "a", "end"]
    assert (os.stat("kept.mp").st_mode & 0o777) == 0o666 & ~(os.umask(0o22) or os.umask(0o22))
    assert not readable(b"") and accepted(write()) and [r.kind for r in hsdag.read(write())] == ["hdr", "end"]
    refused("", hsdag.write, "nowhere/x.mp", [], error=OSError)
    refused("no-such.mp", list, hsdag.read("no-such.mp"), error=OSError)
    with open("kept.mp", errors="replace") as text:
        refused("opened with 'rb'", list, hsdag.read(text), error=TypeError)


def check_pipes():
    # A record is there before the next one is written, and a writer that fails says so to its reader.
    ends, begun, seen = os.pipe(), threading.Event(), []

    def records():
        yield "a", {"x": 1}
        begun.wait(20)
        raise ValueError("the writer's own")

    def writer():
        with open(ends[1], "wb", buffering=0) as file:
            refused("the writer's own", hsdag.write, file, records(), error=ValueError)

    thread = threading.Thread(target=writer)
    thread.start()
    with open(ends[0], "rb") as file:
        try:
            for record in hsdag.read(file):
                seen.append(record.kind)
                if record.kind == "a":
                    begun.set()
        except hsdag.StreamError as e:
            assert str(e) == "input '-' ends where the program that wrote it failed"
    thread.join()
    assert seen == ["hdr", "a"], seen


def check_programs():
    records = hsdag.run(["ir2dag", MODEL], "devsim --probe", "placebase heft", "devsim")
    assert [r.kind for r in records] == ["hdr", "graph", "devs", "cost", "place", "run", "end"] and records[5]["ok"] is True
    assert len(records[4]["device"]) == records[1]["n_sets"]
    assert hsdag.run("recdump --check", input=records, text=True) == ""
    assert "placement" in hsdag.run("placeout --format report", input=records, text=True)
    for status, what, stages in ((1, "ir2dag: error: cannot open '/no.xml'", ["ir2dag /no.xml", "devsim --probe", "placebase heft"]),
                                 (2, "placebase: error: unknown method 'nope'", [["ir2dag", MODEL], "placebase nope"]),
                                 (2, "no device", [["ir2dag", MODEL], "placebase random -D cpu:0,,", "devsim"]),
                                 (3, "recdump: error: empty input", ["recdump"])):
        e = refused("" if status == 2 else what, hsdag.run, *stages, error=hsdag.ProgramError)
        assert e.status == status and ": error: " in str(e), (e, e.status)
    refused("a.x: a number is not finite", hsdag.run, "recdump", input=[("a", {"x": math.nan})])
    refused("there is no program 'nosuch'", hsdag.run, "nosuch")
    refused("not a record", hsdag.run, ["ir2dag", MODEL], "recdump", error=hsdag.StreamError)
    for status, what, model, options in ((1, "cannot read 'no.xml'", "no.xml", {}), (2, "unknown option '--nosuch'", MODEL, {"nosuch": 1}),
                                         (2, "unknown device 'gpu:7'; here are cpu", MODEL, {"devices": ["cpu:0", "gpu:7"], "budget": 5})):
        e = refused(what, hsdag.place, model, output="wrong", error=hsdag.ProgramError, **options)
        assert e.status == status and "place: error: " in str(e), (e, e.status)
    assert not os.path.exists("wrong")


def check_loaded():
    """Libraries that programs load by name: OpenBLAS, Clp, oneDNN.  The suite tests what they compute."""
    os.environ["HSDAG_PRODUCTS"] = "openblas"
    assert any(r.kind == "place" for r in hsdag.run(["ir2dag", MODEL], "dagfeat", "gpnembed", "placepolicy -D cpu:0,cpu:1"))
    del os.environ["HSDAG_PRODUCTS"]
    assert any(r.kind == "place" for r in hsdag.run(["ir2dag", MODEL], "devsim --probe", "placebase m-sct"))
    assert "bf16" in hsdag.run("devrun list -D cpu:0/precision=bf16", text=True)


def check_without_numpy():
    told = subprocess.run([sys.executable, "-c", """
import sys
sys.modules["numpy"] = None
import hsdag
try: hsdag.place("no.xml")
except hsdag.ProgramError as e: print(e)
hsdag.read"""], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "cannot read 'no.xml'" in told.stdout, told
    assert told.stderr.splitlines()[-1] == ("ImportError: streams are read and written by numpy and msgpack, and numpy is not installed: "
                                            "pip install numpy"), told


def check_notebook():
    folder = hsdag.EXAMPLES if (hsdag.EXAMPLES / "place.ipynb").exists() else hsdag.EXAMPLES.parent
    names = {}
    for i, cell in enumerate(json.loads((folder / "place.ipynb").read_text())["cells"]):
        if cell["cell_type"] == "code" and (SLOW or "measures" not in cell["metadata"].get("tags", [])):
            exec(compile("".join(cell["source"]), "place.ipynb, cell %d" % i, "exec"), names)
    assert len(names["latencies"]) == 50 and np.isfinite(names["latencies"]).all()


def check_place():
    """An answer, and that of a search that an interrupt ends."""
    report = hsdag.place(example="branches", devices="cpu:0", budget=5, output="branches.placed")
    assert report["format"] == 1 and (report.folder / "placement.json").exists() and report["verdict"]["text"]
    timer = threading.Timer(25, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    report = hsdag.place(MODEL, devices=["cpu:0"], budget=300, episodes=10**8, output="interrupted.placed")
    timer.join()
    assert report["placement"]["sets"] > 0


def main():
    failed = 0
    checks = [f for name, f in globals().items() if name.startswith("check_") and (SLOW or name not in ("check_place", "check_loaded"))]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for check in checks:
            try:
                check()
            except Exception:
                failed += 1
                print("%s: %s" % (check.__name__, traceback.format_exc()), flush=True)
        os.chdir("/")
    return failed > 0


sys.exit(main())
