//! The account that ralph runs as, whatever the environment says.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Directories of the system; accounts of services have some in them as their home.
const SYSTEM: [&str; 11] =
    ["/bin", "/boot", "/dev", "/etc", "/lib", "/proc", "/run", "/sbin", "/sys", "/tmp", "/usr"];
/// Directories in which homes of several accounts lie.
const SHARED: [&str; 6] = ["/", "/home", "/Users", "/var", "/opt", "/srv"];

/// The account's home directory in the password database: `HOME` may name another one. None if it is no directory of one
/// account alone.
#[must_use]
pub fn account_home() -> Option<PathBuf> {
    let uid = rustix::process::geteuid().as_raw();
    let local = std::fs::read("/etc/passwd").ok();
    let local = local.and_then(|text| home_of(uid, &String::from_utf8_lossy(&text)));
    let home = local.or_else(|| home_of(uid, &asked(uid)?))?.canonicalize().ok()?;
    is_of_one_account(&home).then_some(home)
}

/// What the system's other databases say of the account.
fn asked(uid: u32) -> Option<String> {
    let program =
        ["/usr/bin/getent", "/bin/getent"].into_iter().find(|program| Path::new(program).exists())?;
    let mut command = Command::new(program);
    command.args(["passwd", &uid.to_string()]).stdin(Stdio::null()).stderr(Stdio::null());
    Some(String::from_utf8_lossy(&command.output().ok()?.stdout).into_owned())
}

/// The sixth field of the account's line.
fn home_of(uid: u32, text: &str) -> Option<PathBuf> {
    let line = text.lines().find(|line| line.split(':').nth(2).is_some_and(|it| it.parse() == Ok(uid)))?;
    line.split(':').nth(5).map(PathBuf::from).filter(|home| home.is_absolute())
}

fn is_of_one_account(home: &Path) -> bool {
    SHARED.iter().all(|dir| home != Path::new(dir)) && !SYSTEM.iter().any(|dir| home.starts_with(dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_found_by_the_number_of_its_account() {
        let text = "root:x:0:0:root:/root:/bin/bash\nbroken\nu:x:1000:1000::/home/u:/bin/sh\nn:x:7:7::none:/bin/sh\n";
        assert_eq!(home_of(1000, text), Some("/home/u".into()));
        assert_eq!(home_of(0, text), Some("/root".into()));
        assert_eq!((home_of(7, text), home_of(10, text), home_of(1000, "")), (None, None, None));
    }

    #[test]
    fn directories_of_the_system_are_nobodys_home() {
        for (home, expected) in [
            ("/home/u", true),
            ("/root", true),
            ("/var/lib/jenkins", true),
            ("/", false),
            ("/home", false),
            ("/usr/sbin", false),
            ("/bin", false),
            ("/dev", false),
            ("/run/ircd", false),
            ("/tmp", false),
            ("/binary", true),
        ] {
            assert_eq!(is_of_one_account(Path::new(home)), expected, "{home}");
        }
    }
}
