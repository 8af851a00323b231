"""Arguments that make an ordinary command run another program, write a file, or take a program as text.

A word not known before the command runs could be any of them. The table cannot be complete; it covers the
commands that are commonly allowed.
"""

import re

from chorus.policy.shell_syntax import Word

# The user is asked about these whatever the rules say: they run something that is not on their line, change
# the user or machine they run as, or change the shell for the commands that follow.
ALWAYS_ASK = frozenset(
    """
    eval source . exec trap alias unalias enable hash bind fc history set shopt setopt unsetopt emulate
    zmodload autoload read readarray mapfile getopts declare typeset local export readonly let unset select
    coproc repeat caller su sudo doas pkexec runuser setpriv capsh ssh scp sftp mosh watch entr parallel at
    batch crontab script expect chroot unshare nsenter systemd-run screen tmux busybox toybox docker podman
    kubectl nix-shell npx bunx pipx uvx strace ltrace gdb lldb vi vim nvim ed ex emacs nano less more man
    osascript open xdg-open nc ncat socat telnet flock unbuffer rlwrap
    """.split()  # noqa: SIM905  a list of bare words is easier to read than one of quoted ones
)
# Command name -> arguments to ask about, and long flags to ask about. Long flags may be abbreviated
# (`--comp` for `--compress-program`) and may have a value.
_RISKY: dict[str, tuple[str, str]] = {
    "find": (r"-delete|-fprint.*|-fls|-files0-from", ""),
    "fd|fdfind": (r"-\w*[xX].*", "exec exec-batch"),
    "git": (
        r"-c.*|-x.*|-O.*|-o.*|-C.*|bisect|submodule|filter-branch|difftool|mergetool|config|daemon|instaweb"
        r"|hook|credential.*|clone|ls-remote|archive|.*::.*",
        "config-env exec exec-path upload-pack receive-pack open-files-in-pager ext-diff output extcmd"
        " git-dir work-tree output-directory template",
    ),
    "tar|bsdtar|gtar": (
        r"-?[A-Za-z]*[IF][A-Za-z]*",
        "to-command checkpoint-action use-compress-program info-script new-volume-script rsh-command"
        " rmt-command",
    ),
    "rsync": (r"-\w*[eM].*", "rsh rsync-path daemon remote-option config"),
    "sort": (r"-\w*[oT].*", "output compress-program temporary-directory files0-from"),
    "python.*|pypy.*": (r"-\w*c.*|-", ""),
    "perl.*|ruby.*": (r"-\w*[eErixMIdDC].*|-", "require"),
    "node|nodejs|deno|bun|tsx": (
        r"-\w*[eprC].*|-|eval|x",
        "eval print require import loader experimental-loader env-file inspect inspect-brk run preload",
    ),
    "php.*|lua.*|rscript": (r"-\w*[erRBElS].*|-", "run eval"),
    "awk|gawk|mawk|nawk": (r"(?s).*(?:system|getline|[|>@]).*|-[filEdpo].*|--.*", ""),
    "openssl|gpg|base64|xxd": (r"-out.*|-o.*|-r.*", "output export"),
    "curl": (
        r"-\w*[oOKTDcJ].*",
        "output remote-name config upload-file dump-header cookie-jar trace trace-ascii libcurl stderr hsts"
        " alt-svc etag-save output-dir remote-header-name create-dirs",
    ),
    "make|gmake|just|ninja": (r"-\w*[fCIE].*|\w+[:+?]?=.*", "file makefile directory eval include-dir shell"),
    "go": (r"-exec.*|-toolexec.*|generate|run|tool|-C.*|-modfile.*|-overlay.*", ""),
    "cargo": (r"-Z.*|-C.*", "config manifest-path"),
    "npm|pnpm|yarn": (
        r"exec|x|dlx|config|set|-c.*|-C.*",
        "script-shell call node-options prefix userconfig globalconfig shell dir",
    ),
    "zip": (r"-\w*T.*", "unzip-command test"),
    "rg": (r"", "pre hostname-bin"),
    "date|hostname": (r"-\w*s.*|-F.*", "set file"),
    "test|\\[": (r"-v|-R", ""),
    "printf": (r"-v.*", ""),
    "wget|mount|umount|sysctl": (r".*", ""),
}
_PATTERNS = [
    (re.compile(names), re.compile(arguments), long_flags.split())
    for names, (arguments, long_flags) in _RISKY.items()
]
_SED_FLAGS = {"-n", "-E", "-r", "-s", "-u", "--quiet", "--silent", "--regexp-extended"}
# Print, delete, quit or substitute, without the flags that write a file or run a command.
_SED_SCRIPT = re.compile(r"[0-9,$]*[pdq]|[0-9,$]*s(\W)(?:(?!\1)[^\\\n])*\1(?:(?!\1)[^\\\n])*\1[gpiI0-9]*")


def find_risk(name: str, arguments: list[Word]) -> str | None:
    """The reason why this command cannot be judged by its arguments, if there is one."""
    if name in {"sed", "gsed"}:
        return None if _is_plain_sed(arguments) else "this `sed` may do more than print"
    for names, risky, long_flags in _PATTERNS:
        if names.fullmatch(name):
            for word in arguments:
                if not word.known:
                    return f"`{name}` has arguments that are not known before it runs"
                if risky.fullmatch(word.text) or _is_risky_long_flag(word.text, long_flags):
                    return f"`{name}` with {word.text!r} may run or write something else"
    return None


def _is_risky_long_flag(text: str, long_flags: list[str]) -> bool:
    flag = text.partition("=")[0].removeprefix("--")
    return text.startswith("--") and bool(flag) and any(long.startswith(flag) for long in long_flags)


def _is_plain_sed(arguments: list[Word]) -> bool:
    scripts: list[str] = []
    files: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if not word.known:
            return False
        if word.text == "-e" and rest:
            scripts.append(rest.pop(0).text)
        elif word.text.startswith("-"):
            if word.text not in _SED_FLAGS:
                return False
        else:
            files.append(word.text)
    if not scripts:
        scripts, files = files[:1], files[1:]
    return bool(scripts) and all(_SED_SCRIPT.fullmatch(script) for script in scripts)
