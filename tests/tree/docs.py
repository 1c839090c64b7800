#!/usr/bin/env python3
"""docs.py [-k PART] [--few] - are the docs true?

Runs from the checkout, with the programs in PATH.  Checked, in README.md, CHANGELOG.md, CONTRIBUTING.md, docs/ and lib/*/README.md:
  - every command: a block that begins with ```sh is run as it stands, by bash, in a fresh clone for each page, after the block with which
    docs/guide/place-a-model.md begins (README alone has its own); without --typed budgets are cut short.
    ```sh openvino needs OpenVINO, and is left out without it; ```sh make is run with `make -n`; ```sh elsewhere, of files that a reader has or of a
    cluster, is only read by `bash -n`, and so is ```sh long without --typed.  What README and docs/guide have in other blocks is no command;
  - every relative link leads to a file, and to a heading in it;
  - every method of placebase and daggroup is in docs/reference/methods.md;
  - every key of the records in a stream of each kind is in docs/reference/stream.md, and keys that are
    required are in every record.
-k PART: only pages whose path has PART in it.  --few: commands of all pages but those that a newcomer types (FEW) are only read by `bash -n`.
--typed: every budget as it is written.  Exit status 1 when something is wrong."""
import functools, os, re, shutil, subprocess, sys, tempfile

import msgpack

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
only = sys.argv[sys.argv.index("-k") + 1] if "-k" in sys.argv else ""
TYPED = "--typed" in sys.argv
FEW = ["README.md", "docs/guide/install.md", "docs/guide/place-a-model.md"] if "--few" in sys.argv else None
SHORTER = [] if TYPED else [(r"--budget \d+", "--budget 1"), (r"-n 200\b", "-n 8 --seconds 3"), (r"--screen \d+", "--screen 5"),
                            (r"--max-seconds [\d.]+", "--max-seconds 0.02"), (r"--race \d+", "--race 1"),
                            (r"run --requests (\d+)", r"run --requests \1 -n 2 --max-seconds 0.02"), (r"--episodes \d+", "--episodes 1")]
breaches = 0


def breach(text):
    global breaches
    breaches += 1
    print("docs: " + text, flush=True)


def pages():
    found = [p for p in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md") if os.path.exists(os.path.join(ROOT, p))]
    for top in ("docs", "lib"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            found += [os.path.relpath(os.path.join(folder, n), ROOT) for n in names if n.endswith(".md")]
    return sorted(p for p in found if only in p)


def read(page):
    with open(os.path.join(ROOT, page)) as f:
        return f.read()


def anchors(text):
    """Headings as the anchors that web pages make of them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    heads = re.findall(r"^#+ +(.*)$", text, re.M)
    return {re.sub(r"[^a-z0-9 _-]", "", h.lower()).replace(" ", "-") for h in heads}


def check_links(page):
    text = re.sub(r"^```.*?^```", "", read(page), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        full = os.path.normpath(os.path.join(ROOT, os.path.dirname(page), path)) if path else os.path.join(ROOT, page)
        if not os.path.exists(full):
            breach("%s: no file '%s'" % (page, target))
        elif anchor and full.endswith(".md"):
            with open(full) as f:
                if anchor not in anchors(f.read()):
                    breach("%s: no heading '%s'" % (page, target))


def clone(folder):
    """What a reader has, and the programs that were built."""
    if subprocess.run(["git", "clone", "-q", "--shared", ROOT, folder], stderr=subprocess.DEVNULL).returncode == 0:
        for path in subprocess.check_output(["git", "-C", ROOT, "diff", "--name-only", "--diff-filter=d", "HEAD"], text=True).split():
            shutil.copy(os.path.join(ROOT, path), os.path.join(folder, path))
    else:
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns("build"), dirs_exist_ok=True)
    os.symlink(os.path.abspath(os.environ.get("B", os.path.join(ROOT, "build"))), os.path.join(folder, "build"))


def blocks_of(page):
    """[(kind, code)] of blocks of commands."""
    return [(kind.strip(), code) for kind, code in re.findall(r"^```sh *([a-z]*)\n(.*?)^```", read(page), re.M | re.S)]


def check_blocks(page):
    """Commands that stand elsewhere would never be run."""
    if page != "README.md" and not page.startswith("docs/guide"):
        return
    programs = os.listdir(os.path.join(os.environ.get("B", os.path.join(ROOT, "build")), "bin"))
    starts = r"(\w+=\S+ +)*(make|python3?|PATH=|pipelines/\S+|build/\S+|tests/\S+|%s)( |$)" % "|".join(map(re.escape, programs))
    text = read(page)
    plain = re.findall(r"^```\n(.*?)^```", text, re.M | re.S)
    plain += re.findall(r"^    (.*\n)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    for code in plain:
        if re.match(starts, code):
            breach("%s: a command in a block that is not ```sh: %s" % (page, code.splitlines()[0]))


def run_block(page, folder, kind, code):
    if kind == "make":
        code = re.sub(r"^make", "make -n", code, flags=re.M)
    for pattern, short in SHORTER:
        code = re.sub(pattern, short, code)
    env = dict(os.environ, DEPENDENCIES="", XDG_CACHE_HOME=os.environ.get("XDG_CACHE_HOME", os.path.join(folder, "..", "cache")))
    env.pop("MAKEFLAGS", None)
    env.pop("MAKELEVEL", None)
    if kind == "openvino":      # an environment that is active, as a reader has it
        env["PATH"] = os.path.dirname(os.path.abspath(os.environ.get("HSDAG_PYTHON", "/usr/bin/python3"))) + ":" + env["PATH"]
    try:
        r = subprocess.run(["bash", *(["-n"] if kind == "elsewhere" or (kind == "long" and not TYPED) else []), "-euo", "pipefail", "-c", code], cwd=folder, env=env,
                           timeout=1200 if TYPED else 150, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        rc, out = r.returncode, r.stdout
    except subprocess.TimeoutExpired as e:
        rc, out = "none in time", e.stdout or b""
    if rc != 0:
        breach("%s: exit status %s of\n%s\n%s" % (page, rc, code, out.decode(errors="replace")[-1500:]))


@functools.cache
def has_openvino():
    return subprocess.run([os.environ.get("HSDAG_PYTHON", "python3"), "-c", "import openvino"],
                          stderr=subprocess.DEVNULL).returncode == 0


def check_commands(page):
    blocks = blocks_of(page)
    if not blocks:
        return
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.join(folder, "hsdag")
        clone(folder)
        if FEW and page not in FEW:
            blocks = [("elsewhere", code) for kind, code in blocks]
        elif page.startswith("docs/") and os.path.exists(os.path.join(ROOT, "docs/guide/place-a-model.md")):
            first = next(code for kind, code in blocks_of("docs/guide/place-a-model.md") if kind == "")
            run_block(page, folder, "", first)
        for kind, code in blocks:
            if kind != "openvino" or has_openvino():
                run_block(page, folder, kind, code)
    print("docs: %s: %d blocks of commands" % (page, len(blocks)), flush=True)


def output(*args):
    return subprocess.run(args, stdout=subprocess.PIPE, check=True).stdout


def check_methods():
    text = read("docs/reference/methods.md")
    for program in ("placebase", "daggroup"):
        for line in output(program, "--list").decode().splitlines()[1:]:
            name = line.split("\t")[0].rstrip("?")
            if "| `%s` |" % name not in text:
                breach("docs/reference/methods.md has no row '%s' of %s --list" % (name, program))


def documented():
    """{kind: {key: required}} of docs/reference/stream.md."""
    out = {}
    for section in re.split(r"^### ", read("docs/reference/stream.md"), flags=re.M)[1:]:
        kinds = section.splitlines()[0].split(", ")
        keys = {}
        for names, need in re.findall(r"^\| (`[^|]*`) \|[^|]*\| *([a-z_` ]+) *\|", section, re.M):
            for name in re.findall(r"`([^`]+)`", names):
                keys[name] = need.strip() == "yes"
        for kind in kinds:
            out[kind] = keys
    return out


STREAMS = """
ir2dag m.xml | dagfeat > g.mp
devsim --probe --spec desktop-cpu,datacenter-gpu < g.mp > s.mp
devrun --probe --profile --max-seconds 0.2 -D cpu:0 < g.mp > p.mp
placebase heft s.mp | devsim --schedule --objective latency=1,energy=0.1 > h.mp
daggroup metis s.mp > d.mp
gpnembed --hidden 8 --threads 1 s.mp | placepolicy --keep > e.mp
mkfifo loop
gpnembed --hidden 8 --threads 1 --params-from loop s.mp | placepolicy | devsim |
  reinforce --keep --params-to loop --episodes 2 --steps 2 > l.mp
mkfifo again
gpnembed --net rnn --recipe rnn --hidden 8 --threads 1 --no-costs --params-from again s.mp | placepolicy --hand-over | tee o.mp |
  devsim | reinforce --recipe rnn --params-to again --episodes 1 --steps 1 --samples 2 > /dev/null
placebase random -n 1 -D cpu:0 p.mp | devrun --max-seconds 0.1 > r.mp
devsim --refit r.mp > refitted.mp
devrun --paired --max-seconds 0.1 r.mp > f.mp
"""


def check_keys():
    says = documented()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(os.path.join(ROOT, "tests/models/small_increment_1x3x4x5.xml"), os.path.join(folder, "m.xml"))
        shutil.copy(os.path.join(ROOT, "tests/models/small_increment_1x3x4x5.bin"), os.path.join(folder, "m.bin"))
        subprocess.run(["bash", "-euo", "pipefail", "-c", STREAMS], cwd=folder, check=True, timeout=100)
        seen = set()
        for name in sorted(os.listdir(folder)):
            if name.endswith(".mp"):
                with open(os.path.join(folder, name), "rb") as f:
                    for kind, record in msgpack.Unpacker(f, max_buffer_size=2**30):
                        seen.add(kind)
                        check_record(name, kind, record, says)
        missing = set(says) - seen - {"checkpoint", "moments", "candidate", "pretraining", "teachers", "critic"}
        if missing:
            breach("no stream here has a record of kind " + ", ".join(sorted(missing)))


def check_record(name, kind, record, says):
    if kind not in says:
        breach("docs/reference/stream.md has no record '%s' (%s)" % (kind, name))
        return
    for key in record:
        if key not in says[kind] and kind != "episode_end":
            breach("docs/reference/stream.md has no key '%s' of '%s'" % (key, kind))
    for key, need in says[kind].items():
        if need and key not in record and kind != "episode_end":
            breach("key '%s' of '%s' is said to be required (%s)" % (key, kind, name))


def main():
    for page in pages():
        check_links(page)
    for page in pages():
        check_blocks(page)
        check_commands(page)
    if not only:
        check_methods()
        check_keys()
    if breaches == 0:
        print("docs: all true")
    sys.exit(1 if breaches else 0)


main()
