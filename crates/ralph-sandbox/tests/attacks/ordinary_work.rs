//! Ordinary work goes on inside: version control, package managers, compilers, terminals, shared memory.

use crate::attack::Who;
use crate::contained::{Contained, as_each, said};
use crate::play::bwrap;
use crate::scene::Scene;
use crate::toolchain::Toolchain;
use ralph_sandbox::{Backend, Network, Plan};
use std::path::Path;

/// Runs a script in the workspace as the plan says, with a limit that parallel builds do not reach.
fn done(scene: &Scene, plan: &Plan, script: &str) -> Result<(), String> {
    let plan = Plan { processes: 2000, ..plan.clone() };
    let status = Contained::run(scene, &plan, &["sh", "-ec", script]);
    let well = status.is_some_and(|status| status.success());
    well.then_some(())
        .ok_or_else(|| format!("{:?} {:?}: {status:?} {}", plan.backend, scene.who, said(scene)))
}

/// Runs a script as root and as a user in every backend.
fn everywhere(script: &str) {
    let mut wrong = Vec::new();
    for backend in [Backend::Namespaces, bwrap(), Backend::Landlock] {
        as_each(&[Who::Root, Who::User], |who| {
            let scene = Scene::new(who);
            wrong.extend(done(&scene, &scene.plan(backend.clone()), script).err());
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn git() {
    everywhere(
        "git add -A; git commit -qm one; git checkout -qb side; echo a > a; git add a; git commit -qm two
        git checkout -q main; echo b > b; git add b; git commit -qm three; git rebase -q side
        [ \"$(git log --format=%s -3 | tr '\\n' ' ')\" = 'three two one ' ]
        echo changed >> README.md; git stash -q; git diff --quiet HEAD -- README.md; git stash pop -q; grep changed README.md
        git checkout -q -- README.md; git checkout -q side; git merge -q main; git tag v1; git gc -q; git fsck --no-dangling
        git worktree add -q ../project/tree -b tree; (cd tree; echo c > c; git add c; git commit -qm four)
        git worktree remove tree; git init -q inner; cd inner; git config user.name X; echo d > d; git add d
        git commit -qm five; git log --format=%s | grep five",
    );
}

#[test]
fn python_with_a_virtual_environment() {
    everywhere(
        "python3 -m venv --without-pip plain && plain/bin/python -c 'import sys; assert sys.prefix != sys.base_prefix'
        cat > wheel.py <<'END'
import zipfile
with zipfile.ZipFile('hello-1.0-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('hello.py', 'print(\"hello\")')
    wheel.writestr('hello-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: hello\\nVersion: 1.0\\n')
    wheel.writestr('hello-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('hello-1.0.dist-info/RECORD', '')
END
        python3 wheel.py && python3 -m venv full
        full/bin/pip install -q --no-index --disable-pip-version-check ./hello-1.0-py3-none-any.whl
        full/bin/python -m hello | grep hello",
    );
}

#[test]
fn npm() {
    everywhere(
        "mkdir package && echo '{\"name\": \"hello\", \"version\": \"1.0.0\"}' > package/package.json
        echo 'module.exports = \"hello\"' > package/index.js && echo '{\"name\": \"x\", \"version\": \"1.0.0\"}' > package.json
        npm install ./package --offline --no-audit --no-fund --cache \"$TMPDIR/npm\"
        node -e 'console.log(require(\"hello\"))' | grep hello",
    );
}

#[test]
fn make_and_a_compiler() {
    everywhere(
        "printf 'int puts(const char *); int main(void) { puts(\"hello\"); return 0; }' > hello.c
        printf 'hello: hello.c\\n\\tcc -o $@ $<\\n' > Makefile && make -j4 && ./hello | grep hello && rm hello && make",
    );
}

#[test]
fn temporary_files_and_shared_memory() {
    everywhere(
        "file=$(mktemp) && echo x > $file && [ \"$(cat $file)\" = x ] && rm $file
        python3 - <<'END'
import multiprocessing, tempfile
from multiprocessing import shared_memory
memory = shared_memory.SharedMemory(create=True, size=100); memory.buf[0] = 7
with tempfile.TemporaryDirectory() as directory: open(directory + '/x', 'w').close()
with multiprocessing.get_context('fork').Pool(3) as pool: assert pool.map(abs, [-1, -2]) == [1, 2]
memory.close(); memory.unlink()
END",
    );
}

#[test]
fn terminals() {
    everywhere(
        "python3 -c 'import pty, sys; sys.exit(pty.spawn([\"sh\", \"-c\", \"test -t 0 && tty\"]))' < /dev/null
        script -qec 'test -t 1' /dev/null < /dev/null; echo x > /dev/null; head -c 8 /dev/urandom | wc -c | grep 8
        [ \"$(echo y | cat /dev/stdin)\" = y ]; head -c 1 /dev/zero > /dev/null; echo z | cat /dev/fd/0 | grep z",
    );
}

#[test]
fn links_and_renames_beside_protected_paths() {
    everywhere(
        "echo x > src/new && mv src/new src/newer && ln src/newer src/hard && ln -s newer src/soft && rm -r src/newer
        mkdir -p deep/a/c && mv deep/a/c deep/a/d && mv deep/a/b/notes.txt deep/a/ && mv deep/a/d . && rmdir d
        chmod 600 README.md && touch -d @1 README.md && mkfifo pipe && rm pipe && cp -a src copy && rm -rf copy",
    );
}

/// cargo of whoever runs the tests, in every backend.
fn cargo(who: Who) {
    let toolchain = Toolchain::for_user(who);
    let script = format!(
        "export PATH={}:$PATH CARGO_HOME=$TMPDIR/cargo
        mkdir -p hello/src && cd hello && echo 'fn main() {{ println!(\"Hello\") }}' > src/main.rs
        printf '[package]\\nname = \"hello\"\\nedition = \"2024\"\\n[workspace]\\n' > Cargo.toml
        cargo build -q --offline && ./target/debug/hello | grep Hello
        cargo test -q --offline",
        toolchain.programs().display()
    );
    let backends = [Backend::Namespaces, bwrap(), Backend::Landlock].into_iter();
    let wrong: Vec<String> = backends
        .filter_map(|backend| {
            let scene = Scene::new(who);
            done(&scene, &scene.plan(backend), &script).err()
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn cargo_as_root() {
    if !crate::scene::is_root() {
        return ralph_testkit::skip("only root can work as root");
    }
    cargo(Who::Root);
}

#[test]
fn cargo_as_a_user() {
    cargo(Who::User);
}

/// A server and its client inside, as tests of networked programs have them.
#[test]
fn a_loopback_of_its_own() {
    let script = "python3 - <<'END'
import socket
for family, address in [(socket.AF_INET, '127.0.0.1')] + ([(socket.AF_INET6, '::1')] if socket.has_ipv6 else []):
    server = socket.socket(family); server.bind((address, 0)); server.listen()
    client = socket.create_connection((address, server.getsockname()[1]), 5)
    client.send(b'x'); assert server.accept()[0].recv(1) == b'x'
END";
    for backend in [Backend::Namespaces, bwrap()] {
        as_each(&[Who::Root, Who::User], |who| {
            let scene = Scene::new(who);
            let plan = Plan { network: Network::Off, ..scene.plan(backend.clone()) };
            done(&scene, &plan, script).unwrap();
        });
    }
}

/// Browsers make user, pid and network namespaces for themselves. The kernel lets root map itself only with a capability
/// that it does not have inside, so this is for users.
#[test]
fn namespaces_inside_where_the_plan_allows_them() {
    for backend in [Backend::Namespaces, bwrap()] {
        let scene = Scene::new(Who::User);
        let plan = scene.plan(backend);
        done(&scene, &plan, "unshare -Ur true && unshare -Urn true && unshare -Urpf sh -c 'test $$ = 1'")
            .unwrap();
        let strict = Plan { nested: false, ..plan };
        done(&scene, &strict, "! unshare -Ur true && ! unshare -Urn true && ! unshare -Urpf true").unwrap();
    }
}

/// Root with a workspace of somebody else writes there as it does outside, and leaves files it can hand over.
#[test]
fn root_in_a_workspace_of_somebody_else() {
    if !crate::scene::is_root() {
        return ralph_testkit::skip("only root has workspaces of others");
    }
    for backend in [Backend::Namespaces, bwrap()] {
        let scene = Scene::new(Who::RootForUser);
        let script =
            "echo x > src/main.rs && echo y > src/new && chown 65534:65534 src/new && chmod 640 src/new
            mkdir made && rm deep/a/b/notes.txt && stat -c %u src/new | grep 65534";
        done(&scene, &scene.plan(backend), script).unwrap();
        let owner = |path: &str| {
            std::os::unix::fs::MetadataExt::uid(&scene.workspace().join(path).metadata().unwrap())
        };
        assert_eq!((owner("src/new"), owner("made")), (65534, 0));
    }
}

/// A workspace below `/tmp` is seen at its own path, although everything else there is the program's own.
#[test]
fn a_workspace_below_tmp() {
    for backend in [Backend::Namespaces, bwrap(), Backend::Landlock] {
        as_each(&[Who::Root, Who::User], |who| {
            let scene = Scene::below(Path::new("/tmp"), who);
            let plan = scene.plan(backend.clone());
            crate::play::write_plan(&scene, &plan);
            let before = scene.look();
            let refused = if backend == Backend::Landlock { "" } else { "! (echo x > .env); ! mv src src2;" };
            let script = format!(
                "echo x > written; {refused} ! cat ../.ssh/id_ed25519; (echo x >> ../.bashrc) || true"
            );
            done(&scene, &plan, &script).unwrap();
            assert!(scene.workspace().join("written").exists(), "{backend:?} {who:?}");
            let changed = crate::look::differences(&before, &scene.look());
            let changed: Vec<_> = changed.iter().filter(|line| !line.contains("/plan.json ")).collect();
            assert!(changed.is_empty(), "{backend:?} {who:?}: {changed:?}");
        });
    }
}
