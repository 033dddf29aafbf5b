//! podman's system call filter, narrowed. It lets a program make a mount namespace of its own, in which it can let go of the
//! whole tree of mounts and rename, through a directory it holds open, what is pinned only in the tree it left.

use serde_json::{Value, json};

/// Changing mounts, which nobody inside has the capability to do except in a namespace of their own; and the calls that make
/// or enter namespaces, which come back below if their flags allow it.
const REFUSED: [&str; 15] = [
    "mount",
    "umount",
    "umount2",
    "pivot_root",
    "move_mount",
    "mount_setattr",
    "open_tree",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "setns",
    "unshare",
    "clone",
    "clone3",
];
/// The flags that make a namespace, and that of a mount namespace alone.
const NAMESPACES: u64 = 0x7e02_0000;
const MOUNT_NAMESPACE: u64 = 0x0002_0000;
const NOT_THERE: i32 = 38;

/// The filter without system calls that change mounts or make a mount namespace and, unless `nested`, any other one.
pub(super) fn narrowed(filter: &str, nested: bool) -> Result<String, String> {
    let mut filter: Value = serde_json::from_str(filter).map_err(|error| error.to_string())?;
    let rules = filter.get_mut("syscalls").and_then(Value::as_array_mut).ok_or("it has no \"syscalls\"")?;
    for rule in rules.iter_mut() {
        if let Some(names) = rule.get_mut("names").and_then(Value::as_array_mut) {
            names.retain(|name| name.as_str().is_none_or(|name| !REFUSED.contains(&name)));
        }
    }
    rules.retain(|rule| rule.get("names").and_then(Value::as_array).is_some_and(|names| !names.is_empty()));
    let flags = if nested { MOUNT_NAMESPACE } else { NAMESPACES };
    let without = json!({ "index": 0, "value": flags, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ" });
    for name in ["clone", "unshare"] {
        rules.push(json!({ "names": [name], "action": "SCMP_ACT_ALLOW", "args": [without] }));
    }
    // Its flags cannot be looked at. Programs that are told it does not exist use `clone`.
    rules.push(json!({ "names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": NOT_THERE }));
    Ok(filter.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PODMANS: &str = r#"{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[
        {"names":["read","clone","clone3","unshare","mount","umount2"],"action":"SCMP_ACT_ALLOW"},
        {"names":["setns"],"action":"SCMP_ACT_ALLOW","includes":{"caps":["CAP_SYS_ADMIN"]}}]}"#;

    #[test]
    fn nobody_mounts_and_namespaces_are_made_only_if_they_may_be() {
        for (nested, flags) in [(false, NAMESPACES), (true, MOUNT_NAMESPACE)] {
            let filter: Value = serde_json::from_str(&narrowed(PODMANS, nested).unwrap()).unwrap();
            let rules = filter["syscalls"].as_array().unwrap();
            let shown: Vec<String> = rules.iter().map(|rule| rule["names"].to_string()).collect();
            assert_eq!(shown, ["[\"read\"]", "[\"clone\"]", "[\"unshare\"]", "[\"clone3\"]"]);
            assert_eq!(
                (&rules[1]["args"][0]["value"], &rules[2]["args"][0]["value"]),
                (&json!(flags), &json!(flags))
            );
            assert_eq!((&rules[3]["action"], &rules[3]["errnoRet"]), (&json!("SCMP_ACT_ERRNO"), &json!(38)));
            assert_eq!(filter["defaultAction"], "SCMP_ACT_ERRNO");
        }
        assert!(narrowed("{}", false).unwrap_err().contains("syscalls"));
    }
}
