"""Cairn in Caja: emblems and a menu for synced files."""

import sys

sys.path.append("/usr/share/cairn/file-managers")

from cairn_extension import provider  # noqa: E402

Cairn = provider("Caja", "2.0")
