//! What ordinary work and tools write into a repository's config, and what nobody may.

use super::*;

const BASE: &str = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = /srv/x.git\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[alias]\n\tst = status\n";

/// With the branches `main`, which follows origin, and `feature`, which follows nothing.
fn meaning(first: &str, before: &str, after: &str) -> Meaning {
    super::meaning(&configs(first, before, after))
}

fn configs(first: &str, before: &str, after: &str) -> Configs {
    let branches = Some(["main", "feature"].map(ToOwned::to_owned).into());
    Configs { first: first.into(), branches, before: before.into(), after: after.into() }
}

fn added(text: &str) -> Meaning {
    meaning(BASE, BASE, &format!("{BASE}{text}"))
}

#[test]
fn what_ordinary_work_writes_is_harmless_and_may_be_removed() {
    for text in [
        "# a remark\n\n",
        "[branch \"a\"]\n\tremote = origin\n\tmerge = refs/heads/a\n",
        "[branch \"a\"]\n\tremote = .\n\tmerge = refs/heads/b\n\trebase = true\n",
        "[branch \"a\"]\n\tvscode-merge-base = origin/main\n\tgithub-pr-owner-number = a#b#1\n\tdescription = x\n",
        "[user]\n\temail = other@localhost\n\tname = A\n\tsigningkey = ABC\n",
        "[remote \"up\"]\n\turl = https://example.invalid/x.git\n\tfetch = +refs/heads/*:refs/remotes/up/*\n",
        "[remote \"up\"]\n\turl = git@example.invalid:x/y.git\n[branch \"a\"]\n\tremote = up\n",
        "[remote \"origin\"]\n\tgh-resolved = base\n\ttagOpt = --no-tags\n",
        "[submodule \"a\"]\n\tactive = true\n\turl = /srv/a\n",
        "[lfs]\n\trepositoryformatversion = 0\n\tfetchexclude = x\n",
        "[lfs \"https://example.invalid/x.git/info/lfs\"]\n\taccess = basic\n\tlocksverify = true\n",
        "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n",
        "[extensions]\n\tworktreeConfig = true\n[core]\n\tsparseCheckout = true\n\tsparseCheckoutCone = true\n[index]\n\tsparse = false\n",
        "[maintenance]\n\tauto = false\n\tstrategy = incremental\n[gc]\n\tauto = 0\n",
        "[core]\n\tautocrlf = input\n[commit]\n\tgpgsign = false\n[pull]\n\trebase = true\n",
        "[alias]\n\tlg = log --oneline --graph\n",
        "[remote \"up\"]\n\turl = /srv/up.git\n[branch \"a\"]\n\tremote = up\n\tpushRemote = up\n\tmerge = refs/heads/b\n",
        "[branch \"feature\"]\n\tremote = origin\n\tmerge = refs/heads/feature\n",
        "[push]\n\tdefault = current\n\tautoSetupRemote = true\n",
        "[gui]\n\twmstate = normal\n\tgeometry = 1x1+0+0 1 1\n",
        "[include]\n",
        "[gc]\n\tautoDetach = false\n\tpruneExpire = never\n[log]\n\tdate = iso\n[index]\n\tversion = 4\n[feature]\n\tmanyFiles = true\n",
        "[core]\n\tignorecase = false\n\tabbrev = 12\n\tpreloadIndex = true\n\tsymlinks = false\n\tcompression = 9\n\tpager = cat\n",
        "[core]\n\tcommentChar = \";\"\n\ttrustctime = true\n\tignoreStat = false\n\tfsmonitor = false\n[pager]\n\tlog = false\n",
        "[status]\n\tshowUntrackedFiles = all\n[diff]\n\tignoreSubmodules = none\n\tcolorMoved = zebra\n[merge]\n\ttool = vimdiff\n",
        "[fetch]\n\tfsckObjects = true\n[http]\n\tpostBuffer = 500M\n\tsslVerify = true\n[pack]\n\twindowMemory = 100m\n",
    ] {
        assert_eq!(added(text), Meaning::Ordinary, "{text}");
        let with = format!("{BASE}{text}");
        let removed = meaning(&with, &with, BASE);
        assert_eq!(removed, Meaning::Ordinary, "removed: {text}");
    }
}

#[test]
fn what_runs_code_or_redirects_a_push_is_not() {
    for text in [
        "[branch \"a\"]\n\tremote = https://evil.example\n",
        "[branch \"a\"]\n\tremote = ext::sh -c evil\n",
        "[branch \"a\"]\n\tremote = origin\n[core]\n\tfsmonitor = evil\n",
        "[branch \"a\"]\n\tmergeoptions = --strategy evil\n",
        "[branch \"a\"]\n\tmerge = refs/heads/a\\\n[core]\n\tpager = evil\n",
        "[branch \"a\"] remote = origin\n",
        "[remote \"evil\"]\n\turl = https://evil.example\n[branch \"main\"]\n\tremote = evil\n",
        "[remote \"evil\"]\n\turl = https://evil.example\n[branch \"main\"]\n\tpushRemote = evil\n",
        "[remote \"evil\"]\n\turl = https://evil.example\n[remote]\n\tpushDefault = evil\n",
        "[remote \"evil\"]\n\turl = https://evil.example\n[branch \"feature\"]\n\tremote = evil\n",
        "[remote \"evil\"]\n\turl = https://evil.example\n[branch \"feature\"]\n\tpushRemote = evil\n",
        "[branch \"feature\"]\n\tpushRemote = origin\n",
        "[branch \"feature\"]\n\tremote = .\n",
        "[branch \"feature\"]\n\tremote = origin\n\tmerge = refs/heads/main\n",
        "[branch \"feature\"]\n\tmerge = refs/heads/main\n",
        "[push]\n\tdefault = upstream\n",
        "[push]\n\tdefault = tracking\n",
        "[push]\n\tdefault = matching\n",
        "[remote \"up\"]\n\turl = /srv/up.git\n\tmirror = true\n",
        "[remote \"up\"]\n\turl = /srv/up.git\n\tpush = refs/heads/*:refs/heads/*\n",
        "[remote \"up\"]\n\turl = /srv/up.git\n\treceivepack = evil\n",
        "[remote \"origin\"]\n\tproxy = evil\n",
        "[remote \"origin\"]\n\tvcs = evil\n",
        "[core]\n\tgitProxy = evil\n",
        "[core]\n\taskPass = evil\n",
        "[core]\n\tfsmonitor = true\n",
        "[core]\n\thooksPath = /tmp\n",
        "[core]\n\thooksPath = ../.husky\n",
        "[core]\n\thooksPath = .husky/_\n\tpager = evil\n",
        "[core]\n\tsshCommand = evil\n",
        "[core]\n\teditor = evil\n",
        "[core]\n\tattributesFile = evil\n",
        "[core]\n\texcludesFile = evil\n",
        "[core]\n\tworktree = /tmp\n",
        "[core]\n\tlogAllRefUpdates = false\n",
        "[filter \"x\"]\n\tclean = evil\n",
        "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f; evil\n",
        "[lfs]\n\turl = https://evil.example\n",
        "[lfs \"customtransfer.x\"]\n\tpath = evil\n",
        "[remote \"up\"]\n\turl = ext::sh -c evil\n",
        "[remote \"up\"]\n\tuploadpack = evil\n",
        "[remote \"up\"]\n\tfetch = +refs/*:refs/*\n",
        "[remote \"https://good.example/x.git\"]\n\turl = https://evil.example\n",
        "[remote \"git@good.example:x\"]\n\turl = https://evil.example\n",
        "[remote \"../x.git\"]\n\turl = https://evil.example\n",
        "[remote \"/srv/x.git\"]\n\turl = https://evil.example\n",
        "[remote \".\"]\n\turl = https://evil.example\n",
        "[remote \"origin\"]\n\tpushurl = https://evil.example\n",
        "[remote \"origin\"]\n\turl = https://evil.example\n",
        "[submodule \"a\"]\n\tupdate = !evil\n",
        "[include]\n\tpath = ../evil\n",
        "[includeIf \"gitdir:/\"]\n\tpath = ../evil\n",
        "[alias]\n\tx = !evil\n",
        "[alias]\n\tx = -c core.pager=evil log\n",
        "[alias]\n\tx = log --output=/tmp/x\n",
        "[alias]\n\tx = log '--output=/tmp/x'\n",
        "[alias]\n\tx = log \\\"--output=/tmp/x\\\"\n",
        "[alias]\n\tx = log \\\\--output=/tmp/x\n",
        "[alias \"x\"]\n\tcommand = log\n",
        "[alias]\n\tst = log\n",
        "[url \"https://evil.example\"]\n\tinsteadOf = https://good.example\n",
        "[credential]\n\thelper = evil\n",
        "[diff \"x\"]\n\tcommand = evil\n",
        "[merge \"x\"]\n\tdriver = evil %A\n",
        "[gpg]\n\tprogram = evil\n",
        "[status]\n\tshowUntrackedFiles = no\n",
        "[http]\n\tproxy = evil\n",
        "[http]\n\tsslVerify = false\n",
        "[http \"https://good.example\"]\n\textraHeader = evil\n",
        "[protocol]\n\tallow = always\n",
        "[protocol \"ext\"]\n\tallow = always\n",
        "[sequence]\n\teditor = evil\n",
        "[init]\n\ttemplateDir = /tmp\n",
        "[uploadpack]\n\tpackObjectsHook = evil\n",
        "[gpg \"ssh\"]\n\tdefaultKeyCommand = evil\n",
        "[diff \"x\"]\n\ttextconv = evil\n",
        "[difftool \"x\"]\n\tcmd = evil\n",
        "[pager]\n\tlog = evil\n",
        "[interactive]\n\tdiffFilter = evil\n",
        "[gui]\n\tdiffopts = --output=/tmp/x\n",
        "[guitool \"x\"]\n\tcmd = evil\n",
        "[gitflow \"path\"]\n\thooks = /tmp\n",
        "[safe]\n\tdirectory = *\n",
        "[core]\n\tignorecase = true\n",
        "[core]\n\tignoreStat = true\n",
        "[core]\n\ttrustctime = false\n",
        "[core]\n\tcheckStat = minimal\n",
        "[core]\n\tsplitIndex = true\n",
        "[core]\n\tbigFileThreshold = 1\n",
        "[core]\n\tpager = cat; evil\n",
        "[core]\n\tpager = cat # evil\n",
        "[core]\n\tcompression = evil\n",
        "[diff]\n\tignoreSubmodules = all\n",
        "[diff]\n\trelative = true\n",
        "[diff \"x\"]\n\tbinary = true\n",
        "[submodule \"a\"]\n\tignore = all\n",
        "[merge]\n\ttool = ../../evil\n",
        "[clean]\n\trequireForce = false\n",
        "[gc]\n\tpruneExpire = now\n",
        "[filter \"lfs\"]\n\trequired = false\n",
        "[attr]\n\ttree = evil\n",
        "[commit]\n\ttemplate = .env\n",
        "[trace2]\n\teventTarget = /tmp/x\n",
        "[unheardof]\n\tx = y\n",
    ] {
        assert_eq!(added(text), Meaning::Tampering, "{text}");
    }
    let moved = BASE.replace("/srv/x", "/srv/y");
    assert_eq!(meaning(BASE, BASE, &moved), Meaning::Tampering);
}

#[test]
fn what_hides_changes_may_go_but_not_come() {
    for hides in ["[core]\n\tignorecase = true\n", "[status]\n\tshowUntrackedFiles = no\n"] {
        let with = format!("{BASE}{hides}");
        assert_eq!(meaning(&with, &with, BASE), Meaning::Ordinary, "{hides}");
        let shows = with.replace("= true", "= false").replace("= no", "= all");
        assert_eq!(meaning(&with, &with, &shows), Meaning::Ordinary, "{shows}");
        assert_eq!(meaning(&with, &shows, &with), Meaning::Tampering, "{hides}");
    }
}

#[test]
fn the_keys_that_are_more_than_ordinary_are_named() {
    let blamed = |after: &str| -> Vec<String> { blamed(&configs(BASE, BASE, after)).into_iter().collect() };
    let more = |text: &str| blamed(&format!("{BASE}{text}"));
    assert_eq!(more("[user]\n\tname = A\n[core]\n\thooksPath = /tmp\n"), ["core.hookspath"]);
    assert_eq!(more("[diff \"x\"]\n\tcommand = evil\n"), ["diff.x.command"]);
    assert_eq!(more("[url \"https://token@evil.example/\"]\n\tinsteadOf = x\n"), ["url.*.insteadof"]);
    assert_eq!(blamed(&BASE.replace("/srv/x", "/srv/y")), ["remote.origin.url"]);
    assert_eq!(blamed(&BASE.replace("\tst = status\n", "\tst = log\n")), ["alias.st"]);
    let evil = BASE.replace("\"origin\"]\n\turl = /srv/x", "\"evil\"]\n\turl = /srv/evil");
    assert_eq!(blamed(&evil), ["remote.evil.url"], "where a push goes now");
    assert!(more("[core] pager = evil\n").is_empty(), "cannot be read");
}

#[test]
fn an_address_is_not_replaced_in_two_steps_either() {
    let without = BASE.replace("[remote \"origin\"]\n\turl = /srv/x.git\n", "");
    let evil = BASE.replace("/srv/x.git", "/srv/evil.git");
    let meaning = |before: &str, after: &str| meaning(BASE, before, after);
    assert_eq!(meaning(BASE, &without), Meaning::Ordinary, "removed");
    assert_eq!(meaning(&without, &evil), Meaning::Tampering);
    assert_eq!(meaning(&without, BASE), Meaning::Ordinary, "as it was");
    let more = format!("{BASE}[remote \"evil\"]\n\turl = /srv/evil.git\n");
    let follows = more.replace("remote = origin", "remote = evil");
    assert_eq!(meaning(BASE, &more), Meaning::Ordinary, "a new one");
    assert_eq!(meaning(&more, &follows), Meaning::Tampering);
}

#[test]
fn what_names_no_remote_is_not_pushed_to_a_new_one() {
    let remote = |name: &str, url: &str| format!("[remote \"{name}\"]\n\turl = /srv/{url}.git\n");
    let (good, evil) = (|name| remote(name, "good"), |name| remote(name, "evil"));
    for (first, after, expected) in [
        (good("origin"), good("origin") + &evil("more"), Meaning::Ordinary),
        (good("origin"), String::new(), Meaning::Ordinary),
        (good("origin"), good("renamed"), Meaning::Ordinary),
        (good("github"), good("github") + &evil("more"), Meaning::Ordinary),
        (String::new(), evil("origin"), Meaning::Ordinary),
        (good("github"), good("github") + &evil("origin"), Meaning::Tampering),
        (good("origin"), evil("more"), Meaning::Tampering),
        (good("a") + &good("b"), good("a") + &good("b") + &evil("origin"), Meaning::Tampering),
    ] {
        assert_eq!(meaning(&first, &first, &after), expected, "{first} to {after}");
    }
    let both = good("origin") + &evil("more");
    assert_eq!(meaning(&good("origin"), &both, &evil("more")), Meaning::Tampering, "in two steps");
}

#[test]
fn a_remote_that_a_branch_names_already_is_not_defined() {
    let names = "[branch \"main\"]\n\tremote = gone\n";
    let defined = format!("{names}[remote \"gone\"]\n\turl = /srv/evil.git\n");
    assert_eq!(meaning(names, names, &defined), Meaning::Tampering);
    assert_eq!(meaning(&defined, names, &defined), Meaning::Ordinary, "as it was");
}

#[test]
fn a_branch_that_was_there_follows_the_first_remote_of_all_and_a_renamed_one() {
    let first = "[remote \"up\"]\n\turl = /srv/up.git\n[branch \"feature\"]\n\tremote = up\n\tmerge = refs/heads/feature\n";
    assert_eq!(meaning("", "", first), Meaning::Ordinary);
    let renamed = BASE.replace("origin", "renamed");
    assert_eq!(meaning(BASE, BASE, &renamed), Meaning::Ordinary);
    let unknown = configs("[core]\n", "[core]\n", "[branch \"a\"]\n\tremote = .\n");
    assert_eq!(
        super::meaning(&Configs { branches: None, ..unknown }),
        Meaning::Tampering,
        "the branches are not known"
    );
}

#[test]
fn the_address_of_a_known_submodule_stays() {
    let with = |url: &str| format!("{BASE}[submodule \"a\"]\n\tactive = true\n\turl = {url}\n");
    assert_eq!(meaning(BASE, BASE, &with("/srv/a")), Meaning::Ordinary, "init");
    assert_eq!(meaning(&with("/srv/a"), &with("/srv/a"), BASE), Meaning::Ordinary, "deinit");
    assert_eq!(meaning(&with("/srv/a"), BASE, &with("/srv/a")), Meaning::Ordinary, "and init again");
    assert_eq!(meaning(&with("/srv/a"), &with("/srv/a"), &with("/srv/evil")), Meaning::Tampering);
    assert_eq!(meaning(&with("/srv/a"), BASE, &with("/srv/evil")), Meaning::Tampering, "in two steps");
}

#[test]
fn hooks_of_husky_are_husky_s() {
    for value in [".husky", ".husky/_", "web/.husky/_"] {
        assert_eq!(added(&format!("[core]\n\thooksPath = {value}\n")), Meaning::Tool("husky"), "{value}");
    }
    let with = format!("{BASE}[core]\n\thooksPath = .husky\n");
    let other = format!("{BASE}[core]\n\thooksPath = .husky/_\n[user]\n\tname = A\n");
    assert_eq!(meaning(&with, &with, &other), Meaning::Tool("husky"));
}

#[test]
fn a_new_repository_has_what_git_writes_and_nothing_that_runs() {
    let new = |text: &str| meaning_in_new_repository(text.as_bytes());
    for text in [
        "",
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
        "[core]\n\tbare = true\n\tignorecase = true\n\tprecomposeunicode = true\n\tsharedrepository = 1\n",
        "[remote \"origin\"]\n\turl = /srv/x.git\n\tfetch = +refs/*:refs/*\n\tmirror = true\n",
        "[remote \"origin\"]\n\turl = https://a.example/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n",
        "[extensions]\n\tobjectformat = sha256\n[remote \"origin\"]\n\tpromisor = true\n\tpartialclonefilter = blob:none\n",
        "[core]\n\tworktree = ../../../lib\n[user]\n\tname = A\n",
    ] {
        assert_eq!(new(text), Meaning::Ordinary, "{text}");
    }
    for text in [
        "[core]\n\tfsmonitor = evil\n",
        "[core]\n\thooksPath = hooks\n",
        "[core]\n\tworktree = /home/user\n",
        "[core]\n\tbare = false\n\tsshCommand = evil\n",
        "[filter \"x\"]\n\tclean = evil\n",
        "[include]\n\tpath = ../more\n",
        "[remote \"origin\"]\n\turl = ext::sh -c evil\n",
        "[diff]\n\texternal = evil\n",
        "[core\n",
    ] {
        assert_eq!(new(text), Meaning::Tampering, "{text}");
    }
    assert_eq!(new("[core]\n\thooksPath = .husky\n"), Meaning::Tool("husky"));
    let blamed = blamed_in_new_repository(b"[core]\n\tbare = true\n\tpager = evil\n");
    assert_eq!(blamed, Some(["core.pager".to_owned()].into()));
}
