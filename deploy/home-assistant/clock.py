"""The time of a trial: the machine's, or one that is ahead of it or behind, also for the programs that the trial starts."""

import glob
import os
import shutil
import time

# Debian's libfaketime, for programs with threads.
LIBRARY = "/usr/lib/*/faketime/libfaketimeMT.so.1"


class Clock:
    def __init__(self, ahead: int = 0) -> None:
        self.ahead = ahead  # seconds
        self.library = ""

    def now(self) -> int:
        return int(time.time()) + self.ahead

    def load(self, folder: str) -> None:
        """Finds the library for the programs. Home Assistant, which may run in a small Debian, has this folder as `/config`."""
        if self.ahead != 0:
            found = glob.glob(LIBRARY)
            if not found:
                raise FileNotFoundError(f"There is no {LIBRARY}. Install Debian's libfaketime.")
            name = os.path.basename(shutil.copy(found[0], folder))
            self.library = f"{folder}/{name}:/config/{name}"

    def command(self, command: list[str]) -> list[str]:
        """The command of a program that has this time. What it waits is not changed, only the date.

        The library moves the environment of the first program that it is in, and a Swift program looks for its arguments beside it.
        So the first `env` sets the variables, and the library is in the second one before it is in the program.
        """
        if not self.library:
            return command
        return ["env", f"LD_PRELOAD={self.library}", f"FAKETIME={self.ahead:+d}", "FAKETIME_DONT_FAKE_MONOTONIC=1", "env", *command]

    def forget(self, process: int) -> None:
        """Removes what the library leaves of a process that has ended."""
        if self.library:
            for path in glob.glob(f"/dev/shm/*faketime_*_{process}"):
                os.remove(path)
