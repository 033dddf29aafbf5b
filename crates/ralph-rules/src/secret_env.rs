//! Which variables look secret: by what their name says, and by what kind of value they have. The redactor hides such values
//! in what is written, and the sandbox does not pass them on.

/// A shorter value is not taken for a secret.
const SHORTEST: usize = 8;
/// Letters alone are a secret from this length on; below they are a word.
const LONG_WORD: usize = 16;
/// Digits alone are a secret from this length on; below they are a number.
const LONG_NUMBER: usize = 12;

/// A name with one of these anywhere in it is that of a secret.
const ANYWHERE: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "APIKEY",
    "ACCESSKEY",
    "PRIVATEKEY",
];
/// A name with one of these between its underscores is that of a secret (not `KEYBOARD`, `AUTHOR`).
const AS_PART: &[&str] = &["KEY", "KEYS", "AUTH", "PASS", "PWD", "PAT", "CREDS", "COOKIE", "DSN"];

/// Whether the name of a variable says that its value is secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // The working directory, not a password.
    if name == "PWD" || name == "OLDPWD" {
        return false;
    }
    ANYWHERE.iter().any(|word| name.contains(word))
        || name.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| AS_PART.contains(&part))
}

/// Whether a value can be told from ordinary text, so that it can be a secret: `true`, `/usr/bin` and `production` are none.
pub fn is_secret_value(value: &str) -> bool {
    value.len() >= SHORTEST
        && !is_word(value)
        && !is_number(value)
        && !is_path(value)
        && !is_open_address(value)
}

/// One word in lower case, upper case or with a capital, perhaps joined by dashes: `disabled`, `us-east`, `READ_ONLY`.
fn is_word(value: &str) -> bool {
    let letters =
        value.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'-' | b'_' | b' ' | b',' | b'.'));
    let rest = value.get(1..).unwrap_or_default();
    let one_case =
        !rest.bytes().any(|b| b.is_ascii_uppercase()) || !value.bytes().any(|b| b.is_ascii_lowercase());
    letters && one_case && value.len() < LONG_WORD
}

/// A number that is too short to be a key.
pub fn is_number(value: &str) -> bool {
    value.bytes().all(|b| b.is_ascii_digit() || b == b'.') && value.len() < LONG_NUMBER
}

/// A path whose first part is a directory's name; a key in base64 may begin with a slash too.
pub fn is_path(value: &str) -> bool {
    let Some(rest) = value.strip_prefix('/') else {
        return ["~/", "./", "../", "$HOME/", "C:\\"].iter().any(|start| value.starts_with(start));
    };
    let first = rest.split('/').next().unwrap_or_default();
    let ordinary = first.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b));
    (ordinary && first.len() < LONG_WORD)
        || ["Users", "Library", "Applications", "System", "Volumes"].contains(&first)
}

/// An address that holds neither a user nor a query.
pub fn is_open_address(value: &str) -> bool {
    value.split_once("://").is_some_and(|(scheme, rest)| {
        scheme.bytes().all(|b| b.is_ascii_lowercase() || b == b'+') && !rest.contains(['@', '?', '#'])
    })
}

/// The password of `scheme://user:password@host`.
pub fn password_in_address(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_secret() {
        for name in ["ANTHROPIC_API_KEY", "GH_TOKEN", "db_password", "NPM_AUTH", "MYSQL_PWD", "OPENAI_APIKEY"]
        {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["PWD", "OLDPWD", "KEYBOARD", "GIT_AUTHOR_NAME", "PATH", "MONKEY", "COMPASS", "HOME"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn common_values_are_no_secrets() {
        let common = [
            "",
            "true",
            "false",
            "short",
            "disabled",
            "Production",
            "READ_ONLY",
            "us-east",
            "64000",
            "8192000",
            "/usr/bin",
            "/home/me/.ssh/id_rsa",
            "/Users/me/key",
            "~/key.json",
            "https://auth.example.com/token",
        ];
        for value in common {
            assert!(!is_secret_value(value), "{value}");
        }
        for value in [
            "hunter2hunter2",
            "correcthorsebatterystaple",
            "/Kx9+secretInBase64/ab==",
            "123456789012",
            "Tr0ub4dor",
        ] {
            assert!(is_secret_value(value), "{value}");
        }
    }
}
