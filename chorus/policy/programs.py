"""The known programs: each with its harmless arguments. Some programs have no harmless arguments.

A rule with a `*` allows only arguments listed here, unless the rule has `any_arguments`. Arguments that run
another program (`-exec`), write a file (`-o`) or name a file of commands are left out on purpose.
"""

import re

from chorus.policy.arguments import Arguments, Effect

# No rule can allow these: they run text, or change the shell for later commands.
SHELL_ONLY = frozenset(
    """
    . alias autoload bg bind break builtin bye caller chdir compctl compgen complete compopt continue coproc
    declare dirs disable disown echotc echoti emulate enable eval exec exit export fc fg float
    functions getln getopts hash history integer jobs let limit local log logout mapfile noglob popd print
    pushd pushln r read readarray readonly rehash repeat return sched select set setopt shift shopt source
    suspend times trap ttyctl typeset ulimit umask unalias unfunction unhash unlimit unset unsetopt vared
    wait whence zcompile zformat zle zmodload zparseopts zpty zsocket zstyle zsystem ztcp
    """.split()  # noqa: SIM905  a list of bare words is easier to read than one of quoted ones
)
# These run what their arguments name, some as another user or on another machine. Only a rule that spells the
# command out allows them.
RUNNERS = frozenset(
    """
    at bash batch builtin bunx busybox capsh chroot command crontab csh dash doas docker ed emacs entr env ex
    expect fish flock gdb ionice ksh kubectl less lldb ltrace man mksh more mosh nano ncat nc nice nix-shell
    nohup npx nsenter nvim open osascript parallel pipx pkexec podman rbash rlwrap runuser scp screen script
    setpriv setsid sftp sh socat ssh stdbuf strace su sudo systemd-run tcsh telnet time timeout tmux toybox
    unbuffer unshare uvx vi vim watch xargs xdg-open zsh
    """.split()  # noqa: SIM905  as above
)
CHANGES_DIRECTORY = "cd"

_ANY = r"(?s)(?!\+).*"
_NONE = r"(?!)"
_SCRIPT = r"[A-Za-z0-9][\w:.-]*"
# A format of git that checks signatures runs gpg.
_UNSIGNED = r"(?si)(?!.*(?:%[+ -]?g|signature)).*"
_PACKAGE = r"\.|\./[\w./-]*"
# Not `@file`: many programs read more arguments from it.
_PATH = r"[\w./].*"

_PROGRAMS: dict[str, Arguments] = {}


def find_arguments(words: tuple[str, ...]) -> tuple[str, Arguments] | None:
    """Find the longest listed name at the start of a command. Return the name and its arguments, or None."""
    for length in (3, 2, 1):
        name = " ".join(words[:length])
        # A word may have a blank in it: `python "-m pytest"` does not run pytest.
        if name in _PROGRAMS and tuple(name.split(" ")) == words[:length]:
            return name, _PROGRAMS[name]
    return None


def is_listed(words: tuple[str, ...]) -> bool:
    """True if the words begin with the name of a harmless command, or such a name begins with the words."""
    start = " ".join(words)
    return find_arguments(words) is not None or any(name.startswith(f"{start} ") for name in _PROGRAMS)


def _list(
    names: str,
    flags: str = "",
    valued: str = "",
    operand: str = _ANY,
    *,
    value: str = r"(?s).*",
    first: str | None = None,
    most: int | None = None,
    effect: Effect = Effect.READS,
    below: int = 0,
    below_flags: str = "",
    reads_directories: bool = False,
    follows_links: bool = False,
    bundles: bool = True,
    must_be_named: bool = False,
) -> None:
    """Add the programs `names` to the table. With `bundles`, `-ab` means the flags `-a` and `-b`."""
    row = Arguments(
        _expand(flags, bundles),
        _expand(valued, bundles),
        re.compile(value),
        re.compile(operand if first is None else first),
        re.compile(operand),
        most,
        effect,
        below,
        _expand(below_flags, bundles),
        reads_directories,
        follows_links,
        bundles,
        must_be_named,
    )
    for name in names.split(", "):
        _PROGRAMS[name] = row


def _expand(flags: str, bundles: bool) -> frozenset[str]:
    found: set[str] = set()
    for word in flags.split():
        is_bundle = bundles and re.match("-[^-]", word)
        found |= {f"-{letter}" for letter in word[1:]} if is_bundle else {word}
    return frozenset(found)


# Text and files.
_list("true, false, whoami")
_list("pwd", "-LP", operand=_NONE)
_list("cd", operand=r"(?!-|\+).+")
_list("echo", "-neE - --")
_list("printf", operand=r"(?:[^%]|%[s%])*")
_list("test", valued="-efdsrwxhLnz", operand=_NONE)
_list("sleep", operand=r"[\d.]+[smh]?")
_list("seq", "-w", "-s", operand=r"\d+")
_list("date", "-uRI --utc", "-d --date", operand=r"(?s)\+.*", most=1)
_list("uname", "-asnrvmpio", operand=_NONE)
_list("id", "-ugGnr")
_list("hostname", "-fsi", operand=_NONE)
_list("which, type", "-a")
_list("command -v", operand=r"[\w.+-]+")
_list("basename", "-az", "-s")
_list("dirname", "-z")
_list("realpath, readlink", "-femnqsz")
_list(
    "ls",
    "-aAbBcCdfFghHiklLmnNopqQrRsStuUvxXZ1 --all --recursive --human-readable --color",
    "--color --sort --time",
)
_list("cat", "-AbeEnstTuv - --number")
_list("head", "-qvz - --quiet", "-nc --lines --bytes")
_list("tail", "-qvz - --quiet", "-nc --lines --bytes", operand=r"(?s).*")
_list("wc", "-clLmw - --lines --words --bytes")
_list("nl", "-p", "-bw")
_list("tac, rev", "-")
_list("cut", "-sz - --only-delimited --complement", "-bcdf --delimiter --fields --bytes --characters")
_list("tr", "-cCdst")
# Not `-`: the operand after it would be the file to write.
_list("uniq", "-cdDiuz --count --repeated --unique --ignore-case", "-fsw", most=1)
_list("sort", "-bdfghiMnrRsuVzcC - --numeric-sort --reverse --unique", "-kt --key --field-separator")
_list("comm", "-123z")
_list("join, paste", "-sz -", "-dt")
_list("column", "-tnx", "-sc")
_list("fold", "-bs", "-w")
_list("stat", "-fLt", "-c --format --printf")
_list("file", "-bhikLNrsv0 --brief --mime --mime-type")
_list("du", "-abchHklLmsSx0 --summarize --human-readable", "-d --max-depth --exclude", below=1)
_list("df", "-ahHiklPT")
_list("tree", "-adfFghinpstuDCJQ", "-LIP", below=1)
_list("md5sum, sha1sum, sha256sum, sha512sum, cksum, b2sum", "-bt - --tag")
_list("od", "-bcdosvx", "-AjNtw")
_list("ps", "-aAdefHjlLmTwxyZF", "-pCuto --sort", operand=r"[a-z]*")
_list("cmp", "-bls", "-n", most=4)
# Not `-r`: it follows links on its way down, which may lead to a guarded file. So do `grep -R` and `rg -L`.
_list(
    "diff",
    "-abBcdeEfHinNpqstTuwyZ - --brief --unified --side-by-side --suppress-common-lines --color",
    "-ILUCWx --color --exclude --unified --width",
    reads_directories=True,
    follows_links=True,
)
_list(
    "grep, egrep, fgrep",
    "-acEFGhHiIlLnoPqrsvwxyzZ - -- --recursive --line-number --ignore-case --only-matching --count --color",
    "-ABCem --include --exclude --exclude-dir --color --colour --max-count --context",
    below=2,
    below_flags="-r --recursive",
    reads_directories=True,
)
_list(
    "rg",
    "-acFhHiIlnNopPqsSuUvwx0 - -- --files --hidden --no-ignore --line-number --ignore-case --count --json"
    " --files-with-matches --only-matching --fixed-strings --no-heading --heading --stats --multiline",
    "-ABCegjmMtT --glob --type --type-not --color --max-count --context --max-depth --sort",
    below=2,
    reads_directories=True,
)
_list(
    "find",
    "-print -print0 -empty -not -a -and -o -or -depth -mount -xdev -true -false -readable -writable"
    " -executable -follow -ls -prune -H -L -P -daystart",
    "-name -iname -path -ipath -wholename -type -xtype -maxdepth -mindepth -size -mtime -mmin -ctime -cmin"
    " -atime -amin -newer -perm -user -group -regex -iregex -regextype -links -inum -samefile -printf -lname",
    bundles=False,
    below=1,
)  # fmt: skip
_list(
    "fd, fdfind",
    "-HIusigFapL0 --hidden --no-ignore --case-sensitive --ignore-case --glob --absolute-path --follow",
    "-tedE --type --extension --max-depth --exclude --color",
    below=2,
)
_list(
    "jq",
    "-rcsenMCSjaR - --raw-output --compact-output --slurp --exit-status --null-input --sort-keys",
    first=r"(?s)(?!.*\b(?:import|include)\b).*",
)
_list("curl", "-fsSLIiv --fail --silent --show-error --location --head", "-m --max-time", r"https?://\S+")
# Print, delete, quit or substitute, without the flags that write a file or run a command.
_SED_SCRIPT = r"[0-9,]*[pdq]|[0-9,]*s([/,#%:|])(?:(?!\1)[^\n])*\1(?:(?!\1)[^\n])*\1[gpiI0-9]*"
_list("sed", "-nErsu -", first=_SED_SCRIPT)
_list("mkdir", "-pv --parents --verbose", effect=Effect.INSIDE)
_list("touch", "-acm", effect=Effect.INSIDE)

# git. A subcommand that writes must be named by the rule. A subcommand that runs a program is not listed.
_DIFF = (
    "-abpuwzrR -- --stat --numstat --shortstat --name-only --name-status --summary --patch --no-patch --raw"
    " --word-diff --cached --staged --no-color --color --check --find-renames --no-renames --ignore-all-space"
    " --ignore-space-change --ignore-blank-lines --no-ext-diff --no-textconv --minimal --patience --histogram"
    " --exit-code --quiet --text --merge-base"
)
_DIFF_VALUED = "-USG --unified --stat --color --word-diff --diff-filter --diff-algorithm --find-renames"
_LOG = _DIFF + (
    " --oneline --graph --all --decorate --no-decorate --first-parent --no-merges --merges --reverse --follow"
    " --abbrev-commit --no-abbrev-commit --branches --tags --remotes --full-history --name-only --topo-order"
    " --date-order --left-right --cherry-pick --walk-reflogs -gimcsE"
)
_LOG_VALUED = _DIFF_VALUED + (
    " -nL --max-count --skip --since --until --after --before --author --committer --grep --format --pretty"
    " --date --decorate --branches --tags --abbrev"
)
_list(
    "git status",
    "-sbuz -- --short --branch --porcelain --long --ignored --show-stash",
    "--porcelain --untracked-files --ignored",
)
_list("git diff", _DIFF, _DIFF_VALUED)
_list("git log, git show", _LOG, _LOG_VALUED, value=_UNSIGNED)
_list("git shortlog", "-snce --summary --numbered --email --no-merges", "--since --until --author")
_list("git rev-list", "--count --all --no-merges --reverse --first-parent", "-n --max-count --since --until")
_list("git blame", "-wMCselfnptbc --", "-L --since")
_list(
    "git grep",
    "-nilLcvwEFPohHpWaI -- --line-number --ignore-case --name-only --count --cached --untracked",
    "-ABCem",
    below=2,
    reads_directories=True,
)
_list(
    "git ls-files",
    "-comdsutz -- --cached --others --modified --deleted --stage --exclude-standard --full-name",
)
_list("git ls-tree", "-rdltz -- --name-only --long --full-tree")
_list(
    "git rev-parse",
    "--show-toplevel --abbrev-ref --short --verify --quiet --git-dir --is-inside-work-tree --show-prefix -q",
)
_list("git describe", "--tags --always --all --long --dirty --abbrev=0", "--match --abbrev")
_list("git merge-base", "--is-ancestor --all --fork-point")
_list("git cat-file", "-pts", most=1)
_list(
    "git branch",
    "-arv --all --remotes --verbose --list --show-current",
    "--format --sort --contains --merged --no-merged",
    operand=_NONE,
    value=_UNSIGNED,
)
_list("git tag", "--list", "--sort --format --contains --merged", operand=_NONE, value=_UNSIGNED)
_list("git tag -l, git tag --list", "-n", "--sort --format", value=_UNSIGNED)
_list("git remote", "-v --verbose", operand=_NONE)
_list("git stash list, git worktree list", "--oneline --porcelain", operand=_NONE)
_list("git config --get, git config --list, git config -l", operand=r"[\w.*-]+", most=1)
_list(
    "git add",
    "-AuvnN -- --all --update --verbose --dry-run",
    effect=Effect.INSIDE,
    below=1,
    reads_directories=True,
    must_be_named=True,
)
_list(
    "git commit",
    "-aqv --all --quiet --verbose --amend --no-edit --allow-empty --signoff",
    "-m --message --author --date",
    operand=_NONE,
    effect=Effect.INSIDE,
    must_be_named=True,
)

# Builders, test runners, checkers: they run what is in the work tree, and nothing else.
_list(
    "pytest, python -m pytest, python3 -m pytest",
    "-qvxsl --lf --last-failed --ff --failed-first --sw --stepwise --nf --co --collect-only --no-header"
    " --disable-warnings --exitfirst --verbose --quiet",
    "-kmn --tb --maxfail --durations --color --deselect --ignore",
    operand=_PATH,
    effect=Effect.INSIDE,
)
_list("npm test, npm t, pnpm test, yarn test", operand=_NONE)
# Not `yarn run`: it also runs any program of a dependency, such as one that takes a script from a pipe.
_list("npm run, pnpm run", operand=_SCRIPT, most=1)
_list("npm ls, npm outdated, pnpm ls, pnpm outdated", "--all --json", "--depth", operand=_SCRIPT)
_list(
    "make, gmake", "-ksBnj --keep-going --silent --always-make --dry-run", "-j --jobs", r"[A-Za-z0-9][\w.-]*"
)
_CARGO = (
    "-qv --release --all --workspace --all-targets --all-features --no-default-features --locked --offline"
)
_list(
    "cargo build, cargo check, cargo test, cargo clippy, cargo doc, cargo bench, cargo tree, cargo metadata",
    f"{_CARGO} --frozen --lib --bins --tests --examples --benches --no-run --no-fail-fast --no-deps --quiet",
    "-pFj --package --features --test --bin --example --jobs",
    operand=r"[\w:]+",
    most=1,
)
_list("cargo fmt", "--all", must_be_named=True)
_list("cargo fmt --check", "--all")
_list(
    "go test, go vet, go list",
    "-v -race -short -json -failfast -cover -m -deps -x -a -benchmem -u",
    "-run -count -timeout -bench -parallel -cpu -tags -skip",
    operand=_PACKAGE,
    bundles=False,
    effect=Effect.INSIDE,
)
_list("go version", operand=_NONE)
_list("go env", operand=r"[A-Z_]+")
_list("go doc", operand=r"[\w./]+")
_list(
    "ruff check, ruff format --check, ruff format --diff",
    "-qv --diff --no-fix",
    operand=_PATH,
    effect=Effect.INSIDE,
    below=1,
    reads_directories=True,
)
_list(
    "mypy",
    "--strict --no-incremental --pretty",
    operand=_PATH,
    effect=Effect.INSIDE,
    below=1,
    reads_directories=True,
)
