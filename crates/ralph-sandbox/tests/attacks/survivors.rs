//! Processes that try to outlive the call.

use crate::attack::{Attack, attack};

pub fn attacks() -> Vec<Attack> {
    [daemons(), hard_to_find()].into_iter().flatten().map(Attack::alone).collect()
}

fn daemons() -> Vec<Attack> {
    vec![
        attack(
            "a child",
            r#"
if os.fork() == 0: survive()
time.sleep(0.3)"#,
        ),
        attack(
            "a daemon",
            r#"
if os.fork() == 0:
    os.setsid(); os.chdir("/"); os.closerange(0, 64)
    if os.fork() == 0: survive()
    os._exit(0)
time.sleep(0.3)"#,
        ),
        attack(
            "a daemon of many generations",
            r#"
if os.fork() == 0:
    for _ in range(20):
        if os.fork(): os._exit(0)
        os.setsid()
    survive()
time.sleep(0.5)"#,
        ),
        attack(
            "nohup and setsid",
            r#"
sh(f"nohup setsid sh -c 'sleep 90; : survivor-{ID}' >/dev/null 2>&1 & sleep 0.3")"#,
        ),
        attack(
            "one that is stopped",
            r#"
pid = os.fork()
if pid == 0: survive()
time.sleep(0.3); os.kill(pid, signal.SIGSTOP)"#,
        ),
        attack(
            "one that ends its parent first",
            r#"
parent = os.getpid()
if os.fork() == 0:
    os.setsid(); os.kill(parent, signal.SIGKILL); survive()
time.sleep(5)"#,
        )
        .ends_itself(),
    ]
}

fn hard_to_find() -> Vec<Attack> {
    vec![
        attack(
            "one that is traced by another",
            r#"
pid = os.fork()
if pid == 0:
    libc.ptrace(0, 0, 0, 0)
    survive()
if os.fork() == 0: survive()
time.sleep(0.3)"#,
        ),
        attack(
            "in a pid namespace of its own",
            r#"
if os.fork() == 0:
    os.setsid()
    nested(survive, NEWUSER | NEWPID)
time.sleep(0.5)"#,
        ),
        attack(
            "a hundred at once",
            r#"
for _ in range(100):
    if os.fork() == 0:
        os.setsid(); survive()
time.sleep(0.5)"#,
        ),
        attack(
            "one that forks for as long as it can",
            r#"
# At most 300 generations, 5 ms apart: it is over by itself after a second or two.
if os.fork() == 0:
    os.setsid()
    for _ in range(300):
        time.sleep(0.005)
        if os.fork(): os._exit(0)
    survive()
time.sleep(0.1)"#,
        )
        .looks(20),
    ]
}
