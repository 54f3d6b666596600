# SPDX-License-Identifier: BSD-3-Clause
"""A job's side of the lines between a running job and aucsched, for jobs in Python.

The other side is an iHypervisor, which has cores of one host for the job, or aucsched crew run,
which has places: nodes that come and go. Whichever it is says what the job may use, and the job
answers when it uses nothing else any more. The lines are described in package invasive/malleable
of aucsched. This file needs Python 3.6 or newer, Linux, and nothing else: copy it into your
program.

    import aucsched_malleable

    with aucsched_malleable.connect() as client:   # or: for change in client: ...
        while work_is_left():
            work_for_a_while()                     # then, where it is safe:
            change = client.poll()
            if change is not None:
                use(change.places)                 # and let go of all others
                client.done(change)

Nothing here is safe for concurrent use: one thread has to do it all, or all under one lock.
"""

import logging
import os
import re
import select
import socket
import time
from typing import Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple

__all__ = ["Change", "Client", "LineError", "NotRunByAucsched", "connect", "nodes", "parse_change", "parse_list"]

VARIABLE = "AUCSCHED_INVASIVE"  # the socket's path
NODES_VARIABLE = "AUCSCHED_CREW_NODES"  # the path of the file with nodes
MAX_LINE = 1 << 20  # bytes
MAX_CORES = 1 << 24  # of a list, and one above the greatest
RETRY = 0.5  # seconds between two attempts to connect

_DIGITS = re.compile(r"(0|[1-9][0-9]{0,9})\Z")

_log = logging.getLogger("aucsched_malleable")


class NotRunByAucsched(LookupError):
    """A variable isn't set: nobody runs this program who could change what it has."""


class LineError(ValueError):
    """A line, or a file's line, that is not as it should be."""


class Change(NamedTuple):
    """What the job may use from now on, once it has answered."""

    number: int
    #: Places of a crew, or cores of the iHypervisor's partition, ascending.
    places: Tuple[int, ...]
    #: CPUs of this host that they are, ascending; of a crew: places again.
    cpus: Tuple[int, ...]
    #: The connection that it came by; an answer goes to no other.
    session: int = 0


def _number(text: str, most: int) -> int:
    """Reads digits, without a zero in front."""
    if _DIGITS.match(text) and int(text) <= most:
        return int(text)
    raise LineError("%r is no number up to %d" % (text[:50], most))


def parse_list(text: str) -> Tuple[int, ...]:
    """Reads numbers and ranges, ascending, as Linux writes its lists of CPUs: 0-3,6."""
    numbers = []  # type: List[int]
    for part in text.split(","):
        low, dash, high = part.partition("-")
        first = _number(low, MAX_CORES - 1)
        last = _number(high, MAX_CORES - 1) if dash else first
        if last < first or numbers and first <= numbers[-1]:
            raise LineError("list %r: %r is not ascending" % (text[:50], part))
        numbers.extend(range(first, last + 1))
    return tuple(numbers)


def parse_change(line: str) -> Change:
    """Reads a line such as "cores 3 0-2,5 0-2,5", without its end. Raises LineError."""
    fields = line.split(" ")
    if len(line) > MAX_LINE:
        raise LineError("a line of %d characters, at most %d are allowed" % (len(line), MAX_LINE))
    if len(fields) != 4 or fields[0] != "cores":
        raise LineError("line %r: must be cores NUMBER CORES CPUS" % line[:50])
    try:
        return Change(_number(fields[1], 2 ** 32 - 1), parse_list(fields[2]), parse_list(fields[3]))
    except LineError as e:
        raise LineError("line %r: %s" % (line[:50], e)) from None


def nodes(environ: Mapping[str, str] = os.environ) -> Dict[int, str]:
    """The node of each place of a crew, as of the newest change, even one that isn't polled yet.

    Empty before the first change. Raises NotRunByAucsched outside of aucsched crew run, LineError
    and OSError.
    """
    path = environ.get(NODES_VARIABLE)
    if not path:
        raise NotRunByAucsched(NODES_VARIABLE + " is not set: no aucsched crew runs this program")
    found = {}  # type: Dict[int, str]
    try:
        with open(path, encoding="ascii", errors="surrogateescape") as lines:
            for n, line in enumerate(lines, 1):
                place, _, node = line.rstrip("\n").partition(" ")
                try:
                    number = _number(place, MAX_CORES - 1)
                except LineError as e:
                    raise LineError("%s: line %d: place: %s" % (path, n, e)) from None
                if not node or " " in node or number in found:
                    raise LineError("%s: line %d: %r: must be PLACE NODE, each place once" % (path, n, line[:80]))
                found[number] = node
    except FileNotFoundError:
        pass
    return found


class Client:
    """A connection to whoever runs the job, which is made again when it breaks.

    Iterating gives changes for ever, and waits for them.
    """

    def __init__(self, path: str):
        #: Why the last connection has ended, or could not be made. None: a change has come since.
        self.problem = None  # type: Optional[str]
        self._path = path
        self._socket = None  # type: Optional[socket.socket]
        self._session = 0
        self._want = 0
        self._buffer = b""
        self._retry = 0.0
        self._closed = False
        self._connect()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Change]:
        while not self._closed:
            change = self.poll(None)
            if change is not None:
                yield change

    def poll(self, timeout: Optional[float] = 0) -> Optional[Change]:
        """The newest change that has come, or None if none does within so many seconds.

        With 0 it doesn't wait, with None for ever. It makes a broken connection again, not more
        often than every half a second.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while not self._closed:
            if self._socket is None and time.monotonic() >= self._retry:
                self._connect()
            change = self._take()
            now = time.monotonic()
            if change is not None or until is not None and now >= until:
                return change
            left = 60.0 if until is None else until - now
            if self._socket is None:
                time.sleep(max(0, min(left, self._retry - now)))
            else:
                wait = select.poll()
                wait.register(self._socket, select.POLLIN)
                wait.poll(int(1000 * min(left, 60)) + 1)
        return None

    def done(self, change: Change) -> None:
        """Says that the job uses nothing but what the change names any more."""
        self._answer(change, "done %d" % change.number)

    def keep(self, change: Change, why: str = "") -> None:
        """Says that the job can't let go of what the change would take. 200 characters of why are sent."""
        text = "".join(c if " " <= c <= "~" else "?" for c in why[:200])
        self._answer(change, ("keep %d %s" % (change.number, text)).rstrip())

    def want(self, cores: int) -> None:
        """Wishes to have so many cores in all, from 1. A crew doesn't listen to it."""
        if not 1 <= cores <= MAX_CORES:
            raise ValueError("%d cores: must be 1 to %d" % (cores, MAX_CORES))
        self._want = cores
        self._say("want %d" % cores)

    def close(self) -> None:
        """Ends the connection, for ever."""
        self._closed = True
        self._drop()

    def _connect(self) -> None:
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        directory = -1
        try:
            s.setblocking(False)
            path = self._path
            if len(os.fsencode(path)) > 100:  # an address has no room for it
                directory = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
                path = "/proc/self/fd/%d/%s" % (directory, os.path.basename(path))
            s.connect(path)
        except OSError as e:
            s.close()
            self._lose("%s: %s" % (self._path, e))
            return
        finally:
            if directory >= 0:
                os.close(directory)
        self._socket = s
        self._session += 1
        self._say("hello 1")
        if self._want:
            self._say("want %d" % self._want)

    def _drop(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None
        self._buffer = b""
        self._retry = time.monotonic() + RETRY

    def _lose(self, why: str) -> None:
        self._drop()
        if why != self.problem:  # not every half a second
            _log.warning("%s", why)
        self.problem = why

    def _answer(self, change: Change, line: str) -> None:
        # The next connection begins with a change.
        if change.session == self._session:
            self._say(line)

    def _say(self, line: str) -> None:
        if self._socket is None:
            return
        data = line.encode("ascii") + b"\n"
        try:
            if self._socket.send(data) == len(data):
                return
            why = "it doesn't read"
        except OSError as e:
            why = str(e)
        self._lose("%s: can't say %r: %s" % (self._path, line, why))

    def _fill(self) -> Optional[str]:
        """Reads what there is. If there won't be more it returns why."""
        while self._socket is not None and len(self._buffer) <= MAX_LINE:
            try:
                data = self._socket.recv(1 << 16)
            except BlockingIOError:
                break
            except OSError as e:
                return str(e)
            if not data:
                return "it has closed the connection"
            self._buffer += data
        return None

    def _take(self) -> Optional[Change]:
        """The newest change of a connection that is still there."""
        ended = self._fill()
        newest = None
        lines = self._buffer.split(b"\n")
        self._buffer = lines.pop()
        for line in map(_text, lines):
            try:
                newest = parse_change(line)._replace(session=self._session)
            except LineError as e:
                ended = line[:300] if line.startswith("bye") else str(e)
                break
        else:
            if len(self._buffer) > MAX_LINE:
                ended = "a line of more than %d bytes" % MAX_LINE
            elif ended and self._buffer:
                ended += " in the middle of a line, %r" % _text(self._buffer[:50])
        if ended is None:
            if newest is not None:
                self.problem = None
            return newest
        self._lose("%s: %s" % (self._path, ended))
        return None


def _text(line: bytes) -> str:
    return line.decode("ascii", "backslashreplace")


def connect(environ: Mapping[str, str] = os.environ) -> Client:
    """Finds by the environment who runs the job, and connects; Client.poll does it later if it can't now.

    Raises NotRunByAucsched if nobody does.
    """
    path = environ.get(VARIABLE)
    if not path:
        raise NotRunByAucsched(VARIABLE + " is not set: nobody runs this program who could change what it has")
    return Client(path)
