"""Makes a network device for packets, and runs a program that has it as its standard input."""

import fcntl
import os
import struct
import sys

TUNSETIFF = 0x400454CA
PACKETS_WITHOUT_HEADER = 0x0001 | 0x1000

try:
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", sys.argv[1].encode(), PACKETS_WITHOUT_HEADER))
except OSError as error:
    sys.exit(f"no device for packets: {error}")
os.dup2(device, 0)
os.execv(sys.argv[2], sys.argv[2:])
