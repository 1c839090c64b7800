"""stream.py - records from bytes and to bytes, as docs/reference/stream.md has them.

The rules are those of lib/stream/rec_reader.c and scan.c: what recdump refuses is refused here.  Here tensors are looked into, too.
"""
import contextlib
import ctypes
import io
import math
import os
import re
import stat
import tempfile

from .console import FOLDER
from .programs import StreamError

try:
    import msgpack
    import numpy as np
except ImportError as e:
    raise ImportError("streams are read and written by numpy and msgpack, and %s is not installed: pip install %s" % (e.name, e.name),
                      name=e.name) from None

VERSION = 1
MAX_DEPTH, MAX_VALUES, MAX_BYTES, MAX_RANK = 32, 1 << 24, 1 << 30, 8
CHUNK = 1 << 20
KIND = re.compile(r"[a-z0-9_.-]{1,64}\Z")
TENSOR = {"dtype", "shape", "data"}
DTYPES = {t: np.dtype("<%s%d" % (t[0], int(t[1:]) // 8)) for t in "u8 i8 u16 i16 u32 i32 u64 i64 f32 f64".split()}
NAMES = {d: t for t, d in DTYPES.items()}


class Record(dict):
    """A record's map, and its kind: r.kind == "run", r["lat_s"]."""
    __slots__ = ("kind",)

    def __init__(self, kind, *args, **keys):
        super().__init__(*args, **keys)
        self.kind = kind

    def __repr__(self):
        return "Record(%r, %s)" % (self.kind, super().__repr__())


class Digest:
    """XXH64 with seed 0, by libxxhash: that of the wheel, else the system's."""
    library = None

    def __init__(self):
        if Digest.library is None:
            Digest.library = load_xxhash()
        self.state = Digest.library.XXH64_createState()
        self.reset()

    def __del__(self):
        if getattr(self, "state", None):
            Digest.library.XXH64_freeState(self.state)

    def reset(self):
        Digest.library.XXH64_reset(self.state, 0)

    def add(self, data, begin, end):
        """The bytes data[begin:end], which are not copied."""
        address = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value
        Digest.library.XXH64_update(self.state, address + begin, end - begin)

    def value(self):
        return Digest.library.XXH64_digest(self.state)


def load_xxhash():
    name, inside = "libxxhash.so.0", os.path.join(FOLDER, "lib", "libxxhash.so.0")
    try:
        library = ctypes.CDLL(inside if os.path.exists(inside) else name)
    except OSError as e:
        raise ImportError("digests of streams need %s (Debian: libxxhash0): %s" % (name, e)) from None
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    for function, result, *arguments in (("XXH64_createState", pointer), ("XXH64_freeState", ctypes.c_int, pointer),
                                         ("XXH64_reset", ctypes.c_int, pointer, ctypes.c_ulonglong),
                                         ("XXH64_update", ctypes.c_int, pointer, pointer, size),
                                         ("XXH64_digest", ctypes.c_ulonglong, pointer)):
        getattr(library, function).restype = result
        getattr(library, function).argtypes = arguments
    return library


# ---- reading ----

def read(source):
    """The records of a stream, one after another as they come, hdr and end among them.

    source: a path, bytes, or a binary file (a pipe is read as it fills).  Yields Record: a dict with the attribute kind.
    Tensors are numpy arrays, which cannot be written to: they are views of the bytes that were read.
    Raises StreamError where the input is truncated, damaged or no stream, OSError where it cannot be read."""
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            yield from Reader(file, os.fspath(source)).records()
    elif isinstance(source, (bytes, bytearray, memoryview)):
        yield from Reader(io.BytesIO(source), "bytes").records()
    elif hasattr(source, "read") and not isinstance(source, io.TextIOBase):
        name = getattr(source, "name", "-")
        yield from Reader(source, name if isinstance(name, str) else "-").records()
    else:
        raise TypeError("a stream is read from a path, bytes or a file that was opened with 'rb', not from %s" % type(source).__name__)


class Reader:
    """offset: of the first byte that is in no record yet; index: of the next record in its stream, 0 where hdr is next."""

    def __init__(self, file, name):
        self.read, self.name = getattr(file, "read1", file.read), name
        self.unpacker = msgpack.Unpacker(raw=False, object_pairs_hook=unique, max_buffer_size=MAX_BYTES + 2 * CHUNK, max_ext_len=0,
                                         ext_hook=refuse_extension, max_array_len=MAX_VALUES, max_map_len=MAX_VALUES)
        self.digest, self.chunks = Digest(), []
        self.fed = self.offset = self.index = 0

    def records(self):
        while True:
            record = self.decode(self.next_value())
            if record is None:
                return
            yield self.framed(record)

    def next_value(self):
        """The next value, or None where the input ends behind a stream."""
        while True:
            try:
                return self.unpacker.unpack()
            except msgpack.OutOfData:
                data = self.read(CHUNK)
                if not data:
                    return self.at_end()
                if self.fed - self.offset > MAX_BYTES:
                    raise self.malformed("a record larger than %d bytes" % MAX_BYTES) from None
                self.unpacker.feed(data)
                self.chunks.append((self.fed, bytes(data)))     # itself, where it is bytes
                self.fed += len(data)
            except (ValueError, msgpack.UnpackException) as e:
                raise self.malformed(str(e) or "not a MessagePack value") from None

    def at_end(self):
        if self.fed == 0:
            raise StreamError("empty input '%s'; expected a stream" % self.name)
        if self.fed > self.offset or self.index > 0:
            raise StreamError("truncated input '%s': no end record after %d records (byte %d)" % (self.name, self.index, self.fed))

    def malformed(self, what):
        return StreamError("malformed input '%s': record %d (byte %d): %s" % (self.name, self.index, self.offset, what))

    def decode(self, value):
        if value is None and self.fed == self.offset:
            return None
        if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str) or not isinstance(value[1], dict):
            raise self.malformed("not a record; expected [kind, map]")
        if not KIND.match(value[0]):
            raise self.malformed("the record's kind has a character that is not allowed, or is not of 1 to 64 bytes")
        try:
            return Record(value[0], Arrays().entries(value[1], 2))
        except StreamError as e:
            raise self.malformed(str(e)) from None

    def framed(self, record):
        """The record, when it may stand here; its bytes go into the digest."""
        begin, end = self.offset, self.unpacker.tell()
        if record.kind == "fail":
            raise StreamError("input '%s' ends where the program that wrote it failed" % self.name)
        if self.index == 0:
            self.begin_stream(record)
        elif record.kind == "hdr":
            raise self.malformed("a second 'hdr' before 'end'")
        elif record.kind == "end":
            self.end_stream(record)
        self.hash(begin, end, record.kind not in ("hdr", "end"))
        self.index = 0 if record.kind == "end" else self.index + 1
        self.offset = end
        return record

    def begin_stream(self, record):
        if record.kind != "hdr":
            raise self.malformed("a stream begins with a record 'hdr'")
        if not is_count(record.get("version")) or not isinstance(record.get("chain"), list):
            raise self.malformed("a header has the keys 'version' and 'chain'")
        if record["version"] != VERSION:
            raise self.malformed("the stream has another version; this program reads version %d" % VERSION)
        self.digest.reset()

    def end_stream(self, record):
        if not is_count(record.get("records")) or not is_count(record.get("digest")):
            raise self.malformed("an end has the keys 'records' and 'digest'")
        if record["records"] != self.index - 1:
            raise self.malformed("the end record counts other records than were read")
        if record["digest"] != self.digest.value():
            raise self.malformed("the digest does not match; the stream was damaged")

    def hash(self, begin, end, counts):
        """Take the input's bytes begin .. end into the digest, if they count, and let go of chunks that are behind end."""
        while self.chunks and self.chunks[0][0] < end:
            at, data = self.chunks[0]
            if counts:
                self.digest.add(data, max(begin - at, 0), min(end - at, len(data)))
            if at + len(data) > end:
                break
            del self.chunks[0]


def is_count(value):
    return type(value) is int and value >= 0


def unique(pairs):
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a map has a key twice")
    if not all(type(key) is str for key in made):
        raise ValueError("a map key is not a str")
    return made


def refuse_extension(code, data):
    raise ValueError("extension types are not allowed")


def check_number(x):
    if not math.isfinite(x):
        raise StreamError("a number is not finite")


class Arrays:
    """Values of a record as they were read, with arrays for tensors.  Depths count from the record, which is 1."""

    def __init__(self):
        self.n = 3     # values; the record and its two

    def count(self, n, depth):
        self.n += n
        if self.n > MAX_VALUES:
            raise StreamError("a record beyond the limits (%d values)" % MAX_VALUES)
        if depth > MAX_DEPTH:
            raise StreamError("nesting deeper than %d" % MAX_DEPTH)

    def entries(self, value, depth):
        self.count(2 * len(value), depth)
        for key, x in value.items():
            kind = type(x)
            if kind is dict or kind is list:
                value[key] = self.value(x, depth + 1)
            elif kind is float:
                check_number(x)
        return value

    def value(self, value, depth):
        if type(value) is dict:
            if TENSOR.issubset(value):
                self.count(6, depth)
                if isinstance(value["shape"], list):
                    self.count(len(value["shape"]), depth + 1)
                return array(value)
            return self.entries(value, depth)
        self.count(len(value), depth)
        kinds = set(map(type, value))
        if float in kinds:
            for x in value:
                if type(x) is float:
                    check_number(x)
        if list in kinds or dict in kinds:
            return [self.value(x, depth + 1) if type(x) is dict or type(x) is list else x for x in value]
        return value


def array(value):
    """A tensor's map as an array, a view of its bytes."""
    dtype, shape, data = DTYPES.get(value["dtype"]) if isinstance(value["dtype"], str) else None, value["shape"], value["data"]
    if dtype is None:
        raise StreamError("unknown tensor dtype")
    if not isinstance(shape, list) or len(shape) > MAX_RANK or not all(map(is_count, shape)):
        raise StreamError("a tensor's shape is not a list of at most %d sizes" % MAX_RANK)
    if not isinstance(data, bytes):
        raise StreamError("a tensor's data is not bin")
    if math.prod(shape) * dtype.itemsize != len(data):
        raise StreamError("a tensor has %d bytes of data, its shape does not" % len(data))
    try:
        made = np.frombuffer(data, dtype).reshape(shape)
    except ValueError as e:     # sizes beside a 0 that no array can have
        raise StreamError("a tensor's shape: %s" % e) from None
    if dtype.kind == "f" and not np.isfinite(made).all():
        raise StreamError("a tensor holds a number that is not finite")
    return made


# ---- writing ----

def write(target, records, program="python"):
    """Write a stream of records: Record, or pairs of a kind and a dict.

    target: a path, where the stream appears when it is whole, or a binary file.
    Arrays become tensors, in the types u8 .. u64, i8 .. i64, f32, f64.  A leading record hdr, as read yields it, is kept with what
    programs wrote the stream before; without one a header is made.  Ends are computed.  `program` is what the header says of this one.
    Raises StreamError where a value has no place in a stream."""
    if hasattr(target, "write"):
        try:
            put_stream(target, records, program)
        except BaseException:
            with contextlib.suppress(OSError, ValueError):
                if stat.S_ISFIFO(os.fstat(target.fileno()).st_mode):
                    target.write(msgpack.packb(["fail", {}]))
                    target.flush()
            raise
    elif os.path.exists(target) and not os.path.isfile(target):     # a pipe, a device
        with open(target, "wb") as file:
            write(file, records, program)
    else:
        with put_whole(os.path.realpath(target)) as file:
            put_stream(file, records, program)


@contextlib.contextmanager
def put_whole(path):
    """A file that takes the name `path` when it is whole."""
    file = tempfile.NamedTemporaryFile(dir=os.path.dirname(path), prefix=".new.", delete=False)
    try:
        with file:
            yield file
            mask = os.umask(0)
            os.umask(mask)
            os.fchmod(file.fileno(), 0o666 & ~mask)
        os.replace(file.name, path)
    except BaseException:
        os.unlink(file.name)
        raise


def put_stream(file, records, program):
    from . import __version__ as version
    digest, n = Digest(), None     # records since the header; None: there is none yet
    ours = {"program": program, "version": version, "args": [], "threads": 1}

    def end():
        file.write(packed("end", {"records": n, "digest": digest.value()}))
        digest.reset()

    for record in records:
        kind, value = (record.kind, record) if isinstance(record, Record) else record
        if kind == "hdr":
            if n is not None:
                end()
            file.write(packed(kind, {**value, "version": VERSION, "chain": [*value.get("chain", []), ours]}))
            n = 0
        elif kind != "end":
            if n is None:
                file.write(packed("hdr", {"version": VERSION, "chain": [ours]}))
                n = 0
            data = packed(kind, value)
            digest.add(data, 0, len(data))
            file.write(data)
            n += 1
    if n is None:
        file.write(packed("hdr", {"version": VERSION, "chain": [ours]}))
        n = 0
    end()
    file.flush()


def packed(kind, value):
    if not isinstance(kind, str) or not KIND.match(kind) or kind == "fail":
        raise StreamError("no record can be of the kind %r" % (kind,))
    try:
        data = msgpack.packb([kind, plain(value, kind, 2)], use_bin_type=True)
    except (TypeError, ValueError, OverflowError, RecursionError) as e:
        raise StreamError("cannot write a record '%s': %s" % (kind, e)) from None
    if len(data) > MAX_BYTES:
        raise StreamError("cannot write a record '%s': it is larger than 1 GiB" % kind)
    return data


def plain(value, at, depth):
    """A value as MessagePack has it.  `at` says where it is, for messages."""
    if depth > MAX_DEPTH:
        raise ValueError("%s: nesting is too deep" % at)
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError("%s: the key %r is not a str" % (at, key))
        return {str(key): plain(x, "%s.%s" % (at, key), depth + 1) for key, x in value.items()}
    if isinstance(value, np.ndarray):
        return tensor(value, at)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, tuple)):
        if set(map(type, value)) <= {str, int, bool}:
            return value
        return [plain(x, "%s[%d]" % (at, i), depth + 1) for i, x in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("%s: a number is not finite" % at)
    if value is not None and not isinstance(value, (str, int, float, bytes)):
        raise TypeError("%s: a stream has no %s" % (at, type(value).__name__))
    return value


def tensor(value, at):
    """An array as a tensor's map; its bytes are copied only where they are not contiguous and little-endian."""
    name = NAMES.get(value.dtype.newbyteorder("<"))
    if name is None:
        raise TypeError("%s: a tensor has no elements of type %s; %s" % (at, value.dtype, ", ".join(DTYPES)))
    if value.ndim > MAX_RANK:
        raise ValueError("%s: a tensor has at most %d dims" % (at, MAX_RANK))
    if value.dtype.kind == "f" and not np.isfinite(value).all():
        raise ValueError("%s: a number is not finite" % at)
    flat = np.ascontiguousarray(value, DTYPES[name]).reshape(-1)
    return {"dtype": name, "shape": list(value.shape), "data": flat.view("u1").data}
