"""onnx_names.py - operations of a converted model get the names that they have in the .onnx file.

OpenVINO's reader keeps most names of nodes, but not of those that it fuses, leaves out, or makes of several operations.  Names of
tensors it keeps: whatever lies between tensors that both models name comes from the same nodes.
"""
import mmap


def varint(b, at):
    value = shift = 0
    while True:
        x = b[at]
        at += 1
        value |= (x & 127) << shift
        shift += 7
        if x < 128:
            return value, at
        if shift > 63:
            raise ValueError("no varint")


def fields(b, at, end):
    """Of a protobuf message in b[at:end] the fields that have a length: (number, begin, end)."""
    while at < end:
        tag, at = varint(b, at)
        kind = tag & 7
        if kind == 0:
            _, at = varint(b, at)
        elif kind == 2:
            n, at = varint(b, at)
            if n > end - at:
                raise ValueError("a field ends behind its message")
            yield tag >> 3, at, at + n
            at += n
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise ValueError("no protobuf")


class Node:
    def __init__(self, b, begin, end):
        """NodeProto of onnx.proto3: input 1, output 2, name 3, op_type 4.  Without a name it is called as its first output."""
        of = {1: [], 2: [], 3: [], 4: []}
        for number, i, j in fields(b, begin, end):
            if number in of:
                of[number].append(b[i:j].decode())
        self.inputs, self.outputs = [i for i in of[1] if i], [o for o in of[2] if o]
        self.type = (of[4] or [""])[0]
        self.name = (of[3] or [""])[0] or (self.outputs or [""])[0]


def nodes_of(path):
    """The nodes of the file's main graph, in its order (ModelProto.graph is 7, GraphProto.node 1)."""
    nodes = []
    with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as b:
        for number, at, end in fields(b, 0, len(b)):
            for kind, i, j in fields(b, at, end) if number == 7 else ():
                if kind == 1:
                    nodes.append(Node(b, i, j))
    return [n for n in nodes if n.name]


ALSO = {"conv": "groupconvolution", "gemm": "matmul", "convtranspose": "convolutionbackpropdata", "layernormalization": "mvn", "globalaveragepool": "reducemean",
        "globalmaxpool": "reducemax", "lstm": "lstmsequence", "gru": "grusequence", "rnn": "rnnsequence"}


def alike(node, op):
    a, b = node.type.lower(), op.get_type_name().lower()
    return bool(a) and (a in b or b in a or ALSO.get(a, "-") in b)


def computes(op):
    return op.get_type_name() not in ("Parameter", "Result", "Constant")


def groups_of(ops):
    """{name: operations that go into the operation of this name and into no other one that has names of tensors, itself last}"""
    at, groups = {}, {}
    for op in reversed(ops):
        if any(o.get_names() for o in op.outputs()):
            at[op.get_friendly_name()] = op.get_friendly_name()
            continue
        behind = [at[n] for o in op.outputs() for n in (t.get_node().get_friendly_name() for t in o.get_target_inputs()) if n in at]
        if behind:
            at[op.get_friendly_name()] = behind[0]
    for op in ops:
        if op.get_friendly_name() in at and computes(op):
            groups.setdefault(at[op.get_friendly_name()], []).append(op)
    return groups


def region_of(made, nodes, maker, known, taken):
    """Numbers of the nodes that make these (made), back to tensors that both models name."""
    region, todo = set(), list(made)
    while todo:
        i = todo.pop()
        if i in region or i in taken:
            continue
        region.add(i)
        todo += [maker[t] for t in nodes[i].inputs if t in maker and (t not in known or maker[t] in made)]
    taken |= region
    return sorted(region)


def rename(model, path):
    """Names the operations of the model as the nodes of the file: what comes of several nodes as one of them, and of what comes of one node one
    operation as the node and the others NODE/OPERATION.  [(node, the operation that computes it)] of all nodes that the model has something of."""
    nodes = nodes_of(path)
    ops = model.get_ordered_ops()
    if len({op.get_friendly_name() for op in ops}) < len(ops):      # names tell operations apart here
        return []
    maker = {t: i for i, n in enumerate(nodes) for t in n.outputs}
    known = {n for op in ops for o in op.outputs() for n in o.get_names()}
    groups, taken, computed, new, theirs = groups_of(ops), set(), {}, {}, {n.name for n in nodes}
    for op in ops:
        made = {maker[n] for o in op.outputs() for n in o.get_names() if n in maker}
        if not made or op.get_type_name() in ("Parameter", "Result"):
            continue
        region, group = region_of(made, nodes, maker, known, taken), groups.get(op.get_friendly_name(), [op])
        free = list(group)
        for i in region:
            best = max(free or group, key=lambda x: 2 * alike(nodes[i], x) + (x.get_friendly_name() == nodes[i].name))
            computed[i] = best
            free = [x for x in free if x is not best]
        here = {x.get_friendly_name() for x in group}
        for x in group:
            name, mine = x.get_friendly_name(), [nodes[i].name for i in region if computed[i] is x]
            if name in theirs or not region or not computes(x):
                continue
            if mine and mine[0] not in here and mine[0] not in new.values():
                new[name] = mine[0]
            elif not any(name.startswith(nodes[i].name + "/") for i in region):
                new[name] = "%s/%s" % ((mine or [nodes[region[-1]].name])[0], name)
    for op in ops:
        if op.get_friendly_name() in new:
            op.set_friendly_name(new[op.get_friendly_name()])
    return [(nodes[i].name, op.get_friendly_name()) for i, op in sorted(computed.items())]
