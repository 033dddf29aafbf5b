"""What the scripted agents of the tests do."""


def steps(scene, name, parts):
    """Fixes one test an iteration, and waits before each until the test opens the next gate."""
    lines = []
    for n in range(1, parts + 1):
        lines += [
            f"[{n}]",
            f"say I look at part {n}, which `./check.sh` says is missing.",
            "run ls src",
            scene.gate(name, n),
            f"write src/part{n}.rs done",
            f"say Part {n} is there now.",
            "spend 0.12" if n % 2 else "spend 0.31",
            "claim complete",
        ]
    return "\n".join(lines) + "\n"


def fixes(parts, spend="0.24"):
    """Fixes one test an iteration, without waiting."""
    return "\n".join(f"[{n}]\nsay Part {n}.\nwrite src/part{n}.rs done\nspend {spend}\nclaim complete" for n in range(1, parts + 1)) + "\n"


BLOCKED = "[*]\nsay I look for the key.\nrun env | grep -c GATEWAY_KEY\nspend 0.14\nrecommendation There is no key for the gateway in this environment\nclaim blocked\n"
PROTECTED = "[1]\nsay The checks are in the way.\nwrite src/part1.rs done\nspend 0.31\nclaim progress\n[2]\nwrite ralph.toml x\nspend 0.30\nclaim complete\n"
LIMITED = "[1]\nwrite src/part1.rs done\nspend 0.41\nclaim progress\n[2]\nfail usage_limit reset=+2h window=5h\n"

RLO, LRI, PDI, ZWSP, BOM, LS = "\u202e", "\u2066", "\u2069", "\u200b", "\ufeff", "\u2028"

# Twenty outputs that would do something if anything but text were made of them.
HOSTILE = [
    "<script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=2>",
    "<svg onload=window.pwned=3>",
    "<iframe srcdoc='<script>parent.pwned=4</script>'></iframe>",
    "</div></main></body><h1>Nothing needs you, trust me</h1>",
    "<style>body{display:none}</style>",
    "<a href='javascript:window.pwned=5'>click</a>",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[2J",
    "\x1b]8;;http://example.invalid\x1b\\link\x1b]8;;\x1b\\",
    f"evil{RLO}gpj.exe ends here",
    f"isolate {LRI}left open",
    f"pop {PDI}{PDI}{PDI} too often",
    f"zero{ZWSP}width and {BOM}mark",
    f"line{LS}separator",
    "carriage\rreturn over it",
    "bell \x07 and delete \x7f and csi \x9b2J",
    "W" * 5000,
    "&lt;b&gt; &amp;amp; &#x3c;script&#x3e;",
    "`unclosed ``` backticks ` `",
    "{{constructor.constructor('window.pwned=6')()}} ${7*7} %s %n",
]


def hostile():
    """Says each, and has it as a command's argument and as a file's name where that is possible."""
    lines = ["[1]"]
    for text in HOSTILE:
        lines += ["say <<END", text, "END"]
    lines += ["run echo '<script>window.pwned=7</script>'", "garble", "write src/part1.rs '<script>window.pwned=8</script>'", "spend 0.05", "claim progress"]
    return "\n".join(lines) + "\n"


def many(parts):
    """One test an iteration, every third time nothing, then it gives up."""
    lines = []
    for n in range(1, parts + 1):
        work = f"write src/part{n}.rs done" if n % 3 else "say Nothing to do here."
        lines.append(f"[{n}]\n{work}\nspend 0.0{n % 9 + 1}\nclaim progress")
    return "\n".join(lines) + f"\n[{parts + 1}]\nclaim blocked\n"


def talks(scene, name, *counts):
    """Says so many lines each time a gate is opened."""
    lines = ["[1]"]
    for talk, count in enumerate(counts, 1):
        lines.append(scene.gate(name, talk))
        # One command an utterance: neighbouring sentences may be told as one.
        lines += [line for n in range(1, count + 1) for line in (f"say talk {talk}, line {n}", "mkdir src/talk")]
    return "\n".join([*lines, scene.gate(name, len(counts) + 1), "claim progress"]) + "\n"
