"""hsdag - the programs of hsdag from Python.

  hsdag.read(source)         the records of a stream, with numpy arrays for tensors
  hsdag.write(target, ...)   a stream of such records
  hsdag.run(stage, ...)      a pipeline of programs, and the records that it ends with
  hsdag.place(model, ...)    the whole pipeline `place`, and its report
  hsdag.EXAMPLES             a folder with two small models and a notebook

What goes wrong is an hsdag.Error with one line.  read, write and run need numpy and msgpack; place needs neither.
"""
from .programs import EXAMPLES, Error, ProgramError, Report, StreamError, place, run

__all__ = ["EXAMPLES", "Error", "ProgramError", "Record", "Report", "StreamError", "place", "read", "run", "write"]


def __getattr__(name):
    # Late, as the programs' console scripts need none of these, and start in half of the time.
    if name in ("Record", "read", "write"):
        from . import stream
        return getattr(stream, name)
    if name == "__version__":
        from importlib import metadata
        try:
            return metadata.version("hsdag")
        except metadata.PackageNotFoundError:
            return "unknown"     # from a checkout
    raise AttributeError("module 'hsdag' has no attribute '%s'" % name)
