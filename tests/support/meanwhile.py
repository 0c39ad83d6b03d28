"""What happens at the same time: actions in threads, and an action at a certain step of another."""

from __future__ import annotations

import threading
from contextlib import contextmanager

from tablestore_engine.storage.file_io import LocalFileIO


@contextmanager
def running(*actions):
    """Repeats each action in a thread while the block runs; none of them may fail."""
    failures, done = [], threading.Event()

    def loop(action):
        try:
            while not done.is_set():
                action()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=loop, args=[action]) for action in actions]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert not failures


class ActingOnce(LocalFileIO):
    """Does something once, right before the first call of a method."""

    def __init__(self, action):
        super().__init__()
        self.action = action

    def act(self):
        action, self.action = self.action, None
        if action:
            action()
