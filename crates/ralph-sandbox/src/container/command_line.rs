//! The command line that creates a container: a pure function of the plan.

use super::check::Unusable;
use super::engine::ENGINE_VARIABLES;
use super::mounts::{EngineMount, From, Mounts};
use crate::box_stage::ProgramArgs;
use crate::plan::{Container, ContainerEngine, ContainerUser, Ids, Network, Plan};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Variables that describe the machine outside and are wrong inside an image.
const OUTSIDE: [&str; 12] = [
    "PATH",
    "SHELL",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "_",
    "HOSTNAME",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "DYLD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
    "MAIL",
];
/// What root keeps in a workspace of somebody else, to write there.
const ROOT_CAPABILITIES: [&str; 4] = ["DAC_OVERRIDE", "CHOWN", "FOWNER", "FSETID"];

/// Which of these variables a container is given: not those of the machine outside, nor those of the engine. `named` are
/// passed on whatever they are: the user asked for them.
#[must_use]
pub fn passed_variables<'a>(names: impl IntoIterator<Item = &'a str>, named: &[String]) -> Vec<String> {
    let is_wrong =
        |name: &str| OUTSIDE.contains(&name) || (ENGINE_VARIABLES.contains(&name) && name != "HOME");
    let passed = |name: &&str| named.iter().any(|it| it == name) || !is_wrong(name);
    names.into_iter().filter(|name| is_name(name)).filter(passed).map(str::to_owned).collect()
}

/// Whether an engine takes the word as the name of one variable; podman reads `NAME*` as many.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The arguments of the engine that create a container of this name. `filter` is the file with its system call filter, if
/// not the engine's own.
pub(super) fn create(
    plan: &Plan,
    container: &Container,
    name: &str,
    (mounts, filter): (&Mounts, Option<&Path>),
    start: &ProgramArgs,
) -> Result<Vec<OsString>, Unusable> {
    let mut words: Vec<OsString> = vec!["create".into(), "--name".into(), name.into()];
    words.extend(FIXED.iter().map(OsString::from));
    if container.engine == ContainerEngine::Podman {
        // Otherwise podman passes on the proxies of its own environment, which may contain a password.
        words.push("--http-proxy=false".into());
    }
    if let Some(filter) = filter {
        let mut word = OsString::from("--security-opt=seccomp=");
        word.push(filter);
        words.push(word);
    }
    words.extend(limits(plan, container)?);
    for (key, value) in &container.labels {
        words.extend(["--label".into(), format!("{key}={value}").into()]);
    }
    for name in container.env.iter().filter(|name| is_name(name)) {
        words.extend(["--env".into(), name.into()]);
    }
    for mount in &mounts.list {
        words.extend(mount_words(mount, container.engine));
    }
    words.extend(["--workdir".into(), (&start.cwd).into(), "--entrypoint".into(), (&start.program).into()]);
    if container.image.starts_with('/') {
        words.extend(["--rootfs".into(), format!("{}:O", container.image).into()]);
    } else {
        words.push((&container.image).into());
    }
    words.extend_from_slice(&start.args);
    Ok(words)
}

/// The same for every container. No image is pulled, no output is logged by the engine, and SELinux does not relabel files
/// of the user's.
const FIXED: [&str; 11] = [
    "--interactive",
    "--init",
    "--pull",
    "never",
    "--log-driver",
    "none",
    "--no-healthcheck",
    "--stop-timeout=0",
    "--cap-drop=all",
    "--security-opt=no-new-privileges",
    "--security-opt=label=disable",
];

/// Network, user, capabilities and resources.
fn limits(plan: &Plan, container: &Container) -> Result<Vec<OsString>, Unusable> {
    let network = match plan.network {
        Network::Open => "host",
        Network::Off => "none",
        Network::Gate { .. } => return Err(Unusable::Hosts),
    };
    let mut words = vec![OsString::from(format!("--network={network}"))];
    words.push(match container.user {
        ContainerUser::KeepId => "--userns=keep-id".into(),
        ContainerUser::Ids { uid, gid } => format!("--user={uid}:{gid}").into(),
    });
    if plan.ids == Ids::All {
        words.extend(ROOT_CAPABILITIES.map(|it| format!("--cap-add={it}").into()));
    }
    if plan.processes > 0 {
        words.push(format!("--pids-limit={}", plan.processes).into());
    }
    if plan.memory > 0 {
        words.push(format!("--memory={}b", plan.memory).into());
    }
    Ok(words)
}

fn mount_words(mount: &EngineMount, engine: ContainerEngine) -> [OsString; 2] {
    let (lower, upper, work) = match &mount.from {
        From::Path(from) => {
            let end = if mount.writable { &b""[..] } else { b",readonly" };
            let fields =
                [b"type=bind,", &*field(b"source=", from), b",", &*field(b"target=", &mount.at), end];
            return ["--mount".into(), OsString::from_vec(fields.concat())];
        }
        From::Layer { lower, upper, work } => (lower, upper, work),
    };
    let [lower, upper, work, at] = [lower, upper, work, &mount.at].map(|path| path.as_os_str().as_bytes());
    match engine {
        ContainerEngine::Podman => {
            let text = [lower, b":", at, b":O,upperdir=", upper, b",workdir=", work].concat();
            ["--volume".into(), OsString::from_vec(text)]
        }
        // A volume without a name, which goes with the container.
        ContainerEngine::Docker => {
            let options = [b"lowerdir=", lower, b",upperdir=", upper, b",workdir=", work].concat();
            let head =
                b"type=volume,volume-driver=local,volume-opt=type=overlay,volume-opt=device=overlay,target=";
            let text = [&head[..], at, b",\"volume-opt=o=", &options, b"\""].concat();
            ["--mount".into(), OsString::from_vec(text)]
        }
    }
}

/// A field of `--mount`, whose value is one line of comma-separated values.
fn field(key: &[u8], path: &Path) -> Vec<u8> {
    let text = [key, path.as_os_str().as_bytes()].concat();
    if !text.iter().any(|byte| b",\"\n\r".contains(byte)) {
        return text;
    }
    let mut quoted = vec![b'"'];
    for byte in text {
        if byte == b'"' {
            quoted.push(b'"');
        }
        quoted.push(byte);
    }
    quoted.push(b'"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::super::mounts::Kind;
    use super::*;
    use crate::plan::{Backend, LayerFallback, Mount};

    fn container(engine: ContainerEngine) -> Container {
        Container {
            engine,
            program: engine.program().into(),
            image: "localhost/dev:1".into(),
            user: ContainerUser::KeepId,
            env: vec!["LANG".into(), "KEY*".into()],
            labels: vec![("ralph.run".into(), "b94e7c52".into())],
            layers: true,
            filter: None,
        }
    }

    fn plan() -> Plan {
        let layer = Mount::Layer {
            at: "/home/u/.agent".into(),
            upper: "/s/up".into(),
            work: "/s/work".into(),
            fallback: LayerFallback::Upper,
        };
        Plan {
            backend: Backend::Landlock,
            workspace: "/w,1".into(),
            tmp: "/s/tmp".into(),
            mounts: vec![layer, Mount::Protect("/w,1/ralph.toml".into())],
            network: Network::Off,
            processes: 4096,
            memory: 1 << 30,
            nested: false,
            ids: Ids::Own,
        }
    }

    fn line(plan: &Plan, container: &Container) -> Result<String, Unusable> {
        let mounts = Mounts::of(plan, true, &|path: &Path| {
            Some(if path.extension().is_some() { Kind::File } else { Kind::Directory })
        });
        let args = vec!["-c".into(), "make check".into()];
        let start = ProgramArgs { cwd: "/w,1/sub".into(), program: "sh".into(), args };
        let words = create(plan, container, "ralph-1", (&mounts, Some(Path::new("/s/f"))), &start)?;
        Ok(words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn podman_without_root() {
        assert_eq!(
            line(&plan(), &container(ContainerEngine::Podman)).unwrap(),
            "create --name ralph-1 --interactive --init --pull never --log-driver none --no-healthcheck \
             --stop-timeout=0 --cap-drop=all --security-opt=no-new-privileges --security-opt=label=disable \
             --http-proxy=false --security-opt=seccomp=/s/f --network=none --userns=keep-id --pids-limit=4096 --memory=1073741824b \
             --label ralph.run=b94e7c52 --env LANG --mount type=bind,source=/s/tmp,target=/tmp \
             --mount type=bind,source=/s/tmp,target=/var/tmp \
             --volume /home/u/.agent:/home/u/.agent:O,upperdir=/s/up,workdir=/s/work \
             --mount type=bind,\"source=/w,1\",\"target=/w,1\" \
             --mount type=bind,\"source=/w,1/ralph.toml\",\"target=/w,1/ralph.toml\",readonly \
             --workdir /w,1/sub --entrypoint sh localhost/dev:1 -c make check"
        );
    }

    #[test]
    fn docker_for_root_in_a_workspace_of_somebody_else() {
        let plan = Plan { ids: Ids::All, network: Network::Open, processes: 0, memory: 0, ..plan() };
        let user = ContainerUser::Ids { uid: 0, gid: 0 };
        let line = line(&plan, &Container { user, ..container(ContainerEngine::Docker) }).unwrap();
        for part in [
            " --network=host --user=0:0 --cap-add=DAC_OVERRIDE --cap-add=CHOWN --cap-add=FOWNER --cap-add=FSETID --label ",
            " --mount type=volume,volume-driver=local,volume-opt=type=overlay,volume-opt=device=overlay,\
             target=/home/u/.agent,\"volume-opt=o=lowerdir=/home/u/.agent,upperdir=/s/up,workdir=/s/work\" ",
        ] {
            assert!(line.contains(part), "{line}");
        }
        assert!(!line.contains("http-proxy") && !line.contains("limit"), "{line}");
    }

    #[test]
    fn a_container_cannot_be_limited_to_hosts() {
        let podman = container(ContainerEngine::Podman);
        let hosts = Plan { network: Network::Gate { forward: vec![] }, ..plan() };
        assert_eq!(line(&hosts, &podman), Err(Unusable::Hosts));
    }

    #[test]
    fn a_directory_is_a_root_under_a_layer() {
        let root = Container { image: "/srv/root".into(), ..container(ContainerEngine::Podman) };
        let line = line(&plan(), &root).unwrap();
        assert!(line.ends_with(" --entrypoint sh --rootfs /srv/root:O -c make check"), "{line}");
    }

    #[test]
    fn variables_of_the_machine_and_of_the_engine_stay_outside() {
        let names =
            ["HOME", "PATH", "LANG", "DOCKER_HOST", "ANTHROPIC_API_KEY", "XDG_RUNTIME_DIR", "BASH_FUNC_x%%"];
        assert_eq!(passed_variables(names, &[]), ["HOME", "LANG", "ANTHROPIC_API_KEY"]);
        let named = passed_variables(names, &["DOCKER_HOST".to_owned()]);
        assert_eq!(named, ["HOME", "LANG", "DOCKER_HOST", "ANTHROPIC_API_KEY"]);
    }
}
