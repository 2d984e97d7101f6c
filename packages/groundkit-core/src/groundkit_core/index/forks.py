"""Safety in a forked child: no lock is held at the fork, and no connection is inherited.

SQLite keeps locks in memory that a child would wait for without end if another thread held them,
and counts locks on files by process, so that a connection made beside an inherited one takes none.
"""

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

__all__ = ["closed_in_children", "held_at_forks"]


class _Closable(Protocol):
    def close(self) -> None: ...


class _Gate:
    """Lets queries run side by side, and forks between them only."""

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.RLock())
        self._forking = False
        self._running: dict[int, int] = {}
        self.inherited: weakref.WeakSet[_Closable] = weakref.WeakSet()

    @contextmanager
    def query(self) -> Iterator[None]:
        me = threading.get_ident()
        with self._changed:
            while self._forking and me not in self._running:
                self._changed.wait()
            self._running[me] = self._running.get(me, 0) + 1
        try:
            yield
        finally:
            with self._changed:
                self._running[me] -= 1
                if not self._running[me]:
                    del self._running[me]
                    self._changed.notify_all()

    def before_fork(self) -> None:
        self._changed.acquire()
        self._forking = True
        while self._running.keys() - {threading.get_ident()}:
            self._changed.wait()

    def after_in_parent(self) -> None:
        self._forking = False
        self._changed.notify_all()
        self._changed.release()

    def after_in_child(self) -> None:
        for held in list(self.inherited):
            held.close()
        self._running.clear()
        self._forking = False
        self._changed.release()


_gate = _Gate()
held_at_forks = _gate.query
"""A context in which this process does not fork, but from the same thread."""
closed_in_children = _gate.inherited.add
"""Has a connection closed in each forked child."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_gate.before_fork,
        after_in_parent=_gate.after_in_parent,
        after_in_child=_gate.after_in_child,
    )
