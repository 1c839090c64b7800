"""programs.py - pipelines of programs, and `place`.  Nothing here needs numpy but what reads or writes a stream."""
import contextlib
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import threading

from .console import FOLDER, Error, environment, find

EXAMPLES = pathlib.Path(FOLDER, "share", "hsdag", "examples")
if not EXAMPLES.is_dir():     # of a checkout
    EXAMPLES = pathlib.Path(FOLDER, "..", "..", "examples", "models").resolve()


class StreamError(Error):
    """A stream is truncated, damaged or none, or a value has no place in one."""


class ProgramError(Error):
    """A program's own line; `program` is its name, `status` its exit status (negative: the signal that ended it)."""

    def __init__(self, line, program, status):
        super().__init__(line)
        self.program, self.status = program, status


class Report(dict):
    """report.json of place (docs/reference/programs.md); `folder` has placement.json and all else."""

    def __init__(self, folder):
        super().__init__(json.loads((folder / "report.json").read_text()))
        self.folder = folder


def own_line(text, name, status):
    """Of what a program said on standard error: its error, else how it ended."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in reversed(lines):
        if ": error: " in line:
            return line
    if status < 0:
        return "%s: error: ended by signal %d" % (name, -status)
    return lines[-1] if lines else "%s: error: ended with status %d" % (name, status)


# ---- pipelines ----

def run(*stages, input=None, text=False):
    """A pipeline of programs: run("ir2dag model.xml", "devsim --probe", ["placebase", "heft"], "devsim").

    A stage is a line, split as a shell does, or a list of the program's name and arguments.  `input`: records for the first one
    (hsdag.write), or bytes; without, its input is empty.  Returns the records of the stream that the last one writes; with text=True
    what it writes, as str.  Raises ProgramError with what the first program that failed has to say; warnings go to sys.stderr."""
    if not text or input is not None:
        from . import stream
    commands = [shlex.split(s) if isinstance(s, str) else [os.fspath(a) if isinstance(a, os.PathLike) else str(a) for a in s]
                for s in stages]
    if not commands or not all(commands):
        raise ValueError("a pipeline has one stage or more, and each names a program")
    commands = [[find(c[0]), *c[1:]] for c in commands]
    made, broken, broken_input = None, None, []
    with contextlib.ExitStack() as stack:
        said = [stack.enter_context(tempfile.TemporaryFile("w+", errors="replace")) for _ in commands]
        running = start(commands, said, input is not None, stack)
        feeder = threading.Thread(target=feed, args=(running[0].stdin, input, broken_input))
        if input is not None:
            feeder.start()
        try:
            out = running[-1].stdout
            made = out.read().decode(errors="replace") if text else list(stream.read(out))
        except StreamError as e:
            broken = e
            while out.read(1 << 20):     # a program that nobody reads would fail
                pass
        if input is not None:
            feeder.join()
        statuses = [p.wait() for p in running]
        if broken_input:
            raise broken_input[0]
        complain(commands, statuses, said)
    if broken:
        raise broken
    return made


def start(commands, said, has_input, stack):
    """The processes of a pipeline; what of them still runs when the stack is left is ended."""
    running, before = [], subprocess.PIPE if has_input else subprocess.DEVNULL
    for command, err in zip(commands, said):
        p = subprocess.Popen(command, stdin=before, stdout=subprocess.PIPE, stderr=err, env=environment())
        stack.callback(end, p)
        if running:
            before.close()
        running.append(p)
        before = p.stdout
    return running


def end(process):
    if process.poll() is None:
        process.kill()
        process.wait()
    for pipe in process.stdin, process.stdout:
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()


def feed(pipe, input, broken):
    from . import stream
    try:
        with pipe:
            if isinstance(input, (bytes, bytearray, memoryview)):
                pipe.write(input)
            else:
                stream.write(pipe, input)
    except BrokenPipeError:
        pass     # the program has ended, and says why
    except Exception as e:
        broken.append(e)


def complain(commands, statuses, said):
    """Raise the first error; where there is none, warnings are shown.  A program that its reader left has nothing to say."""
    failed = []
    for command, status, file in zip(commands, statuses, said):
        file.seek(0)
        text, name = file.read(), os.path.basename(command[0])
        if status not in (0, -signal.SIGPIPE):
            failed.append((": error: " not in text, ProgramError(own_line(text, name, status), name, status)))
        elif text:
            sys.stderr.write(text)
    if failed:
        raise min(failed, key=lambda f: f[0])[1]


# ---- place ----

def place(model=None, devices=None, budget=None, output=None, **options):
    """Run the pipeline place (hsdag-place --help-all): find the placement of a model's operations that runs fastest.

    model: a path, or several ("detector.xml", "classifier.xml:4").  devices: "cpu:0,cpu:1" or a list.  budget: seconds.  output: the folder of results (MODEL.placed).
    Other options have the names of the command line's: memory="cpu:0=512M", whole=True, pin=["a*=cpu:0", ...], example="layers".
    Progress goes to sys.stderr.  Returns a Report, the dict of report.json, with the attribute folder.
    An interrupt (Ctrl-C) ends the search early, and the report is of the best so far.
    Raises ProgramError with place's own line and exit status."""
    try:
        program = find("hsdag-place")
    except Error:
        program = find("place")     # of a checkout
    models = [] if model is None else [os.fspath(x) for x in (model if isinstance(model, (list, tuple)) else [model])]
    example = options.get("example", "model")
    name = "+".join(pathlib.Path(x.split("=")[-1].split(".xml:")[0]).stem for x in models) or ("layers" if example is True else example)
    folder = pathlib.Path(output if output is not None else "%s.placed" % name)
    command = [program, *models]
    command += arguments({"devices": listed(devices), "budget": budget, "output": folder, **options})
    lines = []
    with tempfile.TemporaryFile() as told:     # report.txt, which the folder has, too
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=told, stderr=subprocess.PIPE, text=True, errors="replace",
                                   env=environment(), start_new_session=True)
        try:
            interrupted = follow(process, lines)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
            process.stderr.close()
    if process.returncode == 128 + signal.SIGINT and interrupted:
        raise KeyboardInterrupt
    if process.returncode != 0:
        raise ProgramError(own_line("".join(lines), "place", process.returncode), "place", process.returncode)
    return Report(folder)


def follow(process, lines):
    """Until the process ends: its lines are kept, and shown unless they will be an exception's; interrupts are passed on."""
    interrupted = False
    while True:
        try:
            for line in process.stderr:
                lines.append(line)
                if ": error: " not in line:
                    sys.stderr.write(line)
            process.wait()
            return interrupted
        except KeyboardInterrupt:
            interrupted = True
            process.send_signal(signal.SIGINT)


def listed(value):
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else value


def arguments(options):
    """--key value for each; True: --key alone, a list: once for each, None and False: not at all."""
    made = []
    for key, value in options.items():
        for x in value if isinstance(value, (list, tuple)) else [value]:
            if x is True:
                made.append("--" + key.replace("_", "-"))
            elif x is not None and x is not False:
                made.append("--%s=%s" % (key.replace("_", "-"), x))
    return made
