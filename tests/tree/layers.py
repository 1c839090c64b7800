#!/usr/bin/env python3
"""layers.py [LIB [OBJECTS]] - do the files of LIB (default: lib) keep the order of its rooms?

LIB/README.md has the order: a table whose rows begin with "| `room` |", lowest first.  A room is a
folder with code in it.  Checked, from the includes:
  - every room is in the table, and has a README.md of its own;
  - a file includes its own room, and rooms above its own row in the table, never below;
  - the line "Includes:" of a room's README names the rooms that it includes, no more and no less;
  - no circle of headers;
  - a header that says "not for others" is included by files of its room alone, which it names in
    its first comment (`repair*.c` names several); one that says "internal to lib/ROOM" by any
    file of its room;
  - base names are unique, guards of headers are their paths;
  - a room has at most 40 files;
  - a header of another project is included by one file only.
Checked from their symbols, where OBJECTS has the object files of LIB (build/obj):
  - no circle of .c files, each of which uses a function or data that the next one defines.
What is allowed is in the list under "## Circles" in LIB/README.md: a circle, "- `a` `b`: why", or
circles and headers of a folder, "- `folder/*`: why".
Prints one line for each breach; exit status 1 when there is one."""
import collections, fnmatch, os, re, subprocess, sys

LIB = sys.argv[1] if len(sys.argv) > 1 else "lib"
OBJECTS = sys.argv[2] if len(sys.argv) > 2 else None
MOST = 40
SYSTEM = """assert ctype dirent dlfcn errno fcntl float fnmatch getopt glob immintrin inttypes limits locale math
poll pthread sched signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib string strings sys/file sys/ioctl
sys/mman sys/resource sys/stat sys/statvfs sys/syscall sys/sysinfo sys/time sys/types sys/wait time unistd wchar"""
SYSTEM = {name + ".h" for name in SYSTEM.split()}

breaches = []


def breach(text):
    breaches.append(text)


def sources():
    """{path below LIB: text} of all code."""
    out = {}
    for folder, _, names in os.walk(LIB):
        for name in names:
            if name.endswith((".c", ".h", ".cl")):
                path = os.path.join(folder, name)
                with open(path) as f:
                    out[os.path.relpath(path, LIB)] = f.read()
    return out


def read_order():
    """The rooms in order, and the circles that are allowed: sets of names without suffix, or of one pattern."""
    with open(os.path.join(LIB, "README.md")) as f:
        text = f.read()
    rooms = re.findall(r"^\| `([a-z0-9_/]+)` \|", text, re.M)
    circles = []
    if "## Circles" in text:
        for line in re.findall(r"^- ((?:`[a-z0-9_/*]+` ?)+):", text.split("## Circles", 1)[1], re.M):
            circles.append(set(re.findall(r"`([^`]+)`", line)))
    return rooms, circles


def circles_of(edges):
    """Strongly connected components of more than one node (Tarjan)."""
    index, low, stack, on, out = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in edges.get(v, ()):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            part = set()
            while v not in part:
                w = stack.pop()
                on.discard(w)
                part.add(w)
            if len(part) > 1:
                out.append(part)

    sys.setrecursionlimit(100000)
    for v in sorted(edges):
        if v not in index:
            visit(v)
    return out


def check_rooms(code, rooms):
    here = {os.path.dirname(path) for path in code}
    for room in sorted(here - set(rooms)):
        breach("room '%s' is not in the table of %s/README.md" % (room, LIB))
    for room in rooms:
        if room not in here:
            breach("room '%s' is in the table of %s/README.md, but has no code" % (room, LIB))
        elif not os.path.exists(os.path.join(LIB, room, "README.md")):
            breach("%s/%s has no README.md" % (LIB, room))
    for room in sorted(here):
        n = len([path for path in code if os.path.dirname(path) == room])
        if n > MOST:
            breach("%s/%s has %d files, more than %d" % (LIB, room, n, MOST))


def check_includes(code, rooms):
    """Rooms in order; returns {file: included files}."""
    place = {room: i for i, room in enumerate(rooms)}
    includes, uses, homes = {}, collections.defaultdict(set), collections.defaultdict(set)
    for path, text in sorted(code.items()):
        own = os.path.dirname(path)
        includes[path] = re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M)
        for other in includes[path]:
            room = os.path.dirname(other)
            if other not in code:
                breach("%s/%s includes '%s', which is not there" % (LIB, path, other))
            elif room != own:
                uses[own].add(room)
                if own in place and room in place and place[room] >= place[own]:
                    breach("%s/%s includes %s: room '%s' is not below '%s'" % (LIB, path, other, room, own))
        for other in re.findall(r"^\s*#\s*include\s+<([^>]+)>", text, re.M):
            if other not in SYSTEM:
                homes[other.split("/")[0] if "/" in other else other].add(path)
    for header, files in sorted(homes.items()):
        if len(files) > 1:
            breach("<%s> is included by several files: %s" % (header, ", ".join(sorted(files))))
    for room in rooms:
        check_readme(room, uses[room], rooms)
    return includes


def check_readme(room, used, rooms):
    path = os.path.join(LIB, room, "README.md")
    if not os.path.exists(path):
        return
    with open(path) as f:
        line = re.search(r"^(?:\*\*)?Includes:(?:\*\*)?(.*(?:\n(?!\n).*)*)", f.read(), re.M)
    if not line:
        breach("%s has no line 'Includes:'" % path)
        return
    words = re.sub(r"[`,.;]", " ", line.group(1)).split()
    said = set(words) & set(rooms)
    for other in sorted(used - said):
        breach("%s does not say that it includes '%s'" % (path, other))
    for other in sorted(said - used):
        breach("%s says that it includes '%s', which it does not" % (path, other))


def is_allowed(names, allowed, met):
    """Is there an entry of these names, without suffix, or a pattern that all of them match?  It goes into `met`."""
    for i, entry in enumerate(allowed):
        if entry == names or (len(entry) == 1 and all(fnmatch.fnmatch(name, *entry) for name in names)):
            met.add(i)
            return True
    return False


def check_circles(found, allowed, met, what):
    for part in found:
        if not is_allowed({os.path.splitext(path)[0] for path in part}, allowed, met):
            breach("%s in a circle: %s" % (what, ", ".join(sorted(part))))


def check_marked(code, includes, allowed, met):
    """Headers that are not for others: who includes them."""
    for path, text in sorted(code.items()):
        about = re.match(r"\s*/\*.*?\*/", text, re.S)
        about = " ".join(about.group(0).replace("*/", "").split()) if about and path.endswith(".h") else ""
        about = re.sub(r" \* ", " ", about)
        named = re.findall(r"[\w*]+\.[ch]\b", about) if "not for others" in about.lower() else \
            ["*"] if "internal to lib/" in about.lower() else None
        if named is None:
            continue
        for other, its in sorted(includes.items()):
            if path in its and path != other and (os.path.dirname(other) != os.path.dirname(path) or not any(
                    fnmatch.fnmatch(os.path.basename(other), name) for name in named)):
                if not is_allowed({os.path.splitext(path)[0]}, allowed, met):
                    breach("%s/%s is not for others, and does not name %s, which includes it" % (LIB, path, other))


def read_symbols(code):
    """{file: {file that defines what it uses: the symbols}} of the objects of files that are in LIB."""
    objects = [path for path in code if path.endswith(".c") and os.path.exists(os.path.join(OBJECTS, path[:-2] + ".o"))]
    if not objects:
        sys.exit("layers: there are no objects of %s in %s; make them" % (LIB, OBJECTS))
    home, wants = {}, collections.defaultdict(set)
    for at in range(0, len(objects), 500):
        some = [os.path.join(OBJECTS, path[:-2] + ".o") for path in objects[at:at + 500]]
        text = subprocess.run(["nm", "-A", "-P"] + some, check=True, stdout=subprocess.PIPE).stdout.decode()
        for line in text.splitlines():
            name, symbol, kind = re.match(r"(.*)\.o: (\S+) (\S)", line).groups()
            path = os.path.relpath(name, OBJECTS) + ".c"
            if kind == "U":
                wants[path].add(symbol)
            elif kind.isupper():
                home[symbol] = path
    uses = {path: collections.defaultdict(set) for path in objects}
    for path, symbols in wants.items():
        for symbol in symbols & home.keys():
            uses[path][home[symbol]].add(symbol)
    return uses


def check_names(code):
    at = collections.defaultdict(list)
    for path, text in sorted(code.items()):
        at[os.path.basename(path)].append(path)
        if path.endswith(".h"):
            guard = "HSDAG_" + re.sub(r"[^A-Za-z0-9]", "_", path).upper()
            first = re.search(r"^#ifndef (\w+)", text, re.M)
            if first and first.group(1).startswith("HSDAG_") and first.group(1).endswith("_H") and \
                    first.group(1) != guard:
                breach("%s/%s is guarded by %s, not %s" % (LIB, path, first.group(1), guard))
    for name, paths in sorted(at.items()):
        if len(paths) > 1:
            breach("several files are called %s: %s" % (name, ", ".join(paths)))


def main():
    code = sources()
    rooms, allowed = read_order()
    check_rooms(code, rooms)
    includes = check_includes(code, rooms)
    met = set()
    check_marked(code, includes, allowed, met)
    check_names(code)
    check_circles(circles_of(includes), allowed, met, "headers include each other")
    if OBJECTS:
        check_circles(circles_of(read_symbols(code)), allowed, met, "files call each other")
        for i in sorted(set(range(len(allowed))) - met):
            breach("%s/README.md allows a circle that is not there: %s" % (LIB, ", ".join(sorted(allowed[i]))))
    for text in breaches:
        print("layers: " + text)
    if not breaches:
        print("layers: %d files in %d rooms, includes%s one way" % (len(code), len(rooms), " and calls" * bool(OBJECTS)))
    sys.exit(1 if breaches else 0)


if __name__ == "__main__":
    main()
