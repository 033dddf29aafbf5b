"""Switches the loopback interface of this network namespace on; `ip link set lo up` where there is no `ip`."""

import fcntl
import socket
import struct

SIOCSIFFLAGS, IFF_UP, IFF_LOOPBACK, IFF_RUNNING = 0x8914, 0x1, 0x8, 0x40

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    wish = struct.pack("16sh14x", b"lo", IFF_UP | IFF_LOOPBACK | IFF_RUNNING)
    fcntl.ioctl(any_socket, SIOCSIFFLAGS, wish)
