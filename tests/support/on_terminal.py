"""on_terminal.py WHEN COMMAND... - COMMAND on a terminal of its own, and what is done to it meanwhile.  WHEN:
"FILE:TEXT>ACTION", several with spaces between: when FILE holds TEXT (FILE: is there), or "after:SECONDS>ACTION", of the start, or
"then:SECONDS>ACTION", of the last action: int (Ctrl-C), term (SIGTERM to
COMMAND), kill (SIGKILL to it alone), hup (the terminal goes), all (SIGTERM to all processes of its session) or the name of a program
of it that is killed.  Prints what the terminal showed, and "status N"."""
import glob, os, pty, select, signal, sys, time

acts, command = [a.split(">") for a in sys.argv[1].split()], sys.argv[2:]


def holds(file, text):
    if file in ("after", "then"):
        return time.time() > (began if file == "after" else acted) + float(text)
    if not text:
        return os.path.exists(file)  # it may be a pipe
    try:
        return text in open(file, errors="replace").read()
    except OSError:
        return False



def signal_session(leader, program):
    """Was there such a process?  A pipe may be there before the program that is to read it."""
    found = False
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            text = open(stat).read()
            name, rest = text[text.index("(") + 1 :].rsplit(")", 1)
            if int(rest.split()[3]) == leader and program in ("all", name):
                os.kill(int(stat.split("/")[2]), signal.SIGTERM if program == "all" else signal.SIGKILL)
                found = True
        except OSError:
            pass  # it has ended meanwhile
    return found


began = acted = time.time()
pid, fd = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
shown, end = b"", time.time() + 300
while time.time() < end:
    if acts and holds(*acts[0][0].split(":")):
        act = acts.pop(0)
        action, acted = act[1], time.time()
        if action == "int":
            os.write(fd, b"\x03")
        elif action == "term":
            os.kill(pid, signal.SIGTERM)
        elif action == "kill":
            os.kill(pid, signal.SIGKILL)
        elif action == "hup":
            os.close(fd)
            fd = None
            break
        elif not signal_session(pid, action):
            acts.insert(0, act)
    if select.select([fd], [], [], 0.05)[0]:
        try:
            more = os.read(fd, 4096)
        except OSError:
            break
        if not more:
            break
        shown += more
if time.time() >= end:
    os.kill(pid, signal.SIGKILL)
sys.stdout.write(shown.decode(errors="replace").replace("\r\n", "\n"))
print("status", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
