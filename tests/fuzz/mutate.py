#!/usr/bin/env python3
"""Feed a program damaged streams and see that it refuses them in good order.

usage: mutate.py STREAM COUNT SEED PROGRAM [ARG...]

Each of COUNT inputs is STREAM with one to three changes.  Half are changed as bytes (flips,
cuts, insertions); half as records (values, lengths, indices, missing keys, other order), with a
right digest, so that the change is met behind the stream's own checks.  A program may accept or
refuse; it must end within the time, by itself, with status 0, 1, 2 or 3, and say something
when it fails.  STREAM itself it must accept.  The first input that breaks this is kept as FAILED.mp."""
import copy, random, resource, subprocess, sys
import msgpack, xxhash

TIMEOUT, MEMORY = 60, 4 << 30   # seconds enough for a busy machine; bytes

def feed(data):
    u = msgpack.Unpacker(raw=False, max_buffer_size=2**30)
    u.feed(data)
    yield from u

def sealed(recs):
    """Records between hdr and end -> a stream with the right count and digest."""
    wire = [msgpack.packb(r) for r in recs]
    body = b"".join(wire[1:])
    return b"".join(wire) + msgpack.packb(["end", {"records": len(wire) - 1, "digest": xxhash.xxh64(body).intdigest()}])

def as_bytes(rng, data):
    data = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at, what = rng.randrange(len(data)), rng.random()
        if what < 0.5:
            data[at] ^= 1 << rng.randrange(8)
        elif what < 0.7:
            data[at] = rng.choice([0, 0x7f, 0x80, 0xc1, 0xc6, 0xdb, 0xdd, 0xdf, 0xff])
        elif what < 0.85:
            del data[at:at + rng.randint(1, 9)]
        else:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 9)))
        if not data:
            data = bytearray(b"\x00")
    return bytes(data)

ODD = [0, 1, -1, 2, 255, 65535, 2**31, 2**32 - 1, 2**63, 2**64 - 1, -2**63, 0.5, 1e300, "", "x", "\x00", b"", None, True, [], {}, [[]]]

def places(value, out):
    """All (container, key) pairs below value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for k, v in items:
        out.append((value, k))
        places(v, out)
    return out

def is_tensor(v):
    return isinstance(v, dict) and isinstance(v.get("dtype"), str) and isinstance(v.get("data"), bytes) \
        and isinstance(v.get("shape"), list) and v["dtype"][1:].isdigit()

def change_tensor(rng, t):
    data, what = bytearray(t["data"]), rng.random()
    width = int(t["dtype"][1:]) // 8
    if what < 0.6 and data:
        at = rng.randrange(len(data) // width) * width
        data[at:at + width] = rng.choice([b"\xff" * width, b"\0" * width, b"\x7f" * width,
                                          bytes(rng.randrange(256) for _ in range(width))])
    elif what < 0.8 and data:
        data = data[:-width]
        t["shape"] = [len(data) // width]
    else:
        t["shape"] = t["shape"] + [1] if rng.random() < 0.5 else t["shape"][:-1]
    t["data"] = bytes(data)

def as_records(rng, recs):
    recs = copy.deepcopy(recs)
    for _ in range(rng.randint(1, 3)):
        what = rng.random()
        r = rng.choice(recs[1:])
        if what < 0.08:
            recs.remove(r)
        elif what < 0.12:
            recs.append(copy.deepcopy(r))
        elif what < 0.16:
            recs[1:] = rng.sample(recs[1:], len(recs) - 1)
        elif what < 0.6:
            tensors = [c[k] for c, k in places(r[1], []) if is_tensor(c[k])]
            if tensors:
                change_tensor(rng, rng.choice(tensors))
        else:
            sites = places(r[1], [])
            if sites:
                c, k = rng.choice(sites)
                if isinstance(c, dict) and rng.random() < 0.2:
                    del c[k]
                else:
                    c[k] = rng.choice(ODD)
        if len(recs) < 2:
            break
    return sealed(recs)

def main():
    stream, count, seed, command = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    data = open(stream, "rb").read()
    recs = list(feed(data))[:-1]
    rng = random.Random(seed)
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    asan = subprocess.run(["grep", "-q", "__asan_init", command[0]]).returncode == 0
    tally = {}
    p = subprocess.run(command, input=data, capture_output=True)
    if p.returncode:
        sys.exit("the stream as it is: status %d\n%s" % (p.returncode, p.stderr.decode(errors="replace")))
    for i in range(count):
        bad = as_bytes(rng, data) if i % 2 else as_records(rng, recs)
        try:
            p = subprocess.run(command, input=bad, capture_output=True, timeout=TIMEOUT,
                               preexec_fn=None if asan else limit)
            fault = p.returncode not in (0, 1, 2, 3) or (p.returncode and b"error: " not in p.stderr) \
                or b"Sanitizer" in p.stderr or b"runtime error" in p.stderr
            said = p.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            fault, said, p = True, "no end within %d s" % TIMEOUT, None
        if fault:
            open("FAILED.mp", "wb").write(bad)
            print("input %d of seed %d: status %s\n%s" % (i, seed, p and p.returncode, said[-3000:]))
            sys.exit(1)
        tally[p.returncode] = tally.get(p.returncode, 0) + 1
    print(" ".join(command[:1]), "statuses", dict(sorted(tally.items())))

main()
