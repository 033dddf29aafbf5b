//! Finds processes by a variable in their environment, which follows a process wherever it forks.

/// The processes whose environment has `key=value`. Those that ended but wait for their parent have none.
pub fn procs_with_tag(key: &str, value: &str) -> Vec<u32> {
    let tag = format!("{key}={value}");
    let tagged =
        ralph_os::everyone().into_iter().filter(|pid| ralph_os::has_in_environment(*pid, tag.as_bytes()));
    tagged.map(|pid| pid.as_raw_pid().unsigned_abs()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_tagged_process_is_found_until_it_ends() {
        let tag = format!("procs-{}", std::process::id());
        let mut child = Command::new("cat").env("TESTKIT_TAG", &tag).stdin(Stdio::piped()).spawn().unwrap();
        // Between fork and exec the child still has our environment.
        let mut found = Vec::new();
        for _ in 0..500 {
            found = procs_with_tag("TESTKIT_TAG", &tag);
            if !found.is_empty() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(found, [child.id()]);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(procs_with_tag("TESTKIT_TAG", &tag), Vec::<u32>::new());
    }
}
