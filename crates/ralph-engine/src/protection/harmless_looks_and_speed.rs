//! The rest of the table in `harmless_keys.rs`: keys of git that only say how it shows things, how fast it works and how it
//! packs what it keeps. Gone through with `git help --config`, version 2.47. What is missing there is missing on purpose:
//! it names a program or a file (`*.cmd`, `commit.template`, `trace2.*`, `mailmap.*`), sends something elsewhere
//! (`format.to`, `push.pushOption`, `checkout.defaultRemote`), hides something (`core.bigFileThreshold` and `diff.*.binary`
//! take text for binary, `diff.orderFile`, `attr.tree`), accepts what git refuses (`fsck.*`) or throws away what the user
//! may need (`gc.pruneExpire`, `gc.reflogExpire`).

use super::harmless_keys::Values::{self, Any, Number, OneOf, Shows, Switch};

const ON: Values = OneOf(&["true", "yes", "on", "1"]);
/// How hard git compresses.
const LEVEL: Values = OneOf(&["-1", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
/// A switch, or `cat`; anything else is a program.
const PAGER: Values = OneOf(&["true", "false", "yes", "no", "on", "off", "0", "1", "cat", "", "\"\""]);
/// Tools that git knows by itself. Another name would be that of a file to read.
const MERGE_TOOL: Values = OneOf(&[
    "araxis", "bc", "emerge", "kdiff3", "meld", "nvimdiff", "opendiff", "p4merge", "tkdiff", "vimdiff",
    "vscode",
]);

/// Keys that only change looks and speed.
#[rustfmt::skip]
pub const LOOKS_AND_SPEED: &[(&str, Values)] = &[
    // How things are shown.
    ("blame.blankboundary", Switch), ("blame.coloring", Any), ("blame.date", Any), ("blame.markignoredlines", Switch),
    ("blame.markunblamablelines", Switch), ("blame.showemail", Switch), ("blame.showroot", Switch),
    ("branch.sort", Any), ("tag.sort", Any), ("versionsort.suffix", Any), ("column.*", Any), ("pretty.*", Any),
    ("core.abbrev", Any), ("core.pager", OneOf(&["cat", "", "\"\""])), ("pager.*", PAGER), ("core.warnambiguousrefs", Switch),
    ("diff.autorefreshindex", Switch), ("diff.colormoved", Any), ("diff.colormovedws", Any), ("diff.context", Number),
    ("diff.dirstat", Any), ("diff.guitool", MERGE_TOOL), ("diff.indentheuristic", Switch),
    ("diff.interhunkcontext", Number), ("diff.mnemonicprefix", Switch), ("diff.noprefix", Switch),
    ("diff.statgraphwidth", Number), ("diff.statnamewidth", Number), ("diff.submodule", OneOf(&["short", "log", "diff"])),
    ("diff.suppressblankempty", Switch), ("diff.tool", MERGE_TOOL), ("diff.wordregex", Any),
    ("diff.wserrorhighlight", Any), ("diff.*.wordregex", Any), ("diff.*.xfuncname", Any),
    ("difftool.guidefault", Switch), ("difftool.prompt", Switch), ("difftool.trustexitcode", Switch),
    ("format.coverletter", OneOf(&["true", "false", "auto"])), ("format.noprefix", Switch),
    ("format.numbered", OneOf(&["true", "false", "auto"])), ("format.signature", Any),
    ("format.pretty", OneOf(&["oneline", "short", "medium", "full", "fuller", "reference", "email", "raw"])),
    ("grep.column", Switch), ("grep.extendedregexp", Switch), ("grep.fallbacktonoindex", Switch), ("grep.fullname", Switch),
    ("grep.linenumber", Switch), ("grep.patterntype", OneOf(&["default", "basic", "extended", "fixed", "perl"])),
    ("grep.threads", Number),
    ("gui.blamehistoryctx", Number), ("gui.commitmsgwidth", Number), ("gui.copyblamethreshold", Number),
    ("gui.diffcontext", Number), ("gui.fastcopyblame", Switch), ("gui.matchtrackingbranch", Switch),
    ("gui.newbranchtemplate", Any), ("gui.pruneduringfetch", Switch),
    ("help.autocorrect", OneOf(&["0", "never", "show", "prompt"])), ("help.format", OneOf(&["man", "info"])),
    ("i18n.commitencoding", OneOf(&["utf-8", "UTF-8", "utf8"])), ("i18n.logoutputencoding", OneOf(&["utf-8", "UTF-8", "utf8"])),
    ("interactive.singlekey", Switch), ("completion.commands", Any), ("github.user", Any), ("gitlab.user", Any),
    ("log.abbrevcommit", Switch), ("log.date", Any), ("log.decorate", OneOf(&["true", "false", "short", "full", "auto", "no"])),
    ("log.diffmerges", Any), ("log.excludedecoration", Any), ("log.follow", Switch), ("log.graphcolors", Any),
    ("log.initialdecorationset", Any), ("log.mailmap", Switch), ("log.showroot", Shows(&["true"])), ("log.showsignature", Switch),
    ("merge.branchdesc", Switch), ("merge.guitool", MERGE_TOOL), ("merge.log", Switch), ("merge.stat", Switch),
    ("merge.suppressdest", Any), ("merge.tool", MERGE_TOOL), ("merge.verbosity", Number),
    ("mergetool.guidefault", Switch), ("mergetool.hideresolved", Switch), ("mergetool.keepbackup", Switch),
    ("mergetool.keeptemporaries", Switch), ("mergetool.prompt", Switch), ("mergetool.writetotemp", Switch),
    ("notes.displayref", Any), ("core.notesref", Any), ("promisor.quiet", Switch),
    ("stash.showincludeuntracked", Switch), ("stash.showpatch", Switch), ("stash.showstat", Switch),
    ("status.aheadbehind", Switch), ("status.branch", Switch), ("status.displaycommentprefix", Switch),
    ("status.relativepaths", Switch), ("status.renamelimit", Number), ("status.renames", OneOf(&["true", "false", "copies", "copy"])),
    ("status.short", Switch), ("status.showstash", Switch), ("status.submodulesummary", Switch),
    // How commands work that the user starts, and says what with.
    ("add.ignoreerrors", Switch), ("am.threeway", Switch), ("apply.whitespace", OneOf(&["nowarn", "warn", "error", "error-all"])),
    ("checkout.guess", Switch), ("clean.requireforce", ON),
    ("commit.cleanup", OneOf(&["strip", "whitespace", "verbatim", "scissors", "default"])), ("commit.status", Switch),
    ("core.commentchar", OneOf(&["auto", "\";\"", "\"#\"", "@", "!", "$", "%", "^", "&", "|", ":"])),
    ("core.logallrefupdates", OneOf(&["true", "always"])), ("core.protecthfs", ON), ("core.protectntfs", ON),
    ("fetch.output", OneOf(&["full", "compact"])), ("fetch.recursesubmodules", OneOf(&["true", "false", "on-demand"])),
    ("fetch.showforcedupdates", ON), ("fetch.fsckobjects", Switch), ("transfer.fsckobjects", Switch),
    ("transfer.credentialsinurl", OneOf(&["warn", "die"])), ("http.sslverify", ON),
    ("gpg.format", OneOf(&["openpgp", "x509", "ssh"])), ("tag.forcesignannotated", Switch),
    ("merge.autostash", Switch), ("merge.defaulttoupstream", Switch), ("merge.verifysignatures", ON),
    ("merge.directoryrenames", OneOf(&["true", "false", "conflict"])), ("merge.renames", Switch),
    ("push.gpgsign", OneOf(&["true", "false", "if-asked"])), ("push.negotiate", Switch),
    ("push.recursesubmodules", OneOf(&["check", "no"])), ("push.usebitmaps", Switch), ("push.useforceifincludes", Switch),
    ("rebase.abbreviatecommands", Switch), ("rebase.backend", OneOf(&["apply", "merge"])), ("rebase.forkpoint", Switch),
    ("rebase.instructionformat", Any), ("rebase.maxlabellength", Number),
    ("rebase.missingcommitscheck", OneOf(&["ignore", "warn", "error"])),
    ("rebase.rebasemerges", OneOf(&["true", "false", "rebase-cousins", "no-rebase-cousins"])),
    ("rebase.reschedulefailedexec", Switch), ("rebase.stat", Switch), ("revert.reference", Switch),
    ("submodule.propagatebranches", Switch), ("worktree.guessremote", Switch), ("worktree.userelativepaths", Switch),
    // How fast, and how objects and the index are kept. The many-files feature means index version 4 without a checksum,
    // which is read like any other, and the cache of untracked files. Not `core.splitIndex`: flags that hide files would lie
    // in a second file.
    ("bitmappseudomerge.*.*", Any), ("checkout.thresholdforparallelism", Number), ("checkout.workers", Number),
    ("commitgraph.changedpathsversion", Number), ("commitgraph.generationversion", Number),
    ("commitgraph.maxnewfilters", Number), ("commitgraph.readchangedpaths", Switch),
    ("core.compression", LEVEL), ("core.loosecompression", LEVEL), ("core.createobject", OneOf(&["link", "rename"])),
    ("core.deltabasecachelimit", Number), ("core.filesreflocktimeout", Number), ("core.packedrefstimeout", Number),
    ("core.fsmonitor", OneOf(&["false"])), ("core.fsync", Any), ("core.fsyncmethod", Any), ("core.fsyncobjectfiles", Switch),
    ("core.hidedotfiles", OneOf(&["true", "false", "dotGitOnly"])), ("core.maxtreedepth", Number),
    ("core.multipackindex", Switch), ("core.packedgitlimit", Number), ("core.packedgitwindowsize", Number),
    ("core.precomposeunicode", Switch), ("core.preloadindex", Switch),
    ("fastimport.unpacklimit", Number), ("fetch.unpacklimit", Number), ("transfer.unpacklimit", Number),
    ("feature.experimental", Switch), ("feature.manyfiles", Switch),
    ("fetch.negotiationalgorithm", OneOf(&["consecutive", "skipping", "noop", "default"])),
    ("gc.aggressivedepth", Number), ("gc.aggressivewindow", Number), ("gc.autodetach", Switch), ("gc.autopacklimit", Number),
    ("gc.bigpackthreshold", Number), ("gc.cruftpacks", Switch), ("gc.logexpiry", Any), ("gc.maxcruftsize", Number),
    ("gc.packrefs", OneOf(&["true", "false", "notbare"])), ("gc.pruneexpire", OneOf(&["never"])),
    ("gc.rerereresolved", Number), ("gc.rerereunresolved", Number), ("gc.writecommitgraph", Switch),
    ("http.lowspeedlimit", Number), ("http.lowspeedtime", Number), ("http.maxrequests", Number), ("http.minsessions", Number),
    ("index.recordendofindexentries", Switch), ("index.recordoffsettable", Switch), ("index.skiphash", Switch),
    ("index.threads", Any), ("index.version", OneOf(&["2", "3", "4"])),
    ("pack.allowpackreuse", OneOf(&["true", "false", "single", "multi"])), ("pack.compression", LEVEL),
    ("pack.deltacachelimit", Number), ("pack.deltacachesize", Number), ("pack.depth", Number),
    ("pack.indexversion", OneOf(&["1", "2"])), ("pack.packsizelimit", Number), ("pack.readreverseindex", Switch),
    ("pack.threads", Number), ("pack.usebitmapboundarytraversal", Switch), ("pack.usebitmaps", Switch),
    ("pack.usesparse", Switch), ("pack.window", Number), ("pack.windowmemory", Number),
    ("pack.writebitmaphashcache", Switch), ("pack.writebitmaplookuptable", Switch), ("pack.writereverseindex", Switch),
    ("protocol.version", OneOf(&["0", "1", "2"])),
    ("reftable.blocksize", Number), ("reftable.geometricfactor", Number), ("reftable.indexobjects", Switch),
    ("reftable.locktimeout", Number), ("reftable.restartinterval", Number),
    ("repack.cruftdepth", Number), ("repack.cruftthreads", Number), ("repack.cruftwindow", Number),
    ("repack.cruftwindowmemory", Number), ("repack.packkeptobjects", Switch), ("repack.usedeltabaseoffset", Switch),
    ("repack.usedeltaislands", Switch), ("repack.writebitmaps", Switch),
];
