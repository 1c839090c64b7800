"""op_model.py - one operator of a model as a line of JSON, and that line as a model of its own.

A line has what an IR says of the operator:
    {"op": type, "set": opset, "data": {attribute: text}, "in": [input...], "out": [[elem, dims]...], "model": where it was seen}
    input: {"elem", "dims"}               a parameter
           + "values": [...]              a constant with these values
           + "const": [lo, hi]            a constant, drawn from lo to hi; + "rises": true: and sorted
           + "same": i                    the same value as input i
           {}                             an optional input that is not there
"""
import xml.etree.ElementTree as ET

import numpy as np

DTYPE = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "u8": np.uint8, "i16": np.int16,
         "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "boolean": np.bool_}
PRECISION = {"f32": "FP32", "f64": "FP64", "f16": "FP16", "i8": "I8", "u8": "U8", "i16": "I16", "u16": "U16", "i32": "I32",
             "u32": "U32", "i64": "I64", "u64": "U64", "boolean": "BOOL"}
ELEM = {p: e for e, p in PRECISION.items()}
FEW = 64                # constants up to this size are kept as they are
NO_OPERATORS = ("Parameter", "Const", "Result", "ReadValue", "Assign", "TensorIterator", "Loop", "If")


def dims_of(port):
    return [int(d.text) for d in port.findall("dim")]


class Reader:
    """The operators of an IR whose shapes are known."""

    def __init__(self, xml, name):
        self.name = name
        root = ET.parse(xml).getroot()
        with open(xml[:-4] + ".bin", "rb") as f:
            self.blob = f.read()
        self.layers = {l.get("id"): l for l in root.find("layers")}
        self.source = {(e.get("to-layer"), e.get("to-port")): (e.get("from-layer"), e.get("from-port"))
                       for e in root.find("edges")}

    def output(self, layer, port):
        for p in self.layers[layer].find("output"):
            if p.get("id") == port:
                return ELEM[p.get("precision")], dims_of(p)
        raise KeyError(port)

    def constant(self, data):
        elem, dims = data.get("element_type"), [int(d) for d in data.get("shape").split(",") if d]
        value = np.frombuffer(self.blob, DTYPE[elem], int(np.prod(dims)), int(data.get("offset")))
        if value.size <= FEW:
            return {"elem": elem, "dims": dims, "values": value.tolist()}
        span = [float(np.min(value)), float(np.max(value))]
        if elem == "boolean" or not np.all(np.isfinite(span)):
            span = [0.0, 1.0]
        rises = value.ndim == 1 and bool(np.all(value[1:] >= value[:-1]))
        return {"elem": elem, "dims": dims, "const": span, **({"rises": True} if rises else {})}

    def input(self, layer, port):
        at = self.source[layer, port]
        source = self.layers[at[0]]
        if source.get("type") == "Const":
            return self.constant(source.find("data")), at
        elem, dims = self.output(*at)
        return {"elem": elem, "dims": dims}, at

    def operators(self):
        for number, layer in self.layers.items():
            if layer.get("type") in NO_OPERATORS:
                continue
            try:
                ports = [p.get("id") for p in layer.find("input")] if layer.find("input") is not None else []
                read = [self.input(number, p) for p in ports]
                out = [[ELEM[p.get("precision")], dims_of(p)] for p in layer.find("output")]
            except KeyError:            # strings, packed types
                continue
            line = {"op": layer.get("type"), "set": layer.get("version"),
                    "data": dict(layer.find("data").attrib) if layer.find("data") is not None else {},
                    "in": [], "out": out, "model": self.name}
            seen = {}
            for i, (value, at) in enumerate(read):
                line["in"].append({"same": seen[at]} if at in seen else value)
                seen.setdefault(at, i)
            known = all(d >= 0 for v in line["in"] for d in v.get("dims", []))
            if not known or (all(is_constant(v) for v in line["in"]) and line["op"] != "RandomUniform"):
                continue
            yield line


def is_constant(value):
    return "values" in value or "const" in value


def elements(dims):
    return int(np.prod(np.maximum(dims, 1), dtype=np.int64))


def work(line):
    """Elements that it reads and writes."""
    return sum(elements(v["dims"]) for v in line["in"] if "dims" in v) + sum(elements(d) for _, d in line["out"])


# ---- a model of one operator ----

def boxes(rng, dims, size):
    """Corners x0 y0 x1 y1 within a square."""
    a = rng.uniform(0, size * 0.8, (*dims[:-1], 2))
    return np.concatenate([a, a + rng.uniform(size * 0.02, size * 0.2, a.shape)], -1)


def indices(line, i):
    """The integers that input i may hold: below this."""
    first = line["in"][0].get("dims") or [1]
    if line["op"] in ("Gather", "ScatterUpdate"):
        axis = line["in"][2 if line["op"] == "Gather" else 3].get("values", [0])[0]
        return first[axis]
    if line["op"] in ("GatherElements",):
        return first[int(line["data"].get("axis", 0))]
    if line["op"] == "GatherND":
        return min(first[:max(1, (line["in"][1].get("dims") or [1])[-1])])
    if line["op"] in ("ScatterNDUpdate", "ScatterElementsUpdate"):
        return min(first)
    if line["op"].startswith("Embedding"):
        return first[0]
    if line["op"] == "GatherTree":
        return first[-1]
    return 10


def draw(line, i, rng):
    """Values for input i."""
    value, op = line["in"][i], line["op"]
    dims, elem = value["dims"], value["elem"]
    if "values" in value:
        return np.array(value["values"], DTYPE[elem]).reshape(dims)
    if "const" in value and elem[0] != "f":
        lo, hi = value["const"]
        drawn = rng.integers(int(lo), int(hi) + 1, dims)
        return (np.sort(drawn) if "rises" in value else drawn).astype(DTYPE[elem])
    if "const" in value:
        lo, hi = value["const"]
        return rng.uniform(lo, hi, dims).astype(DTYPE[elem])
    if elem == "boolean":
        return rng.integers(0, 2, dims).astype(np.bool_)
    if elem[0] != "f":
        return rng.integers(0, max(1, indices(line, i)), dims).astype(DTYPE[elem])
    if op in ("NonMaxSuppression", "MatrixNms", "MulticlassNms") and i == 0:
        return boxes(rng, dims, 1).astype(DTYPE[elem])
    if op in ("NonMaxSuppression", "MatrixNms", "MulticlassNms", "DetectionOutput", "Proposal") and i == 1 - (op == "Proposal"):
        n = elements(dims)
        return ((rng.permutation(n) + 0.5) / n).reshape(dims).astype(DTYPE[elem])
    if op == "DetectionOutput" and i == 2:
        half = boxes(rng, [dims[2] // 4, 4], 1).reshape(1, 1, -1)
        return np.concatenate([half, np.full((1, dims[1] - 1, dims[2]), 0.1)], 1).astype(DTYPE[elem])
    if op in ("ROIAlign", "ROIAlignRotated") and i == 1:
        return (rng.uniform(0, 1, dims) if dims[-1] == 5 else boxes(rng, dims, 300)).astype(DTYPE[elem])
    if (op, i) in (("GenerateProposals", 0), ("ExperimentalDetectronGenerateProposalsSingleImage", 0),
                   ("ExperimentalDetectronDetectionOutput", 3)):
        return np.broadcast_to(np.array([800, 1088, 1][:dims[-1]]), dims).astype(DTYPE[elem])
    if dims[-1:] == [4] and (op == "GenerateProposals" or op.startswith("ExperimentalDetectron")):
        return boxes(rng, dims, 800).astype(DTYPE[elem])
    if op in ("ROIPooling", "PSROIPooling") and i == 1:
        return np.concatenate([np.zeros((dims[0], 1)), boxes(rng, [dims[0], 4], 300)], 1).astype(DTYPE[elem])
    if op in ("Sqrt", "Log", "Power", "Acosh") or (op == "Divide" and i == 1):
        return rng.uniform(1.1, 2, dims).astype(DTYPE[elem])
    if op in ("Acos", "Asin", "Atanh"):
        return rng.uniform(-0.9, 0.9, dims).astype(DTYPE[elem])
    if op == "SearchSorted" and i == 0:
        return np.sort(rng.uniform(-1, 1, dims)).astype(DTYPE[elem])
    if op == "Inverse":
        return (rng.uniform(-1, 1, dims) + 4 * np.eye(dims[-1])).astype(DTYPE[elem])
    return rng.uniform(-1, 1, dims).astype(DTYPE[elem])


def port(parent, number, elem, dims):
    p = ET.SubElement(parent, "port", {"id": str(number), "precision": PRECISION[elem]})
    for d in dims:
        ET.SubElement(p, "dim").text = str(d)


def write(line, xml, seed=1):
    """xml and its .bin; the parameters' values by name."""
    rng = np.random.default_rng(seed)
    net = ET.Element("net", {"name": line["op"], "version": "11"})
    layers, edges, blob, values, at = ET.SubElement(net, "layers"), ET.SubElement(net, "edges"), b"", {}, {}
    for i, value in enumerate(line["in"]):
        if "same" in value or not value:
            continue
        array = draw(line, i, rng)
        at[i] = str(len(layers))
        shape = ",".join(map(str, value["dims"]))
        if is_constant(value):
            layer = ET.SubElement(layers, "layer", {"id": at[i], "name": "c%d" % i, "type": "Const", "version": "opset1"})
            blob += b"\0" * (-len(blob) % 64)
            ET.SubElement(layer, "data", {"element_type": value["elem"], "shape": shape, "offset": str(len(blob)),
                                          "size": str(array.nbytes)})
            blob += array.tobytes()
        else:
            layer = ET.SubElement(layers, "layer", {"id": at[i], "name": "p%d" % i, "type": "Parameter", "version": "opset1"})
            ET.SubElement(layer, "data", {"shape": shape, "element_type": value["elem"]})
            values["p%d" % i] = array
        port(ET.SubElement(layer, "output"), 0, value["elem"], value["dims"])
    number = str(len(layers))
    layer = ET.SubElement(layers, "layer", {"id": number, "name": "op", "type": line["op"], "version": line["set"]})
    ET.SubElement(layer, "data", line["data"])
    inputs, outputs = ET.SubElement(layer, "input"), ET.SubElement(layer, "output")
    for i, value in enumerate(line["in"]):
        source = value.get("same", i)
        port(inputs, i, line["in"][source]["elem"], line["in"][source]["dims"])
        ET.SubElement(edges, "edge", {"from-layer": at[source], "from-port": "0", "to-layer": number, "to-port": str(i)})
    for o, (elem, dims) in enumerate(line["out"]):
        port(outputs, len(line["in"]) + o, elem, dims)
        result = ET.SubElement(layers, "layer", {"id": str(len(layers)), "name": "r%d" % o, "type": "Result", "version": "opset1"})
        port(ET.SubElement(result, "input"), 0, elem, dims)
        ET.SubElement(edges, "edge", {"from-layer": number, "from-port": str(len(line["in"]) + o), "to-layer": result.get("id"),
                                      "to-port": "0"})
    ET.ElementTree(net).write(xml, encoding="unicode", xml_declaration=True)
    with open(xml[:-4] + ".bin", "wb") as f:
        f.write(blob)
    return values
