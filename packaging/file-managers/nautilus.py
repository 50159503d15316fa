"""Cairn in Nautilus: emblems and a menu for synced files."""

import sys

sys.path.append("/usr/share/cairn/file-managers")

from cairn_extension import provider  # noqa: E402

Cairn = provider("Nautilus", "4.1", "4.0", "3.0")
