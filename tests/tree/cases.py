#!/usr/bin/env python3
"""cases.py [LIB] - does a switch of LIB (default: lib) that meets a value which it has no case for say so, in the rooms that compute?

Checked in kernel, op, dynamic, exec and device, of all code:
  - what stands behind `default:` reports (err_set, MISSED of base/err.h), or answers no (return false, -1, NULL), or a comment says
    what all the other values are;
  - OpenCL programs, which cannot report, have a case for each code that the table cl_operators.h gives to them.
Prints one line for each breach; exit status 1 when there is one."""
import os
import re
import sys

LIB = sys.argv[1] if len(sys.argv) > 1 else "lib"
ROOMS = ("kernel", "op", "dynamic", "exec", "device")
SAYS_SO = re.compile(r"(/\* (?!clang-format)|return err_set\(|MISSED\(|return (false|-1|NULL);)")

breaches = []


def read(path):
    with open(os.path.join(LIB, path)) as f:
        return f.read()


def check_defaults(path, text):
    for m in re.finditer(r"\bdefault:", text):
        begin = text.rfind("\n", 0, m.start()) + 1
        if "/*" in text[begin:m.start()]:
            continue                 # a sentence about it
        behind = re.sub(r"^(\s|\\\n|/\* clang-format \w+ \*/|\*/)*", "", text[m.end():m.end() + 400])
        if not SAYS_SO.match(behind):
            breaches.append("%s:%d: default: %s" % (path, text.count("\n", 0, m.start()) + 1, behind.split("\n")[0]))


def function(text, name):
    """The text of a function of a program, and of one that the first calls `function`."""
    m = re.search(r"^[\w ]+\b%s\(.*?^}" % name, text, re.M | re.S)
    return m.group(0) if m else ""


def check_programs():
    """Rows of the table: X(KIND, lowering, code, kernel, flags)."""
    folder = "device/opencl/programs/"
    table = read("device/opencl/cl_operators.h")
    integer, chain, rare = read(folder + "cl_int.cl"), read(folder + "cl_chain.cl"), read(folder + "cl_rare.cl")
    functions = function(chain, "function")
    rows = [r for r in re.findall(r"X\((\w+), (elem|reduce), (\w+)(?:, (\w+), ([^)]*))?\)", table)]
    if len(rows) < table.count(", elem, ") + table.count(", reduce, "):
        breaches.append("cl_operators.h: only %d rows are understood" % len(rows))
    for kind, lowering, code, kernel, flags in rows:
        wanted = []
        if lowering == "reduce":
            wanted.append(("reduce_int", function(integer.replace("KERNEL(LS, reduce_int", "void reduce_int(KERNEL"), "reduce_int")))
            if code not in ("R_AND", "R_OR"):
                wanted.append(("reduce_step", function(read(folder + "cl_reduce.cl"), "reduce_step")))
        if "INT" in flags:
            wanted.append(("f_int", function(integer, "f_int")))
        if kernel == "K_elem_rare":
            wanted.append(("f_rare", function(rare, "f_rare")))
        if kernel == "K_elem_test":
            wanted.append(("test", function(integer, "test")))
        if "CHAIN" in flags:
            wanted.append(("chain_apply", function(chain, "chain_apply") + functions))
        if "POST" in flags:
            wanted.append(("chain_apply", function(chain, "chain_apply") + functions.split("#ifdef ELEM")[0]))
        for name, text in wanted:
            if not re.search(r"\bcase %s:" % code, text):
                breaches.append("cl_operators.h: %s is %s, for which %s has no case" % (kind, code, name))


for room in ROOMS:
    for folder, _, names in os.walk(os.path.join(LIB, room)):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".cl")):
                path = os.path.relpath(os.path.join(folder, name), LIB)
                check_defaults(path, read(path))
check_programs()
print("\n".join(breaches), end="\n" if breaches else "")
sys.exit(1 if breaches else 0)
