"""A file manager without a window: loads an extension, and does what the lines of its input say.

The extension is the installed one, with the library of its file manager; only files are made here, as nothing but a
file manager has them. Commands, with a tab before each argument:

    emblem PATH STATE EMBLEM    waits until the file has them; `-` is none
    menu PATH                   answers with the labels
    click PATH LABEL
"""

import importlib.util
import sys

from gi.repository import GLib

# Seconds until a state counts as one that never comes.
DEADLINE = 30


class Location:
    def __init__(self, path):
        self._path = path

    def get_path(self):
        return self._path


class File:
    """What an extension uses of a file manager's files."""

    def __init__(self, path):
        self._path = path
        self.emblem = "-"
        self.is_stale = False

    def get_uri_scheme(self):
        return "file"

    def get_location(self):
        return Location(self._path)

    def add_emblem(self, name):
        self.emblem = name

    def invalidate_extension_info(self):
        self.is_stale = True


def wait_for_emblem(extension, path, state, emblem):
    file = File(path)
    is_over = []
    GLib.timeout_add_seconds(DEADLINE, is_over.append, True)
    while True:
        file.is_stale, file.emblem = False, "-"
        extension.update_file_info(file)
        report = extension.files.states.of(path)
        if (report["state"] if report else "-", file.emblem) == (state, emblem):
            return "ok"
        # As a file manager does: it asks again about a file if it is told to, and not otherwise.
        while not file.is_stale:
            GLib.MainContext.default().iteration(True)
            if is_over:
                return f"{report} and the emblem {file.emblem}"


def items(extension, path):
    """Returns the items below Cairn's own, as the file manager would ask for them."""
    file = File(path)
    if hasattr(extension, "update_file_info"):
        top = extension.get_file_items([file])
    else:
        top = extension.get_file_menu_items(None, [file])
    return top[0].get_property("menu").get_items() if top else []


def label(item):
    return item.get_property("label")


def run(extension, command, path, *rest):
    if command == "emblem":
        return wait_for_emblem(extension, path, *rest)
    if command == "menu":
        return "|".join(label(item) for item in items(extension, path))
    chosen = [item for item in items(extension, path) if label(item) == rest[0]]
    chosen[0].emit("activate")
    return "ok"


def main():
    place = importlib.util.spec_from_file_location("extension", sys.argv[1])
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    extension = module.Cairn()
    for line in sys.stdin:
        while GLib.MainContext.default().pending():
            GLib.MainContext.default().iteration(False)
        print(run(extension, *line.rstrip("\n").split("\t")), flush=True)


main()
