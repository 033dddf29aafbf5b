//! What the adapters ask about the arguments a user passes on (`-- ARGS`): those come last and win, so an adapter
//! does not set the same thing before them.

use crate::seam::Call;

/// Whether the user's own arguments set one of these flags.
pub fn names(call: &Call, flags: &[&str]) -> bool {
    call.args.iter().any(|arg| {
        let flag = arg.split('=').next().unwrap_or(arg);
        flags.contains(&flag)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_found_with_and_without_its_value() {
        let args = ["--model", "m", "--mode=json", "text"].map(str::to_owned).to_vec();
        let call = Call { args, ..Call::default() };
        assert!(names(&call, &["--model"]) && names(&call, &["-x", "--mode"]));
        assert!(!names(&call, &["--mod", "json", "m="]));
    }
}
