#!/usr/bin/env python3
"""run.py BIN INPUTS OUT [NAMES] < CASES - run the cases with the programs of BIN, one text file each in OUT.

CASES are `NAME<tab>MODE<tab>COMMAND<nul>`; NAMES is a regular expression that selects some.  A command
runs in an empty directory of its own; $IN is INPUTS.  The text in OUT/NAME has the command, its exit
status, its standard error (of a pipeline in alphabetical order), its standard output and the files that it
leaves.  Of a stream it has a line
for each record but `hdr`, which names the programs, and for each key: MODE `bytes` gives their digests,
MODE `form` kinds and keys alone, for what is measured.  A case whose text is there with the same command is
not run again.  JOBS: how many at once.

run.py --mutants PROGRAM [ARG...] FILE... - run a program on each FILE; a line each."""
import concurrent.futures, functools, hashlib, importlib.util, os, re, shutil, subprocess, sys

import msgpack

TIMEOUT = 300
LOOSE = {"strict_map_key": False, "unicode_errors": "surrogateescape"}
HERE = os.path.dirname(os.path.abspath(__file__))


def digest(data):
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def is_stream(data):
    return data[:5] == b"\x92\xa3hdr"


def form(value):
    """The type of a value, without what it holds."""
    if isinstance(value, dict) and value.keys() == {"dtype", "shape", "data"}:
        return f"{value['dtype']} rank {len(value['shape'])}"
    if isinstance(value, dict):
        return "{" + " ".join(f"{k}:{form(v)}" for k, v in value.items()) + "}"
    return type(value).__name__


def show(value):
    """A short value as it is, a long one as its size and digest."""
    text = repr(value)
    if len(text) <= 60:
        return text
    return f"{len(text)} characters, {digest(text.encode(errors='surrogateescape'))}"


@functools.lru_cache(1000)
def record_lines(wire, mode):
    kind, m = msgpack.unpackb(wire, **LOOSE)
    if kind == "hdr":
        return ["hdr"]
    if mode == "form":
        return [f"{kind} {form(m)}" if kind != "end" else "end"]
    return [f"{kind} {len(wire)} bytes {digest(wire)}"] + [f"    {key}: {show(value)}" for key, value in m.items()]


def stream_lines(data, mode):
    u = msgpack.Unpacker(max_buffer_size=2**31 - 1, **LOOSE)
    u.feed(data)
    at, lines = 0, []
    while True:
        try:
            u.skip()
            lines += record_lines(data[at:u.tell()], mode)
        except msgpack.OutOfData:
            break
        except (msgpack.FormatError, msgpack.StackError):
            return lines + [f"damaged at byte {at}"]
        at = u.tell()
    if at < len(data):
        lines.append(f"{len(data) - at} bytes of a record that is cut")
    return lines


def content_lines(data, mode, away):
    """What a file or an output has."""
    if is_stream(data):
        return stream_lines(data, mode)
    if mode == "form":
        return ["something"] if data else []
    try:
        text = data.decode() if len(data) < 1 << 20 else None
    except UnicodeDecodeError:
        text = None
    if text is None or "\0" in text:
        return [f"{len(data)} bytes {digest(data)}"]
    for path, name in away:
        text = text.replace(path, name)
    return text.split("\n")


def program_env(bin_dir, inputs):
    ov = {"HSDAG_OPENVINO": sys.prefix} if importlib.util.find_spec("openvino") else {}
    return {**os.environ, **ov, "PATH": f"{bin_dir}:{os.environ['PATH']}", "BIN": bin_dir, "IN": inputs, "GOLDEN": HERE,
            "PYTHON": sys.executable, "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C"}


def error_lines(data, away, several):
    """What programs say; of several at once the order is left to chance."""
    lines = content_lines(data, "bytes", away)
    return sorted(lines) if several else lines


def heading(case):
    return f"# {case[1]} " + case[2].replace("\n", "\\n")


def run_case(case, bin_dir, inputs, out):
    name, mode, command = case
    scratch = os.path.join(out, ".scratch", name)
    work = os.path.join(scratch, "work")
    os.makedirs(work)
    try:
        with open(f"{scratch}/out", "wb") as o, open(f"{scratch}/err", "wb") as e:
            rc = subprocess.run(["timeout", str(TIMEOUT), "bash", "-o", "pipefail", "-c",
                                 f". {HERE}/functions.bash; {command}"],
                                cwd=work, env=program_env(bin_dir, inputs), stdin=subprocess.DEVNULL,
                                stdout=o, stderr=e).returncode
        away = [(work, "WORK"), (inputs, "IN"), (bin_dir + "/", "")]
        lines = [heading(case), f"status {rc}"]
        files = [("err", f"{scratch}/err"), ("out", f"{scratch}/out")]
        for folder, _, leaves in os.walk(work):
            files += [(os.path.relpath(f"{folder}/{f}", work), f"{folder}/{f}") for f in leaves]
        for what, path in files[:2] + sorted(files[2:]):
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as f:
                    data = f.read()
                if rc and what == "out" and is_stream(data):
                    continue                      # how much of it was written before the error does not matter
                lines.append(f"== {what}")
                if what == "err":
                    lines += error_lines(data, away, several="|" in case[2] or "loop" in case[2])
                else:
                    lines += content_lines(data, mode, away)
        path = f"{scratch}/text"
        with open(path, "w", errors="surrogateescape") as f:
            f.write("\n".join(lines) + "\n")
        os.makedirs(os.path.dirname(f"{out}/{name}"), exist_ok=True)
        os.rename(path, f"{out}/{name}")
    finally:
        shutil.rmtree(scratch)


def is_there(case, out):
    try:
        with open(f"{out}/{case[0]}", errors="surrogateescape") as f:
            return f.readline() == heading(case) + "\n"
    except OSError:
        return False


def run_all(bin_dir, inputs, out, names=""):
    cases = [line.split("\t", 2) for line in sys.stdin.read().split("\0")[:-1]]
    if len({c[0] for c in cases}) < len(cases):
        sys.exit("run.py: error: two cases of one name")
    cases = [c for c in cases if re.search(names, c[0])]
    shutil.rmtree(f"{out}/.scratch", ignore_errors=True)
    jobs = int(os.environ.get("JOBS") or len(os.sched_getaffinity(0)))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(run_case, c, os.path.abspath(bin_dir), os.path.abspath(inputs), os.path.abspath(out))
                     for c in cases if not is_there(c, out)]:
            done.result()
    print("\n".join(c[0] for c in cases))


def run_mutants(args):
    first = next(i for i, a in enumerate(args) if a.endswith(".mp") and i)
    for path in args[first:]:
        r = subprocess.run(["timeout", "60", *args[:first], path], stdin=subprocess.DEVNULL, capture_output=True)
        lines = [] if r.returncode else content_lines(r.stdout, "bytes", [])
        error = r.stderr.decode(errors="backslashreplace").strip()
        print(os.path.basename(path), r.returncode, digest("\n".join(lines).encode(errors="surrogateescape")) if lines else "-",
              error.replace("\n", "\\n"), sep="\t", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--mutants":
        run_mutants(sys.argv[2:])
    else:
        run_all(*sys.argv[1:])
