//! A contained program has a directory for temporary files of its own. What the user's commands name is seen there all the
//! same; what lies beside it is not.

use crate::place::{HELD, Place, everybody};
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn programs_and_files_that_the_user_names_are_seen_in_the_temporary_directory() {
    for who in everybody() {
        let place = Place::new(who);
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("bin")).unwrap();
        fs::write(at("bin/my-tool"), "#!/bin/sh\necho tool-ran\n").unwrap();
        fs::set_permissions(at("bin/my-tool"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(at("check.sh"), "test -s done.txt\n").unwrap();
        fs::write(at("diary.txt"), "private-words\n").unwrap();
        let root = dir.path().display();
        let agent = format!(
            "my-tool; cat {root}/diary.txt; echo x > {root}/check.sh; echo x > {root}/bin/my-tool; \
             touch {root}/left; echo work > done.txt"
        );
        let mut command = place.run(&agent, &["--verify", &format!("sh {root}/check.sh")]);
        command.env("PATH", format!("{root}/bin:/usr/local/bin:/usr/bin:/bin"));
        let done = place.finished(&mut command);
        assert!(done.sandbox().contains(HELD), "{who:?}: {}", done.sandbox());
        assert!(done.agent.contains("tool-ran"), "{who:?}: {}", done.agent);
        assert!(!done.agent.contains("private-words"), "{who:?}: {}", done.agent);
        assert_eq!(done.result["verificationPassed"], true, "{who:?}: {} {}", done.result, done.stderr);
        assert_eq!(fs::read_to_string(at("check.sh")).unwrap(), "test -s done.txt\n");
        assert!(fs::read_to_string(at("bin/my-tool")).unwrap().contains("tool-ran") && !at("left").exists());
    }
}
