//! System calls that are refused inside, whatever the rights of whoever calls.
//!
//! Mount namespaces are refused even where others are allowed. What is protected is protected by mounts, and the kernel lets
//! nobody rename a mount point of the *caller's* mount namespace. A program that holds a descriptor of the workspace and
//! empties a mount namespace of its own could rename or replace every protected file.
//!
//! A filter sees the arguments in registers only. `clone3` and `openat2` have theirs in memory, so they are answered as by a
//! kernel that does not know them; the C libraries then use the older calls. A call made as a 32-bit program ends it.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

use crate::report::Failure;

/// What differs between plans and backends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowed {
    /// Namespaces, but for mount namespaces.
    pub namespaces: bool,
    /// Sockets of the internet. Refused only where no network namespace keeps them in.
    pub internet: bool,
}

/// The kernel's interfaces for administration, and those through which most of its holes were found.
const REFUSED: [i64; 37] = [
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_open_by_handle_at,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_syslog,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_vhangup,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fsconfig,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_fanotify_init,
];

/// The same number on every architecture; the C library does not name them all yet.
const FCHMODAT2: i64 = 452;
const OPEN_TREE_ATTR: i64 = 467;

/// Calls that only older architectures have.
#[cfg(target_arch = "x86_64")]
mod older {
    pub const REFUSED: [i64; 2] = [libc::SYS_iopl, libc::SYS_ioperm];
    pub const WITH_MODE: [(i64, u8); 3] = [(libc::SYS_chmod, 1), (libc::SYS_creat, 1), (libc::SYS_mknod, 1)];
    pub const OPEN: Option<i64> = Some(libc::SYS_open);
}
#[cfg(not(target_arch = "x86_64"))]
mod older {
    pub const REFUSED: [i64; 0] = [];
    pub const WITH_MODE: [(i64, u8); 0] = [];
    pub const OPEN: Option<i64> = None;
}

/// Calls with a file's mode in this argument.
const WITH_MODE: [(i64, u8); 4] =
    [(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (FCHMODAT2, 2), (libc::SYS_mknodat, 2)];

const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWTIME,
];

const TIOCLINUX: u64 = 0x541c;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refuses the calls from now on, for this process and all that it starts.
pub(super) fn restrict(allowed: Allowed) -> Result<(), Failure> {
    let apply = || -> Result<(), Box<dyn std::error::Error>> { Ok(apply_filter(&program(allowed)?)?) };
    apply().map_err(|error| Failure::sandbox(format!("the filter of system calls: {error}"), 0))
}

fn program(allowed: Allowed) -> Result<BpfProgram, Box<dyn std::error::Error>> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let rest: BpfProgram =
        SeccompFilter::new(rules(allowed)?, SeccompAction::Allow, refuse, arch)?.try_into()?;
    Ok([unknown_calls(), rest].concat())
}

fn rules(allowed: Allowed) -> Result<Rules, seccompiler::BackendError> {
    let mut rules: Rules = REFUSED.into_iter().chain(older::REFUSED).map(|call| (call, Vec::new())).collect();
    let mut namespaces = vec![libc::CLONE_NEWNS];
    if !allowed.namespaces {
        namespaces.extend(NAMESPACES);
        rules.insert(libc::SYS_setns, Vec::new());
    }
    for call in [libc::SYS_clone, libc::SYS_unshare] {
        // A thread's flags of `clone` have the signal in the bits of the time namespace, which `clone` cannot make.
        let flags = namespaces.iter().filter(|flag| call != libc::SYS_clone || **flag != libc::CLONE_NEWTIME);
        let any = flags.map(|flag| SeccompRule::new(vec![has(0, u64::from(flag.unsigned_abs()))?]));
        rules.insert(call, any.collect::<Result<_, _>>()?);
    }
    let terminal = [libc::TIOCSTI, TIOCLINUX].map(|code| SeccompRule::new(vec![equal(1, code)?]));
    rules.insert(libc::SYS_ioctl, terminal.into_iter().collect::<Result<_, _>>()?);
    for (call, mode) in WITH_MODE.into_iter().chain(older::WITH_MODE) {
        rules.insert(call, set_id_bits(&[], mode)?);
    }
    let create = u64::from(libc::O_CREAT.unsigned_abs());
    let temporary = u64::from((libc::O_TMPFILE & !libc::O_DIRECTORY).unsigned_abs());
    for (call, flags) in older::OPEN.map(|open| (open, 1)).into_iter().chain([(libc::SYS_openat, 2)]) {
        let mut made = set_id_bits(&[has(flags, create)?], flags + 1)?;
        made.extend(set_id_bits(&[has(flags, temporary)?], flags + 1)?);
        rules.insert(call, made);
    }
    let mut families = vec![libc::AF_UNIX, libc::AF_NETLINK];
    if allowed.internet {
        families.extend([libc::AF_INET, libc::AF_INET6]);
    }
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        let none_of = families.iter().map(|family| not_equal(0, u64::from(family.unsigned_abs())));
        rules.insert(call, vec![SeccompRule::new(none_of.collect::<Result<_, _>>()?)?]);
    }
    Ok(rules)
}

/// A mode with which a file would be run as its owner or group, in argument `mode`.
fn set_id_bits(and: &[SeccompCondition], mode: u8) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let with = |bit: u32| SeccompRule::new([and, &[has(mode, bit.into())?]].concat());
    [libc::S_ISUID, libc::S_ISGID].into_iter().map(with).collect()
}

type Condition = Result<SeccompCondition, seccompiler::BackendError>;

fn has(arg: u8, bits: u64) -> Condition {
    SeccompCondition::new(arg, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bits), bits)
}

fn equal(arg: u8, value: u64) -> Condition {
    SeccompCondition::new(arg, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn not_equal(arg: u8, value: u64) -> Condition {
    SeccompCondition::new(arg, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

/// Answers some calls as a kernel that does not know them, and goes on to what follows with all others. Also the calls of
/// the x32 architecture, which have a bit set in their number and would pass every other rule.
fn unknown_calls() -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    let step = |code: u32, jt, jf, k| seccompiler::sock_filter {
        code: code.try_into().unwrap_or_default(),
        jt,
        jf,
        k,
    };
    let number = |call: i64| u32::try_from(call).unwrap_or(u32::MAX);
    let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    vec![
        // The number comes first in what a filter is shown.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(equal, 2, 0, number(libc::SYS_clone3)),
        step(equal, 1, 0, number(libc::SYS_openat2)),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_can_be_built() {
        for (namespaces, internet) in [(false, false), (false, true), (true, false), (true, true)] {
            assert!(program(Allowed { namespaces, internet }).unwrap().len() > 100);
        }
    }
}
