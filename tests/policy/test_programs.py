"""The lists of harmless arguments, and the programs that stay off them."""

import pytest

from chorus.policy.programs import RUNNERS, SHELL_ONLY, find_arguments


def unlisted(command: str) -> str | None:
    """The first word that is not on the list of its program."""
    words = tuple(command.split())
    found = find_arguments(words)
    assert found is not None, command
    return found[1].find_unlisted(words[len(found[0].split()) :])


@pytest.mark.parametrize("words", [("python", "-m pytest"), ("git", "config --get"), ("git", "tag -l", "x")])
def test_a_word_with_a_blank_is_not_two_words_of_a_name(words: tuple[str, ...]) -> None:
    assert find_arguments((*words, "--anything")) is None


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("head -n 5 x", None),
        ("head -n5 x", None),
        ("head -5 x", None),
        ("head -qn 5 x", None),
        ("head -qn5 x", None),
        ("head --lines=5 x", None),
        ("head --lines 5", "--lines"),
        ("head --line=5", "--line=5"),
        ("head -n -q", "-q"),
        ("head -nx", "-nx"),
        ("head -q5", "-q5"),
        ("cat -5", "-5"),
        ("cat -", None),
        ("ls -", "-"),
        ("ls --", "--"),
        ("grep -n -- x", None),
        ("find . -name x -type f", None),
        ("find . -nametype f", "-nametype"),
        ("find . -name=x", None),
        ("go test -run=x -count 1 ./...", None),
        ("go test -v=x", "-v=x"),
        ("uniq a", None),
        ("uniq a b", "b"),
        ("uniq - b", "-"),
        ("uniq -c - b", "-"),
        ("sed -n 1p a b", None),
        ("sed a 1p", "a"),
        ("git log -n 5 --format=%h main", None),
        ("git log --format=%G? main", "--format=%G?"),
        ("git show --pretty=%h%+GS", "--pretty=%h%+GS"),
        ("git log -L %G", "%G"),
        ("git branch --format=%(signature)", "--format=%(signature)"),
        ("git tag -l v*", None),
        ("git tag v1", "v1"),
        ("git config --get user.name", None),
        ("git config --get a b", "b"),
        ("git cat-file -p a", None),
        ("git cat-file -p a b", "b"),
        ("date +%s", None),
        ("date +%s +%d", "+%d"),
        ("cmp a b 1 2", None),
        ("cmp a b 1 2 3", "3"),
        ("npm run a", None),
        ("npm run a b", "b"),
        ("cargo test a", None),
        ("cargo test a b", "b"),
        ("ls " + "x " * 2000, None),
        ("find . -xdev", None),
        ("find . -ls", None),
        ("find . -dev", "-dev"),
        ("go test -v -race", None),
        ("go test -vrace", "-vrace"),
        ("go doc fmt", None),
        ("go doc -cmd", "-cmd"),
        ("go env -json", "-json"),
        ("git tag --list", None),
        ("make -j 4", None),
        ("make -j4", None),
        ("make -j X=y", "X=y"),
    ],
)
def test_only_listed_words_are_harmless(command: str, word: str | None) -> None:
    assert unlisted(command) == word


# Programs, subcommands and what makes each run or write more than it shows.
MORE_THAN_IT_SHOWS = """
sort: -o -ox -uo --output --output=x --outp=x -T --temporary-directory=x --compress-program=sh --files0-from=x
uniq: --output
diff: -l --paginate -r --recursive -ur
file: -C --compile -z
tree: -o -R
date: -s --set=x 12012020 -f
hostname: x -F
find: -exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from
fd: -x -X --exec --exec=x --exec-batch -l --list-details
rg: --pre --pre=x --hostname-bin=x -z --search-zip -L --follow -nL
grep: -f --file=x -d -R -nR --dereference-recursive --directories=recurse -drecurse
sed: -i -i.bak --in-place -f --file=x -e -n=w w1 1e 1w s/a/b/e s/a/b/w --expression=1e --posix
curl: -o -O -K -T -d --output=x --config=x --upload-file=x -x file:///x x.test
jq: -f --from-file -L
printf: -v %d %n %*s
test: -v -R -o -a a
git log: --output --output=x --ext-diff --textconv --show-signature -O -Ox -nO./x --exec=x
git diff: --output=x --ext-diff --textconv --no-index -Ox -O
git show: --output=x --ext-diff --textconv --show-signature
git grep: -O -Oless --open-files-in-pager -f
git blame: --contents=x -S
git status: -c --exec-path=x
git branch: -D -d -m -M -f -c -u x --edit-description --set-upstream-to=x
git tag: -d -a -s -f -m x
git remote: add update set-url
git add: -p -i -e --edit --patch --pathspec-from-file=x
git commit: -F --file=x -t --template=x -S --gpg-sign -e --no-verify -n -C x
git cat-file: --textconv --filters --batch
pytest: -p -c -o --basetemp=x --junitxml=x --rootdir=x --confcutdir=x --pdbcls=x --pastebin=all @x +x
make: -f -C -I -E -o -W --eval=x --file=x --directory=x X=y X:=y
npm run: a/b -- --script-shell=x --prefix=x
jq: import"x"a; include"x";.
npm test: x --prefix=x
cargo fmt: -- --config=x --manifest-path=x
cargo test: --config --config=x --manifest-path=x --target-dir=x -Z -C --
go test: -exec -exec=x -toolexec=x -vettool=x -o -c -coverprofile=x -C -modfile=x -overlay=x x.test/y ../x
go vet: -vettool -vettool=./x
go env: -w -u A=b
ruff check: --fix --output-file=x --config=x @x
mypy: --python-executable=x --config-file=x --html-report=x @x
mkdir: -m --mode=1
touch: -r -d -t
command -v: -p a/b
cd: -
"""


@pytest.mark.parametrize("row", MORE_THAN_IT_SHOWS.strip().splitlines())
def test_arguments_that_run_or_write_more_than_they_show_are_not_listed(row: str) -> None:
    program, _, words = row.partition(":")
    for word in words.split():
        assert unlisted(f"{program} {word}") == word


@pytest.mark.parametrize(
    "command",
    [
        "git push", "git checkout x", "git mv a b", "git rm a", "git clone x", "git fetch",
        "git submodule", "git bisect run x", "git filter-branch", "git difftool", "git config x y",
        "git stash", "git archive", "git -c a=b log", "git -C x log", "git --exec-path=x log",
        "git --git-dir=x log", "git worktree add x", "git ls-remote --upload-pack=x y", "npm exec x",
        "npm run-script x", "yarn run x",
        "npm install", "cargo run", "cargo install x", "go run x", "go build", "go generate", "tee x",
        "tar xf x", "cp a b", "mv a b", "rm a", "ln -s a b", "dd", "awk x", "python x.py",
        "python -c x", "perl x", "node x", "wget x", "rsync a b", "zip a b", "chmod x", "kill x",
    ],
)  # fmt: skip
def test_other_programs_and_subcommands_have_no_list(command: str) -> None:
    assert find_arguments(tuple(command.split())) is None


def test_programs_that_run_others_have_no_list() -> None:
    for name in RUNNERS | SHELL_ONLY:
        assert find_arguments((name,)) is None, name


@pytest.mark.parametrize(
    ("command", "below"),
    [
        ("rg x", True),
        ("rg x src", False),
        ("grep x", False),
        ("grep -rn x", True),
        ("grep -rn x src", False),
        ("grep --recursive x", True),
        ("find -name x", True),
        ("find src -name x", False),
        ("du", True),
        ("du -s src", False),
        ("tree", True),
        ("tree src", False),
        ("fd x", True),
        ("fd x src", False),
        ("git grep x", True),
        ("git grep x src", False),
        ("git add -A", True),
        ("git add src", False),
        ("ruff check", True),
        ("ruff check src", False),
        ("mypy", True),
        ("cat x", False),
        ("ls", False),
    ],
)
def test_some_commands_read_everything_below(command: str, below: bool) -> None:
    words = tuple(command.split())
    found = find_arguments(words)
    assert found is not None
    assert found[1].reads_below(words[len(found[0].split()) :]) is below
