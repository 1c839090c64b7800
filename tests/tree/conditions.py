#!/usr/bin/env python3
"""conditions.py - can every condition of the suites fail?  In a test that bats runs, neither `! command` nor what stands
left of && ends it where it is false.

conditions.py FOLDER...: says which lines of *.bats and *.bash begin with `! ` and have no ||, or join a condition to what follows by &&,
and are not the last line of a function or a test, whose status they are."""
import os
import re
import sys

QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'')
BRACKETS = re.compile(r"\[\[ .*? \]\]|\[ .*? \]")
COMMAND = re.compile(r"(?:condition|cmp|diff|grep|jq|test|\w+=\S* (?:cmp|diff|grep|jq))\b")


def suites(folders):
    for folder in folders:
        for top, _, names in os.walk(folder):
            yield from (os.path.join(top, n) for n in names if n.endswith((".bats", ".bash")))


def breach(line, following):
    """What is wrong with a line of a suite; `following` is the one after it."""
    text = line.strip()
    if text.startswith("! ") and "||" not in text:
        return "a command behind ! does not fail a test; run ! or run -1 does"
    text = BRACKETS.sub("condition", QUOTED.sub("quoted", text))
    if COMMAND.match(text) and " && " in text and "||" not in text and following.strip() != "}":
        return "what is left of && does not fail a test; one condition a line does"
    return None


def main():
    bad = 0
    for path in sorted(suites(sys.argv[1:])):
        with open(path, encoding="utf-8") as f:
            lines = f.read().splitlines() + [""]
        for i, line in enumerate(lines[:-1]):
            why = breach(line, lines[i + 1])
            if why:
                print(f"{path}:{i + 1}: {why}")
                bad += 1
    sys.exit(bad > 0)


main()
