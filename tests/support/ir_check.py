#!/usr/bin/env python3
"""ir_check.py - an independent reading of IR files, to hold ir2dag against.

  ir_check.py compare MODEL.xml STREAM    the graph record says what the XML says
  ir_check.py shuffle MODEL.xml OUT SEED  the same model in another order, with other ids

compare parses the XML with ElementTree and the stream with msgpack."""
import random
import sys
import xml.etree.ElementTree as ET

SPELLING = {"constant": "Const", "relu": "ReLU", "softmax": "SoftMax", "prelu": "PReLU"}
NONE = 2**32 - 1


def tensor(t):
    import numpy as np
    return np.frombuffer(t["data"], "<" + t["dtype"][0] + str(int(t["dtype"][1:]) // 8)).reshape(t["shape"])


class Graph:
    """A graph record as lists."""

    def __init__(self, m):
        def t(k):
            return tensor(m[k]).tolist()
        self.id, self.names = t("id"), m["node_name"]
        self.n = len(self.id)
        self.types = [m["types"][i] for i in t("type")]
        self.opsets = [m["opsets"][i] for i in t("opset")]
        ptr, key, val, s = t("attr_ptr"), t("attr_key"), t("attr_value"), m["attr_strings"]
        self.attrs = [[(s[key[i]], s[val[i]]) for i in range(ptr[v], ptr[v + 1])] for v in range(self.n)]
        ptr, node, port = t("in_ptr"), t("in_node"), t("in_port")
        self.inputs = [[(node[i], port[i]) for i in range(ptr[v], ptr[v + 1])] for v in range(self.n)]
        ptr, elem, rank = t("out_ptr"), t("out_elem"), t("out_rank")
        dptr, dim, names = t("dim_ptr"), t("dim"), m["out_names"]
        self.outputs = [[(m["elems"][elem[o]], None if rank[o] == 255 else dim[dptr[o]:dptr[o + 1]], names[o])
                         for o in range(ptr[v], ptr[v + 1])] for v in range(self.n)]
        self.consts = dict(zip(t("const_node"), zip(t("const_offset"), t("const_bytes"))))
        self.bodies = [(b["node"], b["role"], Graph(b["graph"]), b) for b in m["bodies"]]


def ports(layer, side):
    return [p for s in layer.findall(side) for p in s.findall("port")]


def elem_of(precision):
    p = precision.lower()
    return {"fp64": "f64", "fp32": "f32", "fp16": "f16", "bool": "boolean", "bin": "u1",
            "undefined": "dynamic", "unspecified": "dynamic"}.get(p, p)


def kept_layers(layers, feeds):
    """Parameters, and what Result and Assign depend on."""
    keep, todo = set(), []
    for i, l in layers.items():
        if l.get("type").lower() in ("result", "assign"):
            todo.append(i)
        elif l.get("type").lower() == "parameter":
            keep.add(i)
    while todo:
        i = todo.pop()
        if i not in keep:
            keep.add(i)
            todo += [f for f, _ in feeds.get(i, {}).values()]
    return keep


def compare_net(net, g, where):
    layers = {l.get("id"): l for l in net.find("layers").findall("layer")}
    feeds = {}
    for e in net.find("edges").findall("edge"):
        feeds.setdefault(e.get("to-layer"), {})[e.get("to-port")] = (e.get("from-layer"), e.get("from-port"))
    keep = kept_layers(layers, feeds)
    row = {str(i): v for v, i in enumerate(g.id)}
    assert set(row) == keep, f"{where}: layers {sorted(set(row) ^ keep)[:5]}"
    for i in keep:
        l, v = layers[i], row[i]
        at = f"{where} layer {i}"
        typ = l.get("type")
        assert g.types[v].lower() == SPELLING.get(typ.lower(), typ).lower(), at
        assert g.names[v] == l.get("name") and g.opsets[v] == l.get("version"), at
        data = l.find("data")
        attrs = [(k, x) for k, x in l.attrib.items() if k not in ("id", "name", "type", "version")]
        attrs += list(data.attrib.items()) if data is not None else []
        assert sorted(g.attrs[v]) == sorted(attrs), (at, g.attrs[v], attrs)
        want = []
        for p in ports(l, "input"):
            src, port = feeds[i][p.get("id")]
            out = [q.get("id") for q in ports(layers[src], "output")].index(port)
            want.append((row[src], out))
            assert row[src] < v, f"{at}: not in topological order"
        assert g.inputs[v] == want, (at, g.inputs[v], want)
        outs = ports(l, "output")
        assert len(outs) == len(g.outputs[v]), at
        for p, (elem, dims, names) in zip(outs, g.outputs[v]):
            assert names == p.get("names", ""), at
            assert elem == elem_of(p.get("precision")), (at, elem)
            xml_dims = [int(d.text) for d in p.findall("dim")]
            assert dims == xml_dims or (dims is None and not xml_dims), (at, dims, xml_dims)
        if g.types[v] == "Const":
            assert g.consts[v][0] == int(data.get("offset")), at
            assert g.consts[v][1] <= int(data.get("size")), at
        else:
            assert v not in g.consts, at
    compare_bodies(layers, keep, row, g, where)
    return sum(len(x) for x in g.inputs)


def compare_bodies(layers, keep, row, g, where):
    found = {(v, role): (body, raw) for v, role, body, raw in g.bodies}
    n = 0
    for i in keep:
        for tag, role in (("body", "body"), ("then_body", "then"), ("else_body", "else")):
            b = layers[i].find(tag)
            if b is None:
                continue
            n += 1
            body, raw = found[row[i], role]
            compare_net(b, body, f"{where} layer {i} {tag}")
            pm = layers[i].find("port_map" if role == "body" else role + "_port_map")
            maps = list(pm) if pm is not None else []
            assert len(maps) == len(raw["maps"]), (where, i)
            for m, r in zip(maps, raw["maps"]):
                assert r["output"] == (m.tag == "output")
                assert str(body.id[r["internal"]]) == m.get("internal_layer_id")
                assert body.types[r["internal"]] == ("Result" if r["output"] else "Parameter")
                assert ("axis" in r) == (m.get("axis") is not None)
                ids = [p.get("id") for p in ports(layers[i], m.tag)]
                ext = m.get("external_port_id")
                assert r["external"] == (-1 if ext == "-1" else ids.index(ext) if ext in ids else int(ext))
            back = layers[i].find("back_edges") if role == "body" else None
            edges = [] if back is None else [(e.get("from-layer"), e.get("to-layer")) for e in back]
            mine = zip(tensor(raw["back_from"]).tolist(), tensor(raw["back_to"]).tolist())
            assert [(str(body.id[a]), str(body.id[b])) for a, b in mine] == edges, (where, i)
    assert n == len(g.bodies), where


def compare(xml, stream):
    import msgpack
    with open(stream, "rb") as f:
        records = list(msgpack.Unpacker(f, max_buffer_size=2**30))
    assert [r[0] for r in records] == ["hdr", "graph", "end"], [r[0] for r in records]
    m = records[1][1]
    net = ET.parse(xml).getroot()
    assert m["name"] == net.get("name", "") and m["ir_version"] == int(net.get("version"))
    g = Graph(m)
    edges = compare_net(net, g, xml)
    print(f"{g.n} {edges}")


def shuffle_net(net, rng):
    layers = net.find("layers")
    ids = {l.get("id"): str(i) for l, i in zip(layers, rng.sample(range(10**12), len(layers)))}
    ins, outs = {}, {}
    for l in layers:
        old = l.get("id")
        l.set("id", ids[old])
        for side, table in (("input", ins), ("output", outs)):
            ps = ports(l, side)
            new = rng.sample(range(10**9), len(ps))
            table[old] = {p.get("id"): str(n) for p, n in zip(ps, new)}
            for p, n in zip(ps, new):
                p.set("id", str(n))
        inner = {}
        for tag, m in (("body", "port_map"), ("then_body", "then_port_map"), ("else_body", "else_port_map")):
            if l.find(tag) is None:
                continue
            inner = shuffle_net(l.find(tag), rng)
            for x in l.find(m) if l.find(m) is not None else []:
                x.set("internal_layer_id", inner[x.get("internal_layer_id")])
                table = ins[old] if x.tag == "input" else outs[old]
                x.set("external_port_id", table.get(x.get("external_port_id"), x.get("external_port_id")))
            for x in l.find("back_edges") if tag == "body" and l.find("back_edges") is not None else []:
                x.set("from-layer", inner[x.get("from-layer")])
                x.set("to-layer", inner[x.get("to-layer")])
        children = list(l)
        rng.shuffle(children)
        l[:] = children
    edges = net.find("edges")
    for e in edges:
        f, t = e.get("from-layer"), e.get("to-layer")
        e.set("from-port", outs[f][e.get("from-port")])
        e.set("to-port", ins[t][e.get("to-port")])
        e.set("from-layer", ids[f])
        e.set("to-layer", ids[t])
    for x in (layers, edges):
        items = list(x)
        rng.shuffle(items)
        x[:] = items
    children = list(net)
    rng.shuffle(children)
    net[:] = children
    return ids


def shuffle(xml, out, seed):
    tree = ET.parse(xml)
    shuffle_net(tree.getroot(), random.Random(int(seed)))
    tree.write(out)


if __name__ == "__main__":
    {"compare": compare, "shuffle": shuffle}[sys.argv[1]](*sys.argv[2:])
