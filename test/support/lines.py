"""What cases with relays in the background share: a pipe that all of them log into, and an end to patience.

A relay that logs at debug has a line for each delivery that it recorded, so whoever waits for a row looks again
at each line."""
import os
import signal

PATIENCE = 100  # seconds until a case that hangs says where


def give_up(number, frame):
    raise TimeoutError("the case hangs")


def be_patient(case):
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE)
    case.addCleanup(signal.alarm, 0)


class Lines:
    """end is what a relay gets as its standard error; said is all that was read."""

    def __init__(self, case):
        self.said = ""
        self.start, self.end = os.pipe()
        case.addCleanup(os.close, self.start)
        case.addCleanup(os.close, self.end)

    def hear(self):
        """Waits for what is logged next, and takes all that is there."""
        self.said += os.read(self.start, 1 << 20).decode()

    def until(self, condition):
        while not condition():
            self.hear()

    def until_said(self, words, times=1):
        self.until(lambda: self.said.count(words) >= times)
