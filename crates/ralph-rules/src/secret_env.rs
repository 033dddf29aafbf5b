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
    "CONNECTION_STRING",
    "CONNECTIONSTRING",
    "MNEMONIC",
    "SSHPASS",
];
/// A name with one of these between its underscores is that of a secret (not `KEYBOARD`, `AUTHOR`).
const AS_PART: &[&str] = &[
    "KEY",
    "KEYS",
    "AUTH",
    "OAUTH",
    "AUTHORIZATION",
    "BEARER",
    "JWT",
    "PASS",
    "PWD",
    "PAT",
    "CREDS",
    "COOKIE",
    "COOKIES",
    "DSN",
];
/// A name that ends so is that of a login's session (not `XDG_SESSION_TYPE`).
const SESSION: &str = "_SESSION";
/// Sessions of a desktop and ralph's own, which are no logins.
const OTHER_SESSIONS: &[&str] = &["DESKTOP_SESSION", "KDE_FULL_SESSION", "RALPH_SESSION"];
/// Names of values in an address or a list that are secret: `?user=a&password=b`, `AccountName=a;AccountKey=b`.
const IN_LISTS: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "accountkey",
    "sharedaccesskey",
    "sharedaccesssignature",
    "sig",
    "access_token",
    "api_key",
    "apikey",
    "client_secret",
];

/// Whether the name of a variable says that its value is secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // The working directory, not a password.
    if name == "PWD" || name == "OLDPWD" {
        return false;
    }
    ANYWHERE.iter().any(|word| name.contains(word))
        || name.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| AS_PART.contains(&part))
        || (name.ends_with(SESSION) && !OTHER_SESSIONS.contains(&name.as_str()))
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

/// The password in a list of names and values: `host=db password=b`, `jdbc:…?user=a&password=b`.
pub fn password_in_list(value: &str) -> Option<&str> {
    let mut pairs = value.split(['?', '&', ';', ' ']).filter_map(|pair| pair.split_once('='));
    let secret = pairs.find(|(name, _)| IN_LISTS.contains(&name.to_ascii_lowercase().as_str()));
    secret.map(|(_, password)| password).filter(|password| !password.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_secret() {
        for name in [
            "ANTHROPIC_API_KEY",
            "GH_TOKEN",
            "db_password",
            "NPM_AUTH",
            "MYSQL_PWD",
            "OPENAI_APIKEY",
            "SENTRY_DSN",
            "GITHUB_PAT",
            "GPG_PASSPHRASE",
            "GCP_CREDENTIALS",
            "NPM_CONFIG__AUTH",
            "SITE_COOKIE",
            "SITE_COOKIES",
            "LINKEDIN_SESSION",
            "AZURE_STORAGE_CONNECTION_STRING",
            "HTTP_AUTHORIZATION",
            "SERVICE_JWT",
            "WALLET_MNEMONIC",
            "SSHPASS",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PWD",
            "OLDPWD",
            "KEYBOARD",
            "GIT_AUTHOR_NAME",
            "PATH",
            "MONKEY",
            "COMPASS",
            "HOME",
            "DESKTOP_SESSION",
            "XDG_SESSION_TYPE",
            "TERM_SESSION_ID",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn passwords_are_found_in_lists() {
        for (value, password) in [
            ("jdbc:postgresql://db.example.org/main?user=app&password=rabbit", Some("rabbit")),
            ("host=db user=app password=rabbit dbname=main", Some("rabbit")),
            ("DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abc==", Some("abc==")),
            ("https://a.blob.example.org/c?sv=1&sig=abc%3D", Some("abc%3D")),
            ("Server=db;Pwd=;", None),
            ("-Djavax.net.ssl.trustStorePassword=changeit -Xmx2g", None),
            ("https://example.org/password=1", None),
        ] {
            assert_eq!(password_in_list(value), password, "{value}");
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
