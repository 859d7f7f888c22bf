"""Runs tests, and ends them when nothing happened for long: then it names what did not end, and prints what each thread does.

    watch.py SECONDS COMMAND ARGUMENT…

The command's output is copied as it comes. Its status is the status of this; 124 stands for tests that hung, and 1 for processes
that the tests left behind.
"""

import ctypes
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import time

# prctl(2): orphans below this process become its children.
PR_SET_CHILD_SUBREAPER = 36
# Seconds in which what the tests started must be gone after their end.
GRACE = 10

# A line of Swift Testing: a test or a case of it, and whether it begins, passes or fails.
EVENT = re.compile(r'^[◇✔✘] +(?:Test case passing|Test) (.*) (started|passed after|failed after|skipped)')
# Where one begins. The line of a case ends at a zero byte in its argument, without a line feed, so that the next one follows on it.
BEGINNING = re.compile(r"(?=[◇✔✘] +Test )")


class Unfinished:
    """The tests that began and did not end."""

    def __init__(self):
        self.names = {}

    def read(self, line):
        for event in BEGINNING.split(line):
            found = EVENT.match(event)
            if found and found.group(1) != "run":
                self.note(*found.groups())

    def note(self, name, what):
        # Cases have no line at their end: the test's end is theirs.
        if what == "started":
            self.names[name] = None
        else:
            name = re.sub(r" with \d+ test cases?$", "", name)
            self.names = {other: None for other in self.names if other != name and not other.endswith(f" to {name}")}

    def __iter__(self):
        return iter(self.names)


def family():
    """The processes that the command started, also those whose parent has ended, with their numbers of threads."""
    parents, threads = {}, {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(entry)], threads[int(entry)] = int(fields[1]), int(fields[17])
    found, grows = {os.getpid()}, True
    while grows:
        grows = False
        for process, parent in parents.items():
            if parent in found and process not in found:
                found.add(process)
                grows = True
    found.remove(os.getpid())
    return {process: threads[process] for process in found}


def reap_orphans(child):
    """Takes the status of orphans that have ended, as init would, so that no list of processes has them any more."""
    while True:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None or ended.si_pid == child.pid:
            return
        os.waitpid(ended.si_pid, 0)


def end_family():
    """Ends what is left, and returns what it was."""
    lines = []
    for process in sorted(family(), reverse=True):
        try:
            with open(f"/proc/{process}/cmdline") as file:
                lines.append(file.read().replace("\0", " ")[:200])
            os.kill(process, signal.SIGKILL)
        except OSError:
            pass
    return lines


def stacks():
    """What gdb says about the process with the most threads, which is the one of the tests."""
    processes = family()
    if not processes or not shutil.which("gdb"):
        return "Install gdb to see what each thread does."
    process = max(processes, key=processes.get)
    command = ["gdb", "-p", str(process), "-batch", "-ex", "set pagination off", "-ex", "thread apply all backtrace 40"]
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300).stdout
    except subprocess.TimeoutExpired:
        return "gdb did not end within five minutes."


def places(text):
    """For each thread, the functions that it is in and where in the project's own files it is: the innermost first."""
    for thread in re.split(r"^(?=Thread \d+ )", text, flags=re.MULTILINE)[1:]:
        name = thread.split("\n")[0].partition(" (")[0]
        functions = re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(\S+)", thread, flags=re.MULTILINE)
        found = re.findall(r" at \S*?/((?:Sources|Plugins|Tests)/\S+:\d+)$", thread, flags=re.MULTILINE)
        yield f"{name}: {' < '.join(function[:60] for function in functions[:4])}; {' < '.join(found[:5]) or 'no file of the project'}"


def main(limit, command):
    # An orphan becomes a child of this process, so that all that the command started is found, and ended.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    # Not a session of its own, which would have its own share of the processor.
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, process_group=0)

    def end(number, _):
        os.killpg(child.pid, number)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    unfinished, rest = Unfinished(), b""
    selector = selectors.DefaultSelector()
    selector.register(child.stdout, selectors.EVENT_READ)
    heard = time.monotonic()
    while child.poll() is None or selector.select(0):
        if child.returncode is None:
            reap_orphans(child)
        if not selector.select(0.2):
            if time.monotonic() - heard < limit:
                continue
            text = stacks()
            print(f"\n{text}")
            print(f"✘ Nothing happened for {limit:.0f} s, so the tests were ended. The stacks of all threads are above.")
            for name in unfinished:
                print(f"✘ This did not end: {name}")
            for place in places(text):
                print(f"✘ {place}")
            for line in end_family():
                print(f"✘ This ran: {line}", flush=True)
            return 124
        chunk = os.read(child.stdout.fileno(), 1 << 16)
        if not chunk:
            break
        heard = time.monotonic()
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            unfinished.read(line.decode(errors="replace"))
        sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
    status = child.wait()
    # What was just asked to end has a moment for it.
    left = time.monotonic() + GRACE
    while family() and time.monotonic() < left:
        time.sleep(0.2)
    for line in end_family():
        print(f"✘ This was left behind, and was ended: {line}", flush=True)
        status = status or 1
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
