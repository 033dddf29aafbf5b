//! What is secret in a home directory, and why each is hidden. One that a user needs inside is opened by `sandbox.readable`.

use std::path::Path;

/// A path below the home directory that is hidden.
#[derive(Clone, Copy, Debug)]
pub struct Secret {
    /// Relative to the home directory.
    pub path: &'static str,
    /// What is in it.
    pub holds: &'static str,
}

const fn row(path: &'static str, holds: &'static str) -> Secret {
    Secret { path, holds }
}

const KEYS: &str = "private keys";
const CLOUD: &str = "credentials of a cloud";
const FORGE: &str = "a login of a code host";
const REGISTRY: &str = "credentials of a package registry";
const DATABASE: &str = "passwords of databases";
const PASSWORDS: &str = "stored passwords";
const BROWSER: &str = "a browser's cookies and passwords";
const HISTORY: &str = "what was typed, which contains passwords";
const ASSISTANT: &str = "logins and conversations of another assistant";
const WALLET: &str = "a wallet's keys";
const DISPLAY: &str = "access to the screen";
const MAIL: &str = "mail and messages";

/// Everything that is hidden whatever `sandbox.home` says.
pub const SECRETS: &[Secret] = &[
    row(".ssh", KEYS),
    row(".gnupg", KEYS),
    row(".pki", KEYS),
    row(".age", KEYS),
    row(".config/age", KEYS),
    row(".config/sops", KEYS),
    row(".minisign", KEYS),
    row(".aws", CLOUD),
    row(".azure", CLOUD),
    row(".config/gcloud", CLOUD),
    row(".boto", CLOUD),
    row(".s3cfg", CLOUD),
    row(".config/s3cmd", CLOUD),
    row(".config/rclone", CLOUD),
    row(".kube", CLOUD),
    row(".minikube", CLOUD),
    row(".config/doctl", CLOUD),
    row(".config/hcloud", CLOUD),
    row(".config/scw", CLOUD),
    row(".config/heroku", CLOUD),
    row(".config/netlify", CLOUD),
    row(".config/configstore", CLOUD),
    row(".local/share/com.vercel.cli", CLOUD),
    row(".config/.wrangler", CLOUD),
    row(".fly", CLOUD),
    row(".oci", CLOUD),
    row(".aliyun", CLOUD),
    row(".bluemix", CLOUD),
    row(".databrickscfg", CLOUD),
    row(".snowflake", CLOUD),
    row(".vault-token", CLOUD),
    row(".terraform.d/credentials.tfrc.json", CLOUD),
    row(".config/op", PASSWORDS),
    row(".config/stripe", CLOUD),
    row(".config/ngrok", CLOUD),
    row(".ngrok2", CLOUD),
    row(".docker/config.json", REGISTRY),
    row(".config/containers/auth.json", REGISTRY),
    row(".netrc", "logins of all kinds"),
    row("_netrc", "logins of all kinds"),
    row(".authinfo", "logins of all kinds"),
    row(".authinfo.gpg", "logins of all kinds"),
    row(".env", "secrets of programs"),
    row(".git-credentials", FORGE),
    row(".config/git/credentials", FORGE),
    row(".config/gh", FORGE),
    row(".config/hub", FORGE),
    row(".config/glab-cli", FORGE),
    row(".config/tea", FORGE),
    row(".circleci", FORGE),
    row(".travis", FORGE),
    // Only for publishing: an installation from the registry does without.
    row(".pypirc", REGISTRY),
    row(".cargo/credentials", REGISTRY),
    row(".cargo/credentials.toml", REGISTRY),
    row(".gem/credentials", REGISTRY),
    row(".local/share/gem/credentials", REGISTRY),
    row(".composer/auth.json", REGISTRY),
    row(".config/composer/auth.json", REGISTRY),
    row(".m2/settings-security.xml", REGISTRY),
    row(".local/share/uv/credentials", REGISTRY),
    row(".hex/hex.config", REGISTRY),
    row(".config/helm/registry", REGISTRY),
    row(".kaggle", REGISTRY),
    row(".huggingface/token", REGISTRY),
    row(".cache/huggingface/token", REGISTRY),
    row(".cache/huggingface/stored_tokens", REGISTRY),
    row(".pgpass", DATABASE),
    row(".my.cnf", DATABASE),
    row(".mylogin.cnf", DATABASE),
    row(".mongorc.js", DATABASE),
    row(".local/share/keyrings", PASSWORDS),
    row(".local/share/kwalletd", PASSWORDS),
    row(".password-store", PASSWORDS),
    row(".local/share/password-store", PASSWORDS),
    row(".config/1Password", PASSWORDS),
    row(".config/Bitwarden", PASSWORDS),
    row(".config/Bitwarden CLI", PASSWORDS),
    row(".config/keepassxc", PASSWORDS),
    row(".mozilla", BROWSER),
    row(".config/mozilla", BROWSER),
    row(".librewolf", BROWSER),
    row(".config/google-chrome", BROWSER),
    row(".config/google-chrome-beta", BROWSER),
    row(".config/google-chrome-unstable", BROWSER),
    row(".config/chromium", BROWSER),
    row(".config/BraveSoftware", BROWSER),
    row(".config/microsoft-edge", BROWSER),
    row(".config/vivaldi", BROWSER),
    row(".config/opera", BROWSER),
    row(".var/app", BROWSER),
    row("snap", BROWSER),
    row(".cache/mozilla", BROWSER),
    row(".cache/google-chrome", BROWSER),
    row(".cache/chromium", BROWSER),
    row(".thunderbird", MAIL),
    row(".config/evolution", MAIL),
    row(".local/share/evolution", MAIL),
    row(".config/Signal", MAIL),
    row(".config/Slack", MAIL),
    row(".config/discord", MAIL),
    row(".local/share/TelegramDesktop", MAIL),
    row(".local/share/fish/fish_history", HISTORY),
    row(".local/state/bash", HISTORY),
    row(".local/state/zsh", HISTORY),
    row(".local/share/atuin", HISTORY),
    row(".zsh_sessions", HISTORY),
    row(".bash_sessions", HISTORY),
    row(".lesshst", HISTORY),
    row(".local/state/lesshst", HISTORY),
    row(".viminfo", HISTORY),
    row(".local/state/nvim", HISTORY),
    row(".local/share/recently-used.xbel", HISTORY),
    row(".pulumi/credentials.json", CLOUD),
    row(".sentryclirc", CLOUD),
    row(".cloudflared", CLOUD),
    row(".docker/contexts", CLOUD),
    row(".railway", CLOUD),
    row(".wrangler", CLOUD),
    row(".rancher", CLOUD),
    row(".step", KEYS),
    row(".sbt/.credentials", REGISTRY),
    row(".sbt/credentials", REGISTRY),
    row(".sbt/1.0/credentials", REGISTRY),
    row(".sbt/sonatype_credentials", REGISTRY),
    row(".sbt/gpg", KEYS),
    row(".ivy2/.credentials", REGISTRY),
    row(".ivy2/credentials", REGISTRY),
    row(".android/adbkey", KEYS),
    row(".android/adbkey.pub", KEYS),
    row(".ollama/id_ed25519", KEYS),
    row(".subversion/auth", FORGE),
    row(".Xauthority", DISPLAY),
    row(".ICEauthority", DISPLAY),
    row(".vnc", DISPLAY),
    row(".config/tigervnc", DISPLAY),
    row(".bitcoin", WALLET),
    row(".litecoin", WALLET),
    row(".dogecoin", WALLET),
    row(".ethereum/keystore", WALLET),
    row(".foundry/keystores", WALLET),
    row(".electrum", WALLET),
    row(".config/solana/id.json", WALLET),
    row(".monero", WALLET),
    row(".bitmonero", WALLET),
    row(".config/Exodus", WALLET),
    row(".config/nushell/history.txt", HISTORY),
    row(".config/nushell/history.sqlite3", HISTORY),
    row(".local/share/mcfly", HISTORY),
    row(".mcfly", HISTORY),
    row(".config/pgcli/history", HISTORY),
    row(".config/litecli/history", HISTORY),
    row(".dbshell", HISTORY),
    row(".mongodb", HISTORY),
    row(".putty", KEYS),
    row(".tsh", KEYS),
    row(".chef", KEYS),
    row(".config/openstack", CLOUD),
    row(".config/linode-cli", CLOUD),
    row(".config/argocd", CLOUD),
    row(".config/cachix", CLOUD),
    row(".cf", CLOUD),
    row(".saml2aws", CLOUD),
    row(".gsutil", CLOUD),
    row(".supabase/access-token", CLOUD),
    row(".clasprc.json", CLOUD),
    row(".modal.toml", CLOUD),
    row(".gitcookies", FORGE),
    row(".arcrc", FORGE),
    row(".dockercfg", REGISTRY),
    row(".jfrog", REGISTRY),
    row(".config/kaggle", REGISTRY),
    row(".duckdb/stored_secrets", DATABASE),
    row(".config/rbw", PASSWORDS),
    row(".local/share/rbw", PASSWORDS),
    row(".lpass", PASSWORDS),
    row(".local/share/lpass", PASSWORDS),
    row(".gnome2/keyrings", PASSWORDS),
    row(".vault_pass", PASSWORDS),
    row(".vault_pass.txt", PASSWORDS),
    row(".smbcredentials", PASSWORDS),
    row(".filezilla", PASSWORDS),
    row(".config/filezilla", PASSWORDS),
    row(".config/remmina", PASSWORDS),
    row(".local/share/remmina", PASSWORDS),
    row(".msmtprc", MAIL),
    row(".config/msmtp", MAIL),
    row(".fetchmailrc", MAIL),
    row(".mbsyncrc", MAIL),
    row(".offlineimaprc", MAIL),
    row(".muttrc", MAIL),
    row(".mutt", MAIL),
    row(".config/mutt", MAIL),
    row(".config/neomutt", MAIL),
    row(".purple", MAIL),
    row(".config/Element", MAIL),
    row(".waterfox", BROWSER),
    row(".zen", BROWSER),
    row(".config/github-copilot", ASSISTANT),
    row(".cursor", ASSISTANT),
    row(".config/Cursor", ASSISTANT),
    row(".windsurf", ASSISTANT),
    row(".codeium", ASSISTANT),
    row(".continue", ASSISTANT),
    row(".config/Claude", ASSISTANT),
];

/// Files that hold settings that programs need and sometimes credentials: each is hidden only where one of its marks is in it.
/// Without it, a package manager does not know which registry to ask.
pub const MIXED: &[(&str, &[&str])] = &[
    (".npmrc", &["_auth", "_password"]),
    (".yarnrc", &["_auth", "_password"]),
    (".yarnrc.yml", &["npmAuth"]),
    (".bunfig.toml", &["token", "password"]),
    (".config/pip/pip.conf", &["://*:*@"]),
    (".pip/pip.conf", &["://*:*@"]),
    (".config/uv/uv.toml", &["://*:*@", "password"]),
    (".config/pypoetry/auth.toml", &["password", "token", "pypi"]),
    (".condarc", &["/t/", "://*:*@"]),
    (".cargo/config.toml", &["token", "://*:*@"]),
    (".m2/settings.xml", &["<password>", "<passphrase>", "<privateKey>"]),
    (".gradle/gradle.properties", &["password", "token", "secret", "apikey"]),
    (".nuget/NuGet/NuGet.Config", &["ClearTextPassword", "<add key=\"Password\""]),
    (".config/NuGet/NuGet.Config", &["ClearTextPassword", "<add key=\"Password\""]),
    (".bundle/config", &["__com:", "__org:", "__net:", "__io:", "__dev:"]),
    (".gitconfig", &["extraheader", "://*:*@", "oauthtoken"]),
    (".config/git/config", &["extraheader", "://*:*@", "oauthtoken"]),
    (".terraformrc", &["token"]),
    (".curlrc", &["user", "header", "oauth2-bearer"]),
    (".hgrc", &[".password", "://*:*@"]),
    (".config/pnpm/rc", &["_auth", "_password"]),
    (".config/nix/nix.conf", &["access-tokens"]),
    (".odbc.ini", &["pwd", "password"]),
    (".pg_service.conf", &["password"]),
    (".snowsql/config", &["password"]),
    (".dbt/profiles.yml", &["password", "pass:", "token", "private_key", "keyfile"]),
    (".wgetrc", &["password"]),
];

/// What is secret outside of home directories, where ralph is root and could read it.
pub const SYSTEM_SECRETS: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
    "/etc/kubernetes",
    "/etc/rancher",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
    "/var/lib/kubelet",
    "/var/lib/docker",
    "/var/lib/containers",
    "/var/spool/cron",
    "/var/backups",
];

/// Whether a file in the home directory is the history of a shell or of a prompt: `.bash_history`, `.python_history`.
pub(super) fn is_history(name: &str) -> bool {
    name.starts_with('.')
        && ["_history", ".history", "-history", "_hist"].iter().any(|end| name.ends_with(end))
}

/// Whether a path has the name of something secret, in whatever directory it lies: `~/dotfiles/.ssh/config`.
pub(super) fn has_secret_name(path: &Path) -> bool {
    let is_named = |rest: &Path| {
        SECRETS.iter().any(|row| row.path.starts_with(['.', '_']) && rest.starts_with(row.path))
    };
    let mut rest = path.components();
    while let Some(part) = rest.next() {
        if part.as_os_str().to_str().is_some_and(is_history) || is_named(rest.as_path()) {
            return true;
        }
    }
    false
}

/// Whether a file of [`MIXED`], named relative to the home directory, holds credentials.
pub fn holds_credentials(relative: &str, text: &str) -> bool {
    let Some((_, marks)) = MIXED.iter().find(|(path, _)| *path == relative) else { return false };
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';']));
    let mut values = lines.filter(|line| !only_names_a_variable(line));
    values.any(|line| marks.iter().any(|mark| is_in(mark, line)))
}

/// `//host/:_authToken=${NPM_TOKEN}` holds no token.
fn only_names_a_variable(line: &str) -> bool {
    let value = line.split_once('=').map_or("", |(_, value)| value.trim().trim_matches('"'));
    value.starts_with("${") && value.ends_with('}')
}

/// Whether a mark is in a line, upper and lower case being the same; `*` stands for what is neither space nor slash.
fn is_in(mark: &str, line: &str) -> bool {
    let (mark, line) = (mark.to_ascii_lowercase(), line.to_ascii_lowercase());
    let parts: Vec<&str> = mark.split('*').collect();
    let Some((first, rest)) = parts.split_first() else { return false };
    line.match_indices(first).any(|(at, _)| {
        let mut left = line.get(at + first.len()..).unwrap_or_default();
        rest.iter().all(|part| {
            let near = left.find([' ', '/', '"']).map_or(left, |end| left.get(..=end).unwrap_or(left));
            let Some(found) = near.find(part) else { return false };
            left = left.get(found + part.len()..).unwrap_or_default();
            true
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_plain_path_and_named_once() {
        let paths = SECRETS.iter().map(|row| row.path).chain(MIXED.iter().map(|(path, _)| *path));
        let mut seen = std::collections::BTreeSet::new();
        for path in paths {
            assert!(!path.starts_with(['/', '~']) && !path.ends_with('/') && !path.contains('*'), "{path}");
            assert!(seen.insert(path), "{path} is there twice");
        }
        assert!(SECRETS.iter().all(|row| !row.holds.is_empty()));
    }

    /// The rest of these directories is what builds need.
    #[test]
    fn of_the_directories_of_build_tools_only_the_credentials_are_hidden() {
        let hidden = |path: &str| SECRETS.iter().any(|row| std::path::Path::new(path).starts_with(row.path));
        for path in [
            ".sbt/.credentials",
            ".ivy2/.credentials",
            ".android/adbkey",
            ".ollama/id_ed25519",
            ".subversion/auth/svn.simple/x",
            ".pulumi/credentials.json",
            ".docker/contexts/tls/x/key.pem",
            ".ethereum/keystore/UTC--x",
            ".config/nushell/history.txt",
            ".Xauthority",
        ] {
            assert!(hidden(path), "{path}");
        }
        for path in [
            ".sbt/1.0/plugins/plugins.sbt",
            ".ivy2/cache/a.jar",
            ".android/avd",
            ".ollama/models",
            ".pulumi/plugins",
            ".config/nushell/config.nu",
        ] {
            assert!(!hidden(path), "{path}");
        }
    }

    #[test]
    fn files_with_settings_are_judged_by_what_they_hold() {
        let rows = [
            (".npmrc", "registry=https://npm.example.org/\n", false),
            (".npmrc", "//npm.example.org/:_authToken=npm_abc123\n", true),
            (".npmrc", "//npm.example.org/:_authToken=${NPM_TOKEN}\n", false),
            (".npmrc", "# //npm.example.org/:_authToken=old\n", false),
            (".yarnrc.yml", "npmRegistryServer: https://npm.example.org\n", false),
            (".yarnrc.yml", "npmAuthToken: abc\n", true),
            (".config/pip/pip.conf", "index-url = https://pypi.example.org/simple\n", false),
            (".config/pip/pip.conf", "index-url = https://me:sesame@pypi.example.org/simple\n", true),
            (".m2/settings.xml", "<server><id>a</id><Password>x</Password></server>", true),
            (".m2/settings.xml", "<mirror><url>https://repo.example.org</url></mirror>", false),
            (".gradle/gradle.properties", "org.gradle.jvmargs=-Xmx2g\n", false),
            (".gradle/gradle.properties", "repoPassword=x\n", true),
            (".cargo/config.toml", "[build]\njobs = 2\n", false),
            (".cargo/config.toml", "[registries.a]\ntoken = \"x\"\n", true),
            (".gitconfig", "[user]\n\tname = A B\n", false),
            (".gitconfig", "[url \"https://a:b@github.com/\"]\n", true),
            (".gitconfig", "[http]\n\textraHeader = Authorization: Basic x\n", true),
            (".condarc", "channels:\n  - conda-forge\n", false),
            (".hgrc", "[ui]\nusername = A B\n", false),
            (".hgrc", "[auth]\nx.password = b\n", true),
            (".config/nix/nix.conf", "experimental-features = flakes\n", false),
            (".config/nix/nix.conf", "access-tokens = github.com=x\n", true),
            (".bashrc", "export TOKEN=x", false),
        ];
        for (path, text, expected) in rows {
            assert_eq!(holds_credentials(path, text), expected, "{path}: {text}");
        }
    }

    #[test]
    fn histories_are_known_by_their_names() {
        for name in
            [".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history"]
        {
            assert!(is_history(name), "{name}");
        }
        for name in [".bashrc", "history", ".historyrc", ".config"] {
            assert!(!is_history(name), "{name}");
        }
    }
}
