"""tiny_ir.py - small models as OpenVINO IR 11, without OpenVINO: one call a layer, in order.

    m = Model("net")
    x = m.layer("Parameter", "x", "f32", (2, 3))
    m.result(m.layer("Log", "log", "f32", (2, 3), x))
    m.save()                                  # net.xml and net.bin in the current directory

`opset` of layer names another operator set than the first.  Constants go to the file as they come, so that a model may be
larger than memory; types of four bits are given as their bytes, with the shape of the elements.
"""
import numpy as np

PRECISION = {"boolean": "BOOL", "f16": "FP16", "f32": "FP32", "f64": "FP64"}


class Model:
    def __init__(self, name):
        self.name, self.layers, self.edges, self.shape, self.also = name, [], [], {}, {}
        self.blob = open(name + ".bin", "wb")

    def layer(self, kind, name, elem, shape, *inputs, **data):
        """One output of this type and shape; inputs: what other calls returned, or (that, k) for its further output k.  also:
        shapes of further outputs, or (type, shape)."""
        i = len(self.layers)
        self.also[i] = [x if isinstance(x[0], str) else (elem, x) for x in data.pop("also", ())]
        inputs = [x if isinstance(x, tuple) else (x, 0) for x in inputs]
        if kind == "Parameter":
            data = {"element_type": elem, "shape": ",".join(map(str, shape)), **data}
        for port, (j, k) in enumerate(inputs):
            self.edges.append((j, k, i, port))
        self.shape[i] = elem, shape
        self.layers.append((kind, name, inputs, data))
        return i

    def const(self, name, elem, array, shape=None):
        array = np.ascontiguousarray(array)
        shape = array.shape if shape is None else shape
        data = {"element_type": elem, "offset": self.blob.tell(), "size": array.nbytes, "shape": ",".join(map(str, shape))}
        self.blob.write(array.data)
        self.shape[len(self.layers)] = elem, shape
        self.layers.append(("Const", name, (), data))
        return len(self.layers) - 1

    def result(self, node):
        i = self.layer("Result", f"result{len(self.layers)}", None, None, node)
        del self.shape[i]

    def port(self, i, k, number, tag=True):
        elem, shape = self.also[i][k - 1] if k else self.shape[i]
        names = PRECISION.get(elem, elem.upper())
        dims = "".join(f"<dim>{d}</dim>" for d in shape)
        return f'<port id="{number}"' + (f' precision="{names}"' if tag else "") + f">{dims}</port>"

    def save(self):
        out = [f'<?xml version="1.0"?>\n<net name="{self.name}" version="11">\n<layers>']
        for i, (kind, name, inputs, data) in enumerate(self.layers):
            opset = data.pop("opset", "opset1")
            out.append(f'<layer id="{i}" name="{name}" type="{kind}" version="{opset}">')
            if data:
                out.append("<data " + " ".join(f'{k}="{v}"' for k, v in data.items()) + "/>")
            if inputs:
                out.append("<input>" + "".join(self.port(j, k, p, False) for p, (j, k) in enumerate(inputs)) + "</input>")
            if i in self.shape:
                n = 1 + len(self.also.get(i, ()))
                out.append("<output>" + "".join(self.port(i, k, len(inputs) + k) for k in range(n)) + "</output>")
            out.append("</layer>")
        out.append("</layers>\n<edges>")
        for j, k, i, p in self.edges:
            out.append(f'<edge from-layer="{j}" from-port="{len(self.layers[j][2]) + k}" to-layer="{i}" to-port="{p}"/>')
        out.append("</edges>\n</net>\n")
        with open(self.name + ".xml", "w") as f:
            f.write("\n".join(out))
        self.blob.close()
