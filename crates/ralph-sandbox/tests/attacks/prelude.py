"""Plays attacks, each in a process of its own. The test names on stdin the directory, beside this file, of the next one; it
is answered on stdout when that is over, or told that this world is not as it was (`stale`). The directory has the attack
and gets its evidence, where the test looks for it.

`ran`: the attack was started. `done`: it came to its end, refused or not. `broken`: it has a mistake of its own, which
proves nothing. `absent`: this machine lacks what is attacked. `read`: bytes it could read. `did`: what no one outside
can see, such as a system call that was answered. `steps`: how far it came.
"""
import ctypes
import errno
import fcntl
import json
import mmap
import os
import platform
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "facts.json")) as facts:
    F = json.load(facts)
# Where the attack's evidence goes: a descriptor, so that one that changes its root or mounts can still tell.
NOTES = -1
HOME, WS, ID = F["home"], F["workspace"], F["id"]
V = F.get("victim") or {}
# Pid 1 is attacked only where it is the sandbox's own: outside, the victim stands for it.
INSIDE = os.readlink("/proc/self/ns/pid") != F["pid_namespace"]
TARGET = 1 if INSIDE else V.get("pid", 0)

libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": dict(bpf=321, perf_event_open=298, keyctl=250, add_key=248, request_key=249, renameat2=316,
                   open_by_handle_at=304, userfaultfd=323, syslog=103, mknodat=259, fchmodat=268),
    "aarch64": dict(bpf=280, perf_event_open=241, keyctl=219, add_key=217, request_key=218, renameat2=276,
                    open_by_handle_at=265, userfaultfd=282, syslog=116, mknodat=33, fchmodat=53),
}[platform.machine()]
NUMBERS.update(io_uring_setup=425, open_tree=428, move_mount=429, fsopen=430, fsconfig=431, fsmount=432,
               pidfd_open=434, openat2=437, pidfd_getfd=438, mount_setattr=442, fchmodat2=452)
SCRIPT = "#!/bin/sh\n"
AT_FDCWD, AT_EMPTY_PATH, AT_RECURSIVE = -100, 0x1000, 0x8000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_MOVE, MS_REC, MS_PRIVATE = 1, 2, 4, 32, 4096, 8192, 16384, 1 << 18
NEWNS, NEWCGROUP, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x2000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000


def note(name, text):
    data = text if isinstance(text, bytes) else (text + "\n").encode()
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644, dir_fd=NOTES)
    os.write(fd, data)
    os.close(fd)


def keep(data):
    """What the attack could read."""
    note("read", data if isinstance(data, bytes) else data.encode())


def did(text):
    """What worked and cannot be seen from outside."""
    note("did", text)


def step(text):
    note("steps", text)


def absent(text):
    note("absent", text)


def attempt(function, *args, **named):
    """The answer, or None if it was refused."""
    try:
        return function(*args, **named)
    except OSError as refused:
        note("refused", f"{getattr(function, '__name__', function)}{args[:2]}: {refused}")
        return None


def checked(result):
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def plain(value):
    if isinstance(value, str):
        return value.encode()
    return ctypes.c_long(value) if isinstance(value, int) else value


def syscall(name, *args):
    number = NUMBERS[name] if isinstance(name, str) else name
    return checked(libc.syscall(ctypes.c_long(number), *[plain(arg) for arg in args]))


def call(name, *args):
    return checked(getattr(libc, name)(*[plain(arg) for arg in args]))


def mount(source, at, kind="", flags=0, data=""):
    checked(libc.mount(source.encode(), at.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode()))


def umount(at, flags=0):
    checked(libc.umount2(at.encode(), flags))


def unshare(flags):
    checked(libc.unshare(flags))


def write(path, text="attacked\n", flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode=0o644):
    fd = os.open(path, flags, mode)
    try:
        os.write(fd, text if isinstance(text, bytes) else text.encode())
    finally:
        os.close(fd)


def read(path, most=65536):
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(fd, most)
    finally:
        os.close(fd)


def opens(path, flags=os.O_WRONLY):
    """Evidence that it can be opened, without writing anything to it."""
    os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC))
    did(f"opened {path}")


def sh(script):
    subprocess.run(["sh", "-c", script], stdin=subprocess.DEVNULL, timeout=50)


def in_child(body):
    """Runs `body` in a child, so that what it changes about itself stays there."""
    pid = os.fork()
    if pid == 0:
        run(body)
        os._exit(0)
    os.waitpid(pid, 0)


def clone(flags):
    """A child in new namespaces, by the older call."""
    order = [flags | signal.SIGCHLD, 0, 0, 0, 0]
    return syscall({"x86_64": 56, "aarch64": 220}[platform.machine()], *order)


def clone3(flags):
    """The same by the newer call, whose flags a filter cannot see."""
    return syscall(435, ctypes.create_string_buffer(struct.pack("8Q", flags, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)), 64)


def nested(body, flags=NEWUSER | NEWNS):
    """Runs `body` in namespaces of its own, by whichever call makes them; with NEWPID as their first process."""
    uid, gid = os.getuid(), os.getgid()

    def entered():
        for file, text in [("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")]:
            attempt(write, f"/proc/self/{file}", text, os.O_WRONLY)
        note("steps", "entered")
        if flags & NEWNS:
            attempt(mount, "", "/", "", MS_REC | MS_PRIVATE)
        body()

    def unshared():
        unshare(flags)
        entered() if not flags & NEWPID else in_child(entered)

    def in_two_steps():
        unshare(NEWUSER)
        unshare(flags & ~NEWUSER)
        entered() if not flags & NEWPID else in_child(entered)

    for way in [unshared, in_two_steps]:
        in_child(way)
    # The older call ignores the upper half, which a filter must do as well.
    for way in [lambda: clone(flags), lambda: clone(flags | 1 << 40), lambda: clone3(flags)]:
        pid = attempt(way)
        if pid == 0:
            run(entered)
            os._exit(0)
        if pid:
            os.waitpid(pid, 0)


def survive():
    """Becomes a process that stays, ignores signals and is found by its arguments alone."""
    wait = "import signal, time\nfor s in (1, 2, 3, 15): signal.signal(s, signal.SIG_IGN)\ntime.sleep(90)"
    os.execve(sys.executable, [sys.executable, "-c", wait, f"survivor-{ID}"], {})


def run(body):
    try:
        body()
    except OSError as refused:
        note("refused", str(refused))
    except BaseException:
        note("broken", traceback.format_exc())


def play(name):
    """One attack, in this process."""
    global NOTES
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    NOTES = os.open(os.path.join(HERE, name), os.O_RDONLY | os.O_DIRECTORY)
    said = os.open("said", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=NOTES)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in [(nothing, 0), (said, 1), (said, 2)]:
        os.dup2(source, target)
    os.close(said)
    os.close(nothing)
    note("ran", "")
    me = os.getpid()
    with open(os.path.join(HERE, name, "attack.py")) as file:
        code = compile(file.read(), "attack.py", "exec")
    run(lambda: exec(code, globals()))
    if os.getpid() == me:
        note("done", "")


def world():
    """What an earlier attack may have changed for a later one outside the workspace, which the test itself restores."""
    found = []
    for top in [HOME, "/tmp"] if INSIDE else [HOME]:
        for directory, names, files in os.walk(top):
            names[:] = [name for name in names if os.path.join(directory, name) != WS]
            for path in [directory] + [os.path.join(directory, name) for name in names + files]:
                it = os.lstat(path)
                found.append((path, it.st_mode, it.st_nlink, it.st_size, it.st_mtime_ns))
    return found


def main():
    first = world()
    # An attack may ask everybody to end.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for name in iter(sys.stdin.readline, ""):
        if world() != first:
            print("stale", flush=True)
            return
        pid = os.fork()
        if pid == 0:
            play(name.strip())
            os._exit(0)
        os.waitpid(pid, 0)
        print("over", flush=True)


main()
