"""hsdag_run.py STREAM [INPUT.npy]... - run a placement through ctypes: libhsdag-run.so.1, and numpy for arrays."""
import ctypes
import sys

import numpy as np

NUMPY = {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "u64": "u8", "u32": "u4",
         "u16": "u2", "u8": "u1", "boolean": "?"}


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("rank", ctypes.c_size_t),
                ("dim", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]

    def array(self):
        """The tensor's own memory."""
        raw = (ctypes.c_char * self.bytes).from_address(self.data)
        return np.frombuffer(raw, NUMPY[self.type.decode()]).reshape(self.dim[:self.rank])


class Model:
    def __init__(self, path, library="libhsdag-run.so.1"):
        self.lib, self.model = ctypes.CDLL(library), ctypes.c_void_p()
        self.lib.hsdag_error.restype = self.lib.hsdag_placed_by.restype = ctypes.c_char_p
        for name in "hsdag_n_inputs", "hsdag_n_outputs":
            getattr(self.lib, name).restype = ctypes.c_size_t
        why = ctypes.create_string_buffer(1000)
        if self.lib.hsdag_open(path.encode(), None, ctypes.byref(self.model), why, ctypes.c_size_t(len(why))):
            raise RuntimeError(why.value.decode())

    def call(self, function, *arguments):
        if function(self.model, *arguments):
            raise RuntimeError(self.lib.hsdag_error(self.model).decode())

    def tensors(self, function, n):
        found = [Tensor() for _ in range(n)]
        for i, t in enumerate(found):
            self.call(function, ctypes.c_size_t(i), ctypes.byref(t))
        return found

    def set_shapes(self, shapes):
        """Other shapes from now on, such as "ids=1,100;mask=1,100"; "" are the stream's own."""
        self.call(self.lib.hsdag_set_shapes, shapes.encode())

    def run(self, inputs=()):
        """Outputs as arrays of their own."""
        for value, t in zip(inputs, self.tensors(self.lib.hsdag_input, self.lib.hsdag_n_inputs(self.model))):
            t.array()[...] = value
        self.call(self.lib.hsdag_run)
        return [t.array().copy() for t in self.tensors(self.lib.hsdag_output, self.lib.hsdag_n_outputs(self.model))]

    def close(self):
        self.lib.hsdag_close(self.model)
        self.model = ctypes.c_void_p()


if __name__ == "__main__":
    model = Model(sys.argv[1])
    for i, y in enumerate(model.run([np.load(f) for f in sys.argv[2:]])):
        print(i, y.dtype, y.shape)
        np.save(f"{i}.out.npy", y)
    model.close()
