"""Somebody outside the sandbox: holds secrets, listens, shares memory, and writes down who came.

Arguments: the directory for its notes, the scene's id, the hidden directory, a secret that only its arguments have.
Prints what an attack needs to know; answers each line on its input once what came before it is written down. With `tidy`
and those facts it removes what one that was killed has left.
"""
import ctypes
import json
import os
import select
import signal
import socket
import sys

# Forgotten attackers must not keep it alive for ever.
signal.alarm(300)
libc = ctypes.CDLL(None, use_errno=True)


def tidy(facts):
    libc.shmctl(facts["shm"], 0, None)
    libc.msgctl(facts["queue"], 0, None)
    libc.semctl(facts["semaphore"], 0, 0)
    for path in [facts["posix_shm"], facts["tmp_socket"], facts["run_socket"]]:
        if path and os.path.exists(path):
            os.unlink(path)
    if facts["mqueue"]:
        ctypes.CDLL("librt.so.1").mq_unlink(facts["mqueue"].encode())


if sys.argv[1] == "tidy":
    tidy(json.loads(sys.argv[2]))
    sys.exit()
notes, ident, hidden = sys.argv[1:4]
libc.prctl(0x59616D61, ctypes.c_ulong(-1 & 0xFFFFFFFFFFFFFFFF), 0, 0, 0)  # PR_SET_PTRACER_ANY: Yama must not hold it
secret = f"SECRET-{ident}"


def came(what):
    with open(os.path.join(notes, "contacts"), "a") as file:
        file.write(what + "\n")


facts = {"pid": os.getpid()}
listeners = {}


def listen(name, family, kind, address):
    s = socket.socket(family, kind)
    s.bind(address)
    if kind == socket.SOCK_STREAM:
        s.listen()
    listeners[s.fileno()] = (name, s)
    return s


def pathname(key, path):
    """A socket file, for everybody; where this user may not make one there is none."""
    try:
        listen(key, socket.AF_UNIX, socket.SOCK_STREAM, path)
        os.chmod(path, 0o777)
        facts[key] = path
    except OSError:
        facts[key] = None


facts["tcp"] = listen("tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)).getsockname()[1]
facts["udp"] = listen("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)).getsockname()[1]
facts["any"] = listen("any", socket.AF_INET, socket.SOCK_STREAM, ("0.0.0.0", 0)).getsockname()[1]
try:
    facts["tcp6"] = listen("tcp6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)).getsockname()[1]
    facts["udp6"] = listen("udp6", socket.AF_INET6, socket.SOCK_DGRAM, ("::1", 0)).getsockname()[1]
except OSError:
    facts["tcp6"] = facts["udp6"] = None
facts["abstract"] = f"ralph-attack-{ident}"
listen("abstract", socket.AF_UNIX, socket.SOCK_STREAM, "\0" + facts["abstract"])
facts["abstract_datagram"] = f"ralph-attack-{ident}-d"
listen("abstract datagram", socket.AF_UNIX, socket.SOCK_DGRAM, "\0" + facts["abstract_datagram"])
pathname("hidden_socket", os.path.join(hidden, "agent.sock"))
pathname("seen_socket", os.path.join(os.path.dirname(hidden), ".config/agent.sock"))
pathname("tmp_socket", f"/tmp/ralph-attack-{ident}.sock")
pathname("run_socket", f"/run/ralph-attack-{ident}.sock")

libc.shmat.restype = ctypes.c_void_p
facts["shm"] = libc.shmget(0, 4096, 0o1666)
shared = libc.shmat(facts["shm"], None, 0)
ctypes.memmove(shared, (secret + "-shm").encode(), len(secret) + 4)
facts["queue"] = libc.msgget(0, 0o1666)
message = ctypes.create_string_buffer(b"\1\0\0\0\0\0\0\0" + (secret + "-queue").encode())
libc.msgsnd(facts["queue"], message, len(secret) + 6, 0)
facts["semaphore"] = libc.semget(0, 1, 0o1666)
facts["posix_shm"] = f"/dev/shm/ralph-attack-{ident}-posix"
with open(facts["posix_shm"], "w") as file:
    file.write(secret + "-posix")
os.chmod(facts["posix_shm"], 0o666)
facts["mqueue"] = f"/ralph-attack-{ident}"
try:
    mq = ctypes.CDLL("librt.so.1", use_errno=True)
    q = mq.mq_open(facts["mqueue"].encode(), os.O_CREAT | os.O_RDWR, 0o666, None)
    if q < 0:
        raise OSError(ctypes.get_errno(), "mq_open")
    mq.mq_send(q, (secret + "-mq").encode(), len(secret) + 3, 0)
except (OSError, AttributeError):
    facts["mqueue"] = None

memory = ctypes.create_string_buffer((secret + "-memory").encode())
facts["address"], facts["length"] = ctypes.addressof(memory), len(secret) + 7
file = open(os.path.join(hidden, "id_ed25519"))
facts["fd"] = file.fileno()
os.chdir(hidden)


def handle(path):
    """The file's handle, by which root can open it under any mount of its file system."""

    class Handle(ctypes.Structure):
        _fields_ = [("size", ctypes.c_uint), ("kind", ctypes.c_int), ("data", ctypes.c_ubyte * 128)]

    it, number = Handle(128), ctypes.c_int()
    if libc.name_to_handle_at(-100, path.encode(), ctypes.byref(it), ctypes.byref(number), 0) != 0:
        return None
    return [it.size, it.kind, list(it.data[: it.size])]


facts["handle"] = handle(os.path.join(hidden, "id_ed25519"))


def looked():
    if not ctypes.string_at(shared, 64).startswith((secret + "-shm").encode()):
        came("shared memory was changed")
    if libc.semctl(facts["semaphore"], 0, 12, 0) != 0:
        came("the semaphore was changed")


print(json.dumps(facts), flush=True)
open_ = True
while open_:
    ready, _, _ = select.select([0, *listeners], [], [])
    for fd in ready:
        if fd in listeners:
            name, s = listeners[fd]
            came(name)
            if s.type == socket.SOCK_STREAM:
                s.accept()[0].close()
            else:
                s.recv(4096)
    if ready == [0]:
        line = os.read(0, 100)
        looked()
        open_ = bool(line)
        print("looked", flush=True)
tidy(facts)
