#!/usr/bin/env python3
"""layers.py [LIB] - do the includes of LIB (default: lib) keep the order of its rooms?

LIB/README.md has the order: a table whose rows begin with "| `room` |", lowest first.  A room is a
folder with code in it.  Checked, from the includes themselves:
  - every room is in the table, and has a README.md of its own;
  - a file includes its own room, and rooms above its own row in the table, never below;
  - the line "Includes:" of a room's README names the rooms that it includes, no more and no less;
  - no circle of files (NAME.c and NAME.h count as one), except a unit in several files, one of
    whose headers says "not for others", and those in the list under "## Circles" in
    LIB/README.md: "- `a` `b`: why";
  - base names are unique, guards of headers are their paths;
  - a room has at most 40 files;
  - a header of another project is included by one file only.
Prints one line for each breach; exit status 1 when there is one."""
import collections, os, re, sys

LIB = sys.argv[1] if len(sys.argv) > 1 else "lib"
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
    """The rooms in order, and the circles of files that are allowed: sets of names without suffix."""
    with open(os.path.join(LIB, "README.md")) as f:
        text = f.read()
    rooms = re.findall(r"^\| `([a-z0-9_/]+)` \|", text, re.M)
    circles = []
    if "## Circles" in text:
        for line in re.findall(r"^- ((?:`[a-z0-9_/]+` ?)+):", text.split("## Circles", 1)[1], re.M):
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


def is_one_unit(part, code):
    """Files of one room around a header that is not for others."""
    return len({os.path.dirname(name) for name in part}) == 1 and any(
        "not for others" in " ".join(code.get(name + ".h", "").lower().replace("*", " ").split()) for name in part)


def check_circles(includes, allowed, code):
    unit = lambda path: os.path.splitext(path)[0]
    edges = collections.defaultdict(set)
    for path, others in includes.items():
        edges[unit(path)].update(unit(other) for other in others if unit(other) != unit(path))
    found = circles_of(edges)
    for part in found:
        if part not in allowed and not is_one_unit(part, code):
            breach("files include each other in a circle: " + ", ".join(sorted(part)))
    for part in allowed:
        if part not in found:
            breach("%s/README.md allows a circle that is not there: %s" % (LIB, ", ".join(sorted(part))))


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
    check_circles(check_includes(code, rooms), allowed, code)
    check_names(code)
    for text in breaches:
        print("layers: " + text)
    if not breaches:
        print("layers: %d files in %d rooms, includes one way" % (len(code), len(rooms)))
    sys.exit(1 if breaches else 0)


if __name__ == "__main__":
    main()
