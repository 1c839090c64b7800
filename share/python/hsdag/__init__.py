"""hsdag - the programs of hsdag from Python.

  hsdag.read(source)         the records of a stream, with numpy arrays for tensors
  hsdag.write(target, ...)   a stream of such records
  hsdag.run(stage, ...)      a pipeline of programs, and the records that it ends with
  hsdag.place(model, ...)    the whole pipeline `place`, and its report
  hsdag.EXAMPLES             a folder with two small models and a notebook

What goes wrong is an hsdag.Error with one line.  read, write and run need numpy and msgpack; place needs neither.
"""
MODULES = {"Error": "console", "EXAMPLES": "programs", "ProgramError": "programs", "Report": "programs", "StreamError": "programs",
           "place": "programs", "run": "programs", "Record": "stream", "read": "stream", "write": "stream"}
__all__ = list(MODULES)


def __getattr__(name):
    # Late: the console scripts need none of these, and start in half of the time.
    import importlib
    if name in MODULES:
        return getattr(importlib.import_module("hsdag." + MODULES[name]), name)
    if name == "__version__":
        from importlib import metadata
        try:
            return metadata.version("hsdag")
        except metadata.PackageNotFoundError:
            return "unknown"     # from a checkout
    raise AttributeError("module 'hsdag' has no attribute '%s'" % name)


def __dir__():
    return sorted([*globals(), *MODULES])
