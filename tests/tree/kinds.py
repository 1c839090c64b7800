#!/usr/bin/env python3
"""kinds.py [DIR]... - does code ask the graph for operators' kinds and for readers, rather than read names and scan nodes?

A graph has the kind of each node and who reads it as columns (lib/graph/graph.h, graph_finish).  Checked, in the C code of DIRs
(default: lib cmd), comments aside:
  - no name of an operator's type is compared, and none looked up (op_kind, optype_find) but where text comes in;
  - a file that reads types of nodes, graph->type[v], is in the list TEXT, which says what for;
  - nobody goes through the input ports of all nodes to find or count the readers of one, or builds rows of readers;
  - nor through all bodies to find those of one node;
  - a file that writes types, sources or row pointers of nodes calls graph_finish.
Prints one line for each breach; exit status 1 when there is one."""
import os
import re
import sys

DIRS = sys.argv[1:] or ["lib", "cmd"]

# What names of types are for, by file.
TEXT = {
    "devrun/boundary.c": "a graph is made",
    "device/opencl/cl_lower.c": "a message",
    "device/openvino/ov_device.c": "a message",
    "dynamic/subgraph.c": "a message",
    "exec/model_step.c": "a message",
    "exec/prepared.c": "a message",
    "exec/support.c": "a table for people: a row for each type",
    "feature/features.c": "columns of features called by the types that the graph has (--paper)",
    "feature/featcols.c": "the same",
    "ir/fill.c": "a message",
    "ir/finish.c": "a graph is made",
    "ir/placed_model.c": "names of layers that are written",
    "ir/write_node.c": "IR is written",
    "kernel/kernel.c": "a message",
    "learn/pretrain/synthetic.c": "a graph is made",
    "machine/truth.c": "what is drawn for a type depends on its name",
    "op/infer.c": "a message",
    "place/problem/jsonproblem_write.c": "a graph is made",
    "place/refit/refit_unknowns.c": "sets of one type share what is learned, unknown types as well",
    "report/html/pageparts.c": "what a picture tells of an operation",
    "report/html/pagedata.c": "text of a page",
    "report/placecheck.c": "a report",
    "report/placetext.c": "a report",
    "report/runtimes/dot_graph.c": "text of a picture",
    "report/shown.c": "what people call a node",
    "report/svg/graph_svg.c": "text and a colour for each type",
    "report/svg/timeline_svg.c": "text of a picture",
    "report/trace.c": "names of events",
    "report/placejson.c": "text for programs",
    "report/why.c": "text for people",
    "sched/graphtask.c": "a message",
    "split/draft.c": "a graph is made",
    "split/rewrite.c": "a graph is made",
}
# Where names come in as text.
COMES_IN = ("ir/ir_layer.c",)

TYPE = r"(?:\b[gb]|\bgraph|\bshown)(?:->|\.)type\["
COMPARES = re.compile(r"\bstr\w*(?:cmp|str)\s*\(")
LOOKS_UP = re.compile(r"\b(op_kind|optype_find)\s*\(")
READS = re.compile(TYPE)
SCANS = (re.compile(r"\bfor \([^;]*;[^;]*<\s*(?:\w+->)*in_ptr\[(?:\w+->)*n\]"),
         re.compile(r"\[[^][;]*\bin_node\[[^][]*\][^][;]*\]\s*(?:\+\+|--|\+=)"),
         re.compile(r"\bin_node\[[^][]*\]\s*==(?!\s*GRAPH_NONE)"))
BODIES = re.compile(r"(?:\bbody\[\w+\]\.|\bbody->|\bb->)node\s*[!=]=")
INDEX = r"\[[^][;]*(?:\[[^][;]*\][^][;]*)*\]"
WRITES = re.compile(r"(?:\b[gb]|\bgraph)->(?:type|in_node|in_ptr)(?:%s)?\s*=[^=]|&g->(?:type|in_node|in_ptr)\b" % INDEX)

breaches = []


def operator_names():
    oplist = os.path.join(os.path.dirname(__file__), "../../lib/graph/oplist.h")
    with open(oplist) as f:
        return set(re.findall(r'\bX\([A-Z0-9_]+, "(\w+)"', f.read()))


def without_comments(text):
    """Of the same length and lines; a comment's letters are blanks."""
    return re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S)


def arguments(text, start):
    """What stands between the parenthesis that opens before `start` and the one that closes it."""
    depth, i = 1, start
    while depth and i < len(text):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        i += 1
    return text[start:i]


def check(path, name, names):
    with open(path) as f:
        text = without_comments(f.read())

    def breach(at, why):
        breaches.append("%s:%d: %s" % (path, text.count("\n", 0, at) + 1, why))

    for m in COMPARES.finditer(text):
        given = arguments(text, m.end())
        if READS.search(given) or any(s in names for s in re.findall(r'"(\w+)"', given)):
            breach(m.start(), "compares names of operators: graph->kind has what they are")
    for m in LOOKS_UP.finditer(text):
        if name not in COMES_IN and not name.startswith("op/optype."):
            breach(m.start(), "%s looks an operator up by name: graph->kind has what it is" % m.group(1))
    for m in READS.finditer(text):
        if name not in TEXT:
            breach(m.start(), "reads names of types: compare graph->kind; where it is for text, say so in tests/tree/kinds.py")
    for scan in SCANS:
        for m in scan.finditer(text):
            breach(m.start(), "goes through inputs to find readers: graph->consumers has them")
    for m in BODIES.finditer(text):
        breach(m.start(), "goes through all bodies to find those of a node: graph_bodies has them")
    m = WRITES.search(text)
    if m and "graph_finish(" not in text:
        breach(m.start(), "makes or changes a graph, and does not call graph_finish")
    return bool(READS.search(text))


def main():
    names = operator_names()
    readers = set()
    for top in DIRS:
        for folder, _, files in os.walk(top):
            for f in files:
                path = os.path.join(folder, f)
                name = os.path.relpath(path, top)
                if f.endswith((".c", ".h")) and not name.startswith("graph/") and check(path, name, names):
                    readers.add(name)
    if "lib" in [os.path.basename(os.path.normpath(d)) for d in DIRS]:
        breaches.extend("tests/tree/kinds.py: %s reads no types" % f for f in sorted(set(TEXT) - readers))
    print("\n".join(sorted(breaches)) if breaches else "kinds: operators are compared by kind, readers are found in the graph")
    return bool(breaches)


sys.exit(main())
