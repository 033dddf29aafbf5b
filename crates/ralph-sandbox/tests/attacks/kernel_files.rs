//! Files by which the kernel is told what to do. Nothing is written to them: that they can be opened for writing is bad
//! enough. Landlock must hold these.

use crate::attack::Control::BareRoot;
use crate::attack::{Attack, attack};

pub fn attacks() -> Vec<Attack> {
    let all = [in_proc(), in_sys()].into_iter().flatten();
    all.map(|attack| attack.control(BareRoot).landlock()).collect()
}

fn in_proc() -> Vec<Attack> {
    vec![
        attack("core_pattern", r#"opens("/proc/sys/kernel/core_pattern")"#),
        attack("core_pattern by /proc/self/root", r#"opens("/proc/self/root/proc/sys/kernel/core_pattern")"#),
        attack(
            "core_pattern by a thread's directory",
            r#"
os.chdir("/proc/sys/kernel"); opens("core_pattern")"#,
        ),
        attack(
            "core_pattern reopened by a descriptor",
            r#"
fd = os.open("/proc/sys/kernel/core_pattern", os.O_RDONLY); opens(f"/proc/self/fd/{fd}")"#,
        ),
        attack(
            "other programs that the kernel runs",
            r#"
for file in ["kernel/modprobe", "kernel/hotplug", "kernel/poweroff_cmd", "fs/binfmt_misc/register"]:
    attempt(opens, f"/proc/sys/{file}")"#,
        ),
        attack(
            "settings of the kernel",
            r#"
for file in ["kernel/sysrq", "kernel/panic", "vm/drop_caches", "vm/overcommit_memory", "fs/suid_dumpable",
             "net/ipv4/ip_forward", "kernel/hostname", "kernel/randomize_va_space", "user/max_user_namespaces"]:
    attempt(opens, f"/proc/sys/{file}")"#,
        ),
        attack(
            "sysrq",
            r#"
if not os.path.exists("/proc/sysrq-trigger"): absent("no sysrq")
opens("/proc/sysrq-trigger")"#,
        ),
        attack(
            "interrupts",
            r#"
found = [f"/proc/irq/{n}/smp_affinity" for n in os.listdir("/proc/irq")] + ["/proc/irq/default_smp_affinity"]
for file in found: attempt(opens, file)"#,
        ),
        attack(
            "buses and file systems of the kernel",
            r#"
found = []
for top in ["/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi"]:
    for dir, _, files in os.walk(top): found += [os.path.join(dir, file) for file in files]
writable = [file for file in found if os.stat(file).st_mode & 0o222]
if not writable: absent("no such file is writable")
for file in writable: attempt(opens, file)"#,
        ),
        attack(
            "the kernel's memory",
            r#"
if not os.path.exists("/proc/kcore"): absent("no kcore")
opens("/proc/kcore", os.O_RDONLY)"#,
        )
        .control(BareRoot),
        attack("the kernel's log", r#"opens("/proc/kmsg", os.O_RDONLY)"#),
    ]
}

fn in_sys() -> Vec<Attack> {
    vec![
        attack(
            "settings in /sys",
            r#"
for file in ["kernel/mm/transparent_hugepage/enabled", "power/state", "power/wakeup_count", "kernel/uevent_helper", "kernel/uevent_seqnum",
             "kernel/mm/ksm/run", "kernel/profiling", "kernel/rcu_expedited"]:
    attempt(opens, f"/sys/{file}")"#,
        ),
        attack(
            "parameters of the kernel's modules",
            r#"
for top, _, files in os.walk("/sys/module"):
    for file in files:
        if top.endswith("/parameters"):
            path = os.path.join(top, file)
            if os.stat(path).st_mode & 0o200: attempt(opens, path)"#,
        ),
        attack(
            "a device in /sys",
            r#"
for top, _, files in os.walk("/sys/devices/virtual"):
    if "uevent" in files: attempt(opens, os.path.join(top, "uevent"))"#,
        ),
        attack(
            "a new cgroup",
            r#"
for top in ["/sys/fs/cgroup"] + [f"/sys/fs/cgroup/{name}" for name in os.listdir("/sys/fs/cgroup")]:
    if os.path.isdir(top): attempt(os.mkdir, f"{top}/ralph-attack-{ID}")"#,
        ),
        attack(
            "leave the cgroup",
            r#"
for top, _, files in os.walk("/sys/fs/cgroup"):
    for file in ["cgroup.procs", "tasks", "cgroup.subtree_control", "pids.max", "memory.max"]:
        if file in files: attempt(opens, os.path.join(top, file))"#,
        ),
        attack(
            "the release agent of a cgroup",
            r#"
agents = [f"/sys/fs/cgroup/{name}/release_agent" for name in os.listdir("/sys/fs/cgroup")]
if not any(map(os.path.exists, agents)): absent("no cgroup of version 1")
for file in agents: attempt(opens, file)"#,
        ),
        attack(
            "tracing and debugging",
            r#"
found = [f for f in ["/sys/kernel/tracing/kprobe_events", "/sys/kernel/debug/tracing/kprobe_events", "/sys/kernel/security/lockdown"] if os.path.exists(f)]
if not found: absent("neither is mounted")
for file in found: attempt(opens, file)"#,
        ),
        attack("move somebody's oom score", r#"opens(f"/proc/{V['pid']}/oom_score_adj")"#).victim(),
    ]
}
