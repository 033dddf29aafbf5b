//! The secrets of the environment: the values that look secret (`ralph_rules::secret_env`), and passwords inside addresses.

use super::Secret;
use ralph_rules::secret_env::{is_secret_name, is_secret_value, password_in_address, password_in_list};
use std::collections::BTreeSet;

/// The secrets among these (name, value) pairs, ordered by name. `also` names variables that are secret though their
/// names do not say so.
pub fn secrets_in_env<N: AsRef<str>, V: AsRef<str>>(
    vars: impl IntoIterator<Item = (N, V)>,
    also: &[String],
) -> Vec<(String, Secret)> {
    let mut found = BTreeSet::new();
    for (name, value) in vars {
        let (name, value) = (name.as_ref(), value.as_ref().trim());
        let named = also.iter().any(|also| also == name);
        if named || (is_secret_name(name) && is_secret_value(value)) {
            found.insert((name.to_owned(), Secret::new(value)));
        }
        let passwords = [password_in_address(value), password_in_list(value)].into_iter().flatten();
        found.extend(passwords.filter(|it| is_secret_value(it)).map(|it| (name.to_owned(), Secret::new(it))));
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_found_in_addresses() {
        let url = "postgres://app:s3cr3t-pass@db/main?x=1";
        let found = secrets_in_env([("DATABASE_URL", url), ("HOME", "/home/a")], &[]);
        assert_eq!(found, [("DATABASE_URL".to_owned(), Secret::new("s3cr3t-pass"))]);
        assert_eq!(secrets_in_env([("A", "https://example.com/a:b@c")], &[]), []);
        let found = secrets_in_env([("A", "host=db password=s3cr3t-pass")], &[]);
        assert_eq!(found, [("A".to_owned(), Secret::new("s3cr3t-pass"))]);
    }

    #[test]
    fn a_variable_may_be_named_as_secret() {
        let vars = [("CUSTOMER", "acme"), ("OTHER", "beta")];
        let found = secrets_in_env(vars, &["CUSTOMER".to_owned(), "UNSET".to_owned()]);
        assert_eq!(found, [("CUSTOMER".to_owned(), Secret::new("acme"))]);
    }
}
