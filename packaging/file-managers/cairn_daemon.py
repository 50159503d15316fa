"""The sync state of files, asked of Cairn's daemon over its socket.

All of it runs in the main loop of the file manager, and nothing of it waits: a file manager lets no other thread of
Python run while it is in its own code.
"""

import collections
import json
import os
import socket
import time

from gi.repository import GLib

# Of the control protocol (daemon/crates/control/src/envelope.rs): a daemon with another one is left alone.
PROTOCOL = 2
# Seconds until a daemon that was not there is looked for again.
RETRY_INTERVAL = 5
# Seconds between two times at which files that were not in sync are asked about again.
REFRESH_INTERVAL = 2.0
# Requests without a reply; further ones wait here, so that writing a line never waits.
IN_FLIGHT = 32
# The longest line that is taken: a status of thousands of problems fits.
MAX_LINE = 16 * 1024 * 1024
# Files that are remembered; a file manager asks again about those that it shows.
REMEMBERED = 5000


def socket_path():
    """Returns the path of the daemon's socket, as `Home::socket_path` of the programs does.

    A home whose path is too long for a socket has it elsewhere: its files have no emblems.
    """
    home = os.environ.get("CAIRN_HOME")
    if home:
        return os.path.join(os.path.abspath(home), "daemon.sock")
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        return os.path.join(runtime, "cairn", "daemon.sock")
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(data, "cairn", "daemon.sock")


class Connection:
    """A connection to the daemon: lines with a JSON document each.

    `received(document)` is called with each line, `ended()` once when there are no more. Raises OSError if nobody
    listens.
    """

    def __init__(self, received, ended):
        self._received, self._ended = received, ended
        self._buffer = b""
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.setblocking(False)
            self._socket.connect(socket_path())
            self.send({"protocol": PROTOCOL, "client": "file-manager"})
        except OSError:
            self._socket.close()
            raise
        conditions = GLib.IOCondition.IN | GLib.IOCondition.HUP | GLib.IOCondition.ERR
        GLib.io_add_watch(self._socket.fileno(), GLib.PRIORITY_DEFAULT, conditions, self._read)

    def send(self, document):
        """Sends a line. Raises OSError if the daemon is gone, or reads nothing any more."""
        self._socket.sendall(json.dumps(document).encode() + b"\n")

    def _read(self, *_):
        try:
            part = self._socket.recv(65536)
            if not part or len(self._buffer) > MAX_LINE:
                raise OSError("the connection has ended")
            *lines, self._buffer = (self._buffer + part).split(b"\n")
            for line in lines:
                self._received(json.loads(line))
        except BlockingIOError:
            pass
        # A daemon that sends something else than it should is one that can't be understood.
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            self._socket.close()
            self._ended()
            return GLib.SOURCE_REMOVE
        return GLib.SOURCE_CONTINUE


def signature(path):
    """Returns what changes with a file, so that no state of an older content is shown."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


class States:
    """What is known of the files that were asked about.

    `changed(path)` is called when another answer is to be had for a file.
    """

    def __init__(self, changed):
        self._changed = changed
        self._known = {}
        self._folders = ()
        self._facts, self._refreshed = None, 0.0
        self._connection = None
        self._connect()

    def folder_of(self, path):
        """Returns the synced folder that a path is in, or None."""
        for folder in self._folders:
            if path == folder or path.startswith(folder.rstrip("/") + "/"):
                return folder
        return None

    def of(self, path):
        """Returns the daemon's report on a path, or None as long as there is none."""
        is_synced = self.folder_of(path) is not None
        now = signature(path) if is_synced else None
        before, report = self._known.pop(path, (None, None))
        while len(self._known) >= REMEMBERED:
            self._known.pop(next(iter(self._known)))
        if now is not None and now == before:
            self._known[path] = (before, report)
            return report
        # Also outside of the folders that are known: the daemon may be about to name more.
        self._known[path] = (now, None)
        if is_synced:
            self._questions.append(path)
            self._ask()
        return None

    def _connect(self):
        """Looks for a daemon, and again later where none runs."""
        # Paths to ask about, and those that were asked about by the number of the request.
        self._questions, self._asked, self._number = collections.deque(), {}, 0
        try:
            self._connection = Connection(self._receive, self._disconnected)
        except OSError:
            GLib.timeout_add_seconds(RETRY_INTERVAL, self._connect)
        return GLib.SOURCE_REMOVE

    def _disconnected(self):
        self._connection = None
        self._folders, self._facts = (), None
        GLib.timeout_add_seconds(RETRY_INTERVAL, self._connect)
        self._forget(lambda path, report: True)

    def _request(self, **request):
        self._number += 1
        self._connection.send({"id": self._number, "request": request})
        return self._number

    def _ask(self):
        try:
            while self._connection and self._questions and len(self._asked) < IN_FLIGHT:
                path = self._questions.popleft()
                number = self._request(op="why", path=path)
                self._asked[number] = (path, signature(path))
        except OSError:
            # The end of the connection is read, too.
            self._questions.clear()

    def _receive(self, document):
        if "protocol" in document:
            if document["protocol"] != PROTOCOL:
                raise ValueError("the daemon speaks another protocol")
            self._request(op="subscribe")
        elif "event" in document:
            self._event(document["event"])
        elif document["id"] in self._asked:
            path, before = self._asked.pop(document["id"])
            self._ask()
            known = self._known.get(path)
            # None where the daemon refuses an answer.
            answer = (before, document.get("ok"))
            if known is not None and known != answer:
                self._known[path] = answer
                self._changed(path)

    def _event(self, event):
        if event["type"] == "activity":
            activity = event["activity"]
            if activity.get("folder"):
                path = os.path.join(activity["folder"], activity["path"])
                self._forget(lambda known, _: known == path)
        elif event["type"] == "status":
            self._status(event["status"]["folders"])

    def _status(self, folders):
        places = tuple(folder["local"] for folder in folders)
        facts = [
            (one["state"], one["pending"], one.get("conflicts"), len(one["errors"]))
            for one in folders
        ]
        if places != self._folders:
            self._folders = places
            self._forget(lambda path, report: True)
        elif facts != self._facts:
            is_at_rest = all(one["pending"] == 0 for one in folders)
            now = time.monotonic()
            if not is_at_rest and now - self._refreshed < REFRESH_INTERVAL:
                return
            self._refreshed = now
            self._forget(lambda path, report: not report or report.get("state") != "synced")
        self._facts = facts

    def _forget(self, chosen):
        """Forgets what is known of the chosen files, and has them asked about again."""
        paths = [path for path, (_, report) in self._known.items() if chosen(path, report)]
        for path in paths:
            self._known[path] = (None, None)
        for path in paths:
            self._changed(path)
