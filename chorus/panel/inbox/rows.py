"""The rows of the live inbox: each repository, and below it its prompts, sessions and open actions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from chorus.model.api.json_api import InboxRepositoryJson, LogEntryJson, PromptJson, SessionJson
from chorus.model.prompt import summarize_prompt
from chorus.panel.style.labels import STATE_LABELS, STATE_SYMBOLS, render_time
from chorus.panel.widgets.line_pane import Pieces
from chorus.text.sanitize import sanitize
from chorus.text.width import cell_width, cut, cut_start, pad

RowKind = Literal["repository", "problem", "prompt", "session", "action", "more"]


@dataclass(frozen=True, slots=True)
class InboxRow:
    """A row of the inbox, identified by `kind`, `key` and `id`.

    `key`: the key of the repository. `id`: the id of the prompt, session or action.
    """

    kind: RowKind
    key: str
    id: str
    left: str
    right: str = ""
    style: str = ""

    @property
    def name(self) -> tuple[str, str, str]:
        return self.kind, self.key, self.id


def plan_rows(repositories: Mapping[str, InboxRepositoryJson]) -> list[InboxRow]:
    rows: list[InboxRow] = []
    for key, repository in repositories.items():
        rows.append(_repository_row(key, repository))
        if repository["problem"]:
            rows.append(InboxRow("problem", key, "", f"! {sanitize(repository['problem'])}", style="warning"))
        rows += [_prompt_row(key, prompt, repository["path"]) for prompt in repository["prompts"]]
        rows += [_session_row(key, session) for session in repository["sessions"]]
        rows += [_action_row(key, action) for action in reversed(repository["actions"])]
        if (more := repository["open"] - len(repository["actions"])) > 0:
            rows.append(InboxRow("more", key, "", f"… {more} more: chorus log --open", style="muted"))
    return rows


def render_row(row: InboxRow, width: int) -> Pieces:
    indent = 1 if row.kind == "repository" else 3
    right = cut_start(row.right, max(width // 2, 0))  # the end of a path says more, and the time is last
    room = max(width - indent - cell_width(right) - 2, 0)
    return [(" " * indent, ""), (pad(cut(row.left, room), room), row.style), (f" {right} ", "muted")]


def _repository_row(key: str, repository: InboxRepositoryJson) -> InboxRow:
    stopped = repository["state"] == "stopped"
    counts = [(len(repository["prompts"]), "waiting"), (repository["open"], "open")]
    sums = "no watcher" if stopped else " · ".join(f"{n} {word}" for n, word in counts if n)
    style = "muted" if stopped else "heading"
    return InboxRow("repository", key, "", sanitize(repository["name"]), sums, style)


def _prompt_row(key: str, prompt: PromptJson, root: str) -> InboxRow:
    about = sanitize(summarize_prompt(prompt, root))
    text = f"{STATE_SYMBOLS['waiting']} {sanitize(prompt['title'])}: {about}"
    return InboxRow("prompt", key, prompt["id"], text, render_time(prompt.get("since") or ""), "waiting")


def _session_row(key: str, session: SessionJson) -> InboxRow:
    state = session["state"]
    name = sanitize(session.get("title") or session["id"][:8])
    label = STATE_LABELS.get(state, sanitize(state))
    return InboxRow("session", key, session["id"], f"{STATE_SYMBOLS.get(state, ' ')} {name}", label, state)


def _action_row(key: str, action: LogEntryJson) -> InboxRow:
    paths = action.get("paths") or [""]
    summary = sanitize(action["summary"] or paths[0])
    counts = " ".join(
        f"{sign}{n}" for sign, n in (("+", action.get("added")), ("−", action.get("removed"))) if n
    )
    right = " ".join(part for part in (sanitize(paths[0]), counts, render_time(action["time"])) if part)
    return InboxRow("action", key, str(action["id"]), f"○ {action.get('n')} {summary}", right, "open")
