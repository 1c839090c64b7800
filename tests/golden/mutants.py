#!/usr/bin/env python3
"""mutants.py STREAM DIR - streams with one mistake each, with the right digest: NAME.mp in DIR.

Of each kind of record the first and the last lose each key, have it replaced by other values, are
left out, come twice."""
import os, sys

import msgpack, xxhash


def seal(records):
    wire = [msgpack.packb(r, unicode_errors="surrogateescape") for r in records]
    end = {"records": len(wire) - 1, "digest": xxhash.xxh64(b"".join(wire[1:])).intdigest()}
    return b"".join(wire) + msgpack.packb(["end", end])


def tensor_mutants(t):
    yield "short", {**t, "data": t["data"][:-1]}
    yield "type", {**t, "dtype": "f32" if t["dtype"] != "f32" else "u8"}
    yield "empty", {**t, "shape": [0] + t["shape"][1:], "data": b""}
    yield "ones", {**t, "data": b"\xff" * len(t["data"])}
    yield "zeros", {**t, "data": bytes(len(t["data"]))}


def mutants_of(value):
    yield "nil", None
    if isinstance(value, dict) and "dtype" in value:
        yield from tensor_mutants(value)
    elif isinstance(value, (list, dict)):
        yield "none", type(value)()
    elif isinstance(value, str):
        yield "text", "x"
    elif isinstance(value, bool):
        yield "not", not value
    elif isinstance(value, (int, float)):
        yield "minus", -1
        yield "large", 2**63 if isinstance(value, int) else 1e300


def changed(records, i, m):
    return records[:i] + [[records[i][0], m]] + records[i + 1:]


def mutants(records):
    kinds = [k for k, m in records]
    for i, (kind, m) in enumerate(records):
        first, last = kinds.index(kind), len(kinds) - 1 - kinds[::-1].index(kind)
        if i == 0 or i not in (first, last):
            continue
        where = f"{i:02}-{kind}"
        yield f"{where}-left", records[:i] + records[i + 1:]
        yield f"{where}-twice", records[:i] + records[i:i + 1] + records[i:]
        yield f"{where}-late", records[:i] + records[i + 1:] + [records[i]]
        for key, value in m.items():
            yield f"{where}-{key}-gone", changed(records, i, {k: v for k, v in m.items() if k != key})
            for how, other in mutants_of(value):
                yield f"{where}-{key}-{how}", changed(records, i, {**m, key: other})


def main(path, folder):
    with open(path, "rb") as f:
        records = list(msgpack.Unpacker(f, max_buffer_size=2**30, unicode_errors="surrogateescape"))[:-1]
    os.makedirs(folder)
    for name, changed_records in mutants(records):
        with open(f"{folder}/{name}.mp", "wb") as f:
            f.write(seal(changed_records))


main(*sys.argv[1:])
