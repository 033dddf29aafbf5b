//! What ordinary work and tools write into a repository's config, and what nobody may.

use super::*;

const BASE: &str = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = /srv/x.git\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[alias]\n\tst = status\n";

fn added(text: &str) -> Meaning {
    meaning(BASE.as_bytes(), BASE.as_bytes(), format!("{BASE}{text}").as_bytes())
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
        "[include]\n",
    ] {
        assert_eq!(added(text), Meaning::Ordinary, "{text}");
        let with = format!("{BASE}{text}");
        let removed = meaning(with.as_bytes(), with.as_bytes(), BASE.as_bytes());
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
        "[remote \"origin\"]\n\tpushurl = https://evil.example\n",
        "[remote \"origin\"]\n\turl = https://evil.example\n",
        "[submodule \"a\"]\n\tupdate = !evil\n",
        "[include]\n\tpath = ../evil\n",
        "[includeIf \"gitdir:/\"]\n\tpath = ../evil\n",
        "[alias]\n\tx = !evil\n",
        "[alias]\n\tx = -c core.pager=evil log\n",
        "[alias]\n\tx = log --output=/tmp/x\n",
        "[alias]\n\tst = log\n",
        "[url \"https://evil.example\"]\n\tinsteadOf = https://good.example\n",
        "[credential]\n\thelper = evil\n",
        "[diff \"x\"]\n\tcommand = evil\n",
        "[merge \"x\"]\n\tdriver = evil %A\n",
        "[gpg]\n\tprogram = evil\n",
        "[status]\n\tshowUntrackedFiles = no\n",
        "[http]\n\tproxy = evil\n",
        "[unheardof]\n\tx = y\n",
    ] {
        assert_eq!(added(text), Meaning::Tampering, "{text}");
    }
    let moved = BASE.replace("/srv/x", "/srv/y");
    assert_eq!(meaning(BASE.as_bytes(), BASE.as_bytes(), moved.as_bytes()), Meaning::Tampering);
}

#[test]
fn an_address_is_not_replaced_in_two_steps_either() {
    let without = BASE.replace("[remote \"origin\"]\n\turl = /srv/x.git\n", "");
    let evil = BASE.replace("/srv/x.git", "/srv/evil.git");
    let meaning = |before: &str, after: &str| meaning(BASE.as_bytes(), before.as_bytes(), after.as_bytes());
    assert_eq!(meaning(BASE, &without), Meaning::Ordinary, "removed");
    assert_eq!(meaning(&without, &evil), Meaning::Tampering);
    assert_eq!(meaning(&without, BASE), Meaning::Ordinary, "as it was");
    let more = format!("{BASE}[remote \"evil\"]\n\turl = /srv/evil.git\n");
    let follows = more.replace("remote = origin", "remote = evil");
    assert_eq!(meaning(BASE, &more), Meaning::Ordinary, "a new one");
    assert_eq!(meaning(&more, &follows), Meaning::Tampering);
}

#[test]
fn hooks_of_husky_are_husky_s() {
    for value in [".husky", ".husky/_", "web/.husky/_"] {
        assert_eq!(added(&format!("[core]\n\thooksPath = {value}\n")), Meaning::Tool("husky"), "{value}");
    }
    let with = format!("{BASE}[core]\n\thooksPath = .husky\n");
    let other = format!("{BASE}[core]\n\thooksPath = .husky/_\n[user]\n\tname = A\n");
    assert_eq!(meaning(with.as_bytes(), with.as_bytes(), other.as_bytes()), Meaning::Tool("husky"));
}
