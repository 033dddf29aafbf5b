# Installs a filter that refuses what an older kernel or a container does not have, and executes a program.
# Arguments: what is refused, the program, its arguments.
import ctypes
import os
import platform
import struct
import sys

EPERM, ENOSYS = 1, 38
NAMESPACES, USER_NAMESPACE = 0x7E020080, 0x10000000
UNSHARE, CLONE = {"x86_64": (272, 56), "aarch64": (97, 220)}[platform.machine()]
CLONE3, LANDLOCK_CREATE_RULESET = 435, 444


def word(code, value, yes=0, no=0):
    return struct.pack("HBBI", code, yes, no, value)


def refuse(number, error):
    return [word(0x15, number, 0, 1), word(0x06, 0x50000 | error)]


def refuse_namespaces(number, which=NAMESPACES):
    flags = [word(0x20, 16), word(0x45, which, 0, 1), word(0x06, 0x50000 | EPERM), word(0x06, 0x7FFF0000)]
    return [word(0x15, number, 0, len(flags)), *flags]


refused = sys.argv[1].split("+")
filter = [word(0x20, 0)]
if "unshare" in refused:
    # bubblewrap enters a second user namespace to become its user again.
    filter += refuse_namespaces(UNSHARE, NAMESPACES & ~USER_NAMESPACE)
if "namespaces" in refused:
    filter += refuse_namespaces(UNSHARE) + refuse_namespaces(CLONE) + refuse(CLONE3, ENOSYS)
if "landlock" in refused:
    filter += refuse(LANDLOCK_CREATE_RULESET, ENOSYS)
filter.append(word(0x06, 0x7FFF0000))

libc = ctypes.CDLL(None, use_errno=True)
code = ctypes.create_string_buffer(b"".join(filter))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(filter), ctypes.addressof(code)))
for call in [(38, 1, 0, 0, 0), (22, 2, ctypes.addressof(program), 0, 0)]:
    if libc.prctl(*(ctypes.c_ulong(argument) for argument in call)) != 0:
        sys.exit(f"prctl {call[0]}: {os.strerror(ctypes.get_errno())}")
os.execvp(sys.argv[2], sys.argv[2:])
