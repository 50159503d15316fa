"""Cairn in Thunar: a menu for synced files."""

import sys

sys.path.append("/usr/share/cairn/file-managers")

from cairn_extension import provider  # noqa: E402

Cairn = provider("Thunarx", "3.0")
