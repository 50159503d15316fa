"""Emblems and a menu for files in synced folders, for file managers with extensions in Python.

`provider("Nautilus", "4.0")` returns the class that Nautilus, Nemo, Caja or Thunar instantiates.
"""

import os
import shutil

import gi
from gi.repository import GLib, GObject

from cairn_daemon import REMEMBERED, States

PROGRAM = "cairn-tray"
EMBLEMS = {
    "synced": "cairn-synced",
    "waiting": "cairn-waiting",
    "conflict": "cairn-attention",
    "name": "cairn-attention",
    "parked": "cairn-attention",
    "unmounted": "cairn-attention",
    "unverified": "cairn-attention",
}
LABELS = {
    "en": {"why": "Sync state…", "versions": "Versions…", "share": "Share link…"},
    "de": {"why": "Sync-Status …", "versions": "Versionen …", "share": "Freigabelink …"},
}


def labels():
    """Returns the texts of the menu in the person's language."""
    for name in GLib.get_language_names():
        found = LABELS.get(name.split("_")[0].split(".")[0])
        if found:
            return found
    return LABELS["en"]


def emblem(report):
    """Returns the emblem for a report of the daemon; None for a file that isn't synced on purpose."""
    if not report:
        return None
    if report.get("problems_below"):
        return "cairn-attention"
    return EMBLEMS.get(report.get("state"))


def local_path(file):
    """Returns the path of a file of the file manager; None for one that is elsewhere."""
    if file.get_uri_scheme() != "file":
        return None
    location = file.get_location()
    return location.get_path() if location else None


def show(dialog, path):
    """Opens a dialog of Cairn's window about a file."""
    GLib.spawn_async([PROGRAM, f"--{dialog}", path], flags=GLib.SpawnFlags.SEARCH_PATH)


class Files:
    """The files that a file manager shows, and their emblems."""

    def __init__(self):
        self._shown = {}
        self.states = States(self._renew)

    def emblem(self, file):
        path = local_path(file)
        if path is None:
            return None
        self._shown.pop(path, None)
        while len(self._shown) >= REMEMBERED:
            self._shown.pop(next(iter(self._shown)))
        self._shown[path] = file
        return emblem(self.states.of(path))

    def _renew(self, path):
        file = self._shown.get(path)
        if file is not None:
            file.invalidate_extension_info()

    def menu(self, files):
        """Returns the path that the menu is about, and the dialogs that it offers."""
        path = local_path(files[0]) if len(files) == 1 else None
        if path is None or self.states.folder_of(path) is None or not shutil.which(PROGRAM):
            return None, ()
        return path, ("why", "share") if os.path.isdir(path) else ("why", "versions", "share")


def provider(namespace, *versions):
    """Returns the class for a file manager, by the name and the possible versions of its interface."""
    for version in versions:
        try:
            gi.require_version(namespace, version)
            break
        except ValueError:
            continue
    host = getattr(__import__("gi.repository", fromlist=[namespace]), namespace)
    has_emblems = hasattr(host, "InfoProvider")

    def items(self, files):
        path, dialogs = self.files.menu(files)
        if path is None:
            return []
        top = host.MenuItem(name="Cairn::menu", label="Cairn", **{_tip(host): "", "icon": "cairn"})
        below = host.Menu()
        (top.set_submenu if hasattr(top, "set_submenu") else top.set_menu)(below)
        for dialog in dialogs:
            item = host.MenuItem(
                name=f"Cairn::{dialog}", label=labels()[dialog], **{_tip(host): "", "icon": ""}
            )
            item.connect("activate", lambda _, one=dialog: show(one, path))
            below.append_item(item)
        return [top]

    def update_file_info(self, file):
        name = self.files.emblem(file)
        if name:
            file.add_emblem(name)
        return host.OperationResult.COMPLETE

    def start(self):
        GObject.Object.__init__(self)
        self.files = Files()

    # The window comes before the files, in some of them and versions.
    members = {"__init__": start, "__gtype_name__": f"Cairn{namespace}"}
    members["get_file_items"] = lambda self, *given: items(self, given[-1])
    members["get_background_items"] = lambda self, *given: items(self, [given[-1]])
    members["get_file_menu_items"] = members["get_file_items"]
    members["get_folder_menu_items"] = members["get_background_items"]
    bases = (GObject.Object, host.MenuProvider)
    if has_emblems:
        members["update_file_info"] = update_file_info
        bases += (host.InfoProvider,)
    return type(f"Cairn{namespace}", bases, members)


def _tip(host):
    """Returns what the file manager calls the hint of an item."""
    return "tooltip" if host.__name__.endswith("Thunarx") else "tip"
