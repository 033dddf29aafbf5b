//! What is written to a layer stays there.

use std::fs;

use ralph_sandbox::{Backend, LayerFallback, Mount};

use crate::kit::{Scene, everybody, everywhere};

fn layer(scene: &Scene, at: &str, layer: &str, fallback: LayerFallback) -> Mount {
    let [upper, work] = ["upper", "work"].map(|part| scene.make_dir(&format!("{layer}/{part}")));
    Mount::Layer { at: scene.path(at), upper, work, fallback }
}

#[test]
fn writes_go_to_the_layer_call_after_call() {
    for who in everybody() {
        let mut scene = Scene::new(who, Backend::Namespaces);
        scene.make_file("home/file", "old\n");
        let mount = layer(&scene, "home", "layer", LayerFallback::ReadOnly);
        scene.mount(mount);
        let ran = scene.shell("cat $HOME/file; echo new > $HOME/file; echo x > $HOME/more; cat $HOME/file");
        ran.assert(0, "old\nnew\n");
        assert!(ran.notes().is_empty(), "{ran:?}");
        scene.shell("cat $HOME/file $HOME/more").assert(0, "new\nx\n");
        assert_eq!(fs::read_to_string(scene.path("home/file")).unwrap(), "old\n");
        assert!(!scene.path("home/more").exists());
        assert_eq!(fs::read_to_string(scene.path("layer/upper/more")).unwrap(), "x\n");
        for _ in 0..10 {
            scene.shell("true").assert(0, "");
        }
        let left: Vec<_> =
            fs::read_dir(scene.path("layer/work")).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert!(left.len() <= 2, "{who:?}: what earlier calls left is removed: {left:?}");
    }
}

#[test]
fn layers_that_lie_alike_share_an_overlay_and_stay_apart() {
    for who in everybody() {
        let mut scene = Scene::new(who, Backend::Namespaces);
        for name in ["pip", "yarn", "other"] {
            scene.make_file(&format!("home/.cache/{name}/file"), name);
        }
        let mounts = ["pip", "yarn"].map(|name| Mount::Layer {
            at: scene.path(&format!("home/.cache/{name}")),
            upper: scene.make_dir(&format!("kept/upper/.cache/{name}")),
            work: scene.make_dir(&format!("kept/work/{name}")),
            fallback: LayerFallback::Upper,
        });
        scene.plan.mounts.extend(mounts);
        let ran = scene.shell("cd $HOME/.cache; echo x > pip/new; echo x > yarn/new; echo x > other/new; cat pip/file yarn/file; grep -c 'cache/.* overlay' /proc/self/mounts");
        assert_eq!((ran.stdout.as_str(), ran.notes().len()), ("pipyarn2\n", 0), "{ran:?}");
        for name in ["pip", "yarn"] {
            assert!(scene.path(&format!("kept/upper/.cache/{name}/new")).exists());
            assert!(!scene.path(&format!("home/.cache/{name}/new")).exists());
        }
        assert!(
            !scene.path("kept/upper/.cache/other").exists() && !scene.path("home/.cache/other/new").exists()
        );
        scene.shell("cat $HOME/.cache/pip/new").assert(0, "x\n");
    }
}

/// As `writes_go_to_the_layer_call_after_call`, for a directory that is not there: what covers home has its mount point.
#[test]
fn a_layer_over_a_missing_directory_leaves_none_outside() {
    everywhere(|scene| {
        scene.make_dir("home/.cache");
        // Without overlays home itself is not behind a layer in bubblewrap, and empty it is everywhere.
        let home = match scene.plan.backend {
            Backend::Namespaces => layer(scene, "home", "layer", LayerFallback::ReadOnly),
            _ => Mount::Empty(scene.path("home")),
        };
        scene.mount(home);
        for (at, name) in
            [("home/.cache/uv", "uv"), ("home/.cargo/registry", "cargo"), ("elsewhere/cache", "elsewhere")]
        {
            let mount = layer(scene, at, &format!("kept/{name}"), LayerFallback::Upper);
            scene.mount(mount);
        }
        let write = "cd $HOME; for it in .cache/uv .cargo/registry; do echo one > $it/one; done; ls ../elsewhere || echo none";
        let ran = scene.shell(write);
        ran.assert(0, "none\n");
        assert!(ran.notes().is_empty(), "{ran:?}");
        let read =
            "cd $HOME; for it in .cache/uv .cargo/registry; do cat $it/one; rm $it/one; ls -A $it; done";
        scene.shell(read).assert(0, "one\none\n");
        assert_eq!(fs::read_dir(scene.path("home")).unwrap().count(), 1, "nothing is left in home");
        assert!(!scene.path("home/.cache/uv").exists() && !scene.path("elsewhere").exists());
    });
}

/// What was deleted in the user's directory stays deleted when that directory is gone as well.
#[test]
fn what_a_layer_says_is_deleted_is_not_seen_when_its_directory_is_missing() {
    for who in everybody() {
        let mut scene = Scene::new(who, Backend::Namespaces);
        scene.make_file("home/.m2/old", "old");
        for (at, name) in [("home", "dropped"), ("home/.m2", "kept")] {
            let mount = layer(&scene, at, name, LayerFallback::Upper);
            scene.mount(mount);
        }
        scene.shell("cd $HOME/.m2; rm old; echo new > new; ls").assert(0, "new\n");
        fs::remove_dir_all(scene.path("home/.m2")).unwrap();
        scene.shell("cd $HOME/.m2; ls; echo again > old; cat old new").assert(0, "new\nagain\nnew\n");
        assert!(!scene.path("home/.m2").exists());
    }
}

#[test]
fn where_no_layer_can_be_made_the_fallback_is_used_and_noted() {
    everywhere(|scene| {
        for name in ["read", "write", "upper"] {
            scene.make_file(&format!("home/{name}/file"), "real");
        }
        let (read, write, upper) = (LayerFallback::ReadOnly, LayerFallback::Write, LayerFallback::Upper);
        for (name, fallback) in [("read", read), ("write", write), ("upper", upper)] {
            let mount = layer(scene, &format!("home/{name}"), &format!("layers/{name}"), fallback);
            scene.mount(mount);
            if scene.plan.backend == Backend::Namespaces {
                // An overlay needs a directory to work in.
                fs::remove_dir(scene.path(&format!("layers/{name}/work"))).unwrap();
                scene.make_file(&format!("layers/{name}/work"), "");
            }
        }
        let ran =
            scene.shell("cd $HOME; for it in read write upper; do echo x > $it/new; cat $it/file; done");
        if ran.notes().is_empty() {
            // bubblewrap since 0.11.
            assert_eq!(ran.stdout, "realrealreal", "{ran:?}");
            return;
        }
        assert_eq!((ran.stdout.as_str(), ran.notes().len()), ("realreal", 3), "{ran:?}");
        assert!(!scene.path("home/read/new").exists() && !scene.path("home/upper/new").exists());
        assert!(scene.path("home/write/new").exists() && scene.path("layers/upper/upper/new").exists());
    });
}

#[test]
fn what_is_mounted_below_a_layer_is_still_seen() {
    if !rustix::process::getuid().is_root() {
        return ralph_testkit::skip("only root can mount something outside");
    }
    let mut scene = Scene::new(crate::kit::Who::Root, Backend::Namespaces);
    scene.make_dir("home/mounted");
    scene.make_file("disk/file", "there");
    let mount = layer(&scene, "home", "layer", LayerFallback::ReadOnly);
    scene.mount(mount);
    let script = "mount --bind \"$0\" \"$1\"; shift 1; exec \"$@\"";
    let inner = scene.shell_command("cat $HOME/mounted/file; echo x > $HOME/mounted/new; echo x > $HOME/new");
    let output = std::process::Command::new("unshare")
        .args(["-m", "sh", "-c", script])
        .arg(scene.path("disk"))
        .arg(scene.path("home/mounted"))
        .arg(inner.get_program())
        .args(inner.get_args())
        .envs(inner.get_envs().filter_map(|(key, value)| Some((key, value?))))
        .output()
        .unwrap();
    let ran = crate::kit::Ran::of(output);
    assert_eq!((ran.stdout.as_str(), ran.notes().len()), ("there", 0), "{ran:?}");
    assert!(scene.path("layer/upper/new").exists() && !scene.path("disk/new").exists());
}
