"""What stands where: brings the model's changes and the person's moves onto the screen.

Receives changes of the model, of the size and of the cursor; tells each part what to show. Never asks
the agent for anything but what the diff needs.
"""

from typing import TYPE_CHECKING

from textual.geometry import Size

from chorus.panel.bars import Said
from chorus.panel.items import Prompt
from chorus.panel.keys import bar_keys
from chorus.panel.layout import PROMPT_ALONE_BELOW, SHORT_BELOW, plan_arrangement
from chorus.panel.model import Change
from chorus.panel.rows import Row, Scope
from chorus.panel.sessions_bar import render_name
from chorus.text.sanitize import sanitize

if TYPE_CHECKING:
    from chorus.panel.app import Panel

LINK_WORDS = {"connecting": "looking for the agent…", "lost": "the agent is away; waiting for it"}
SCOPE_WORDS = {Scope.CHANGES: "changes", Scope.OPEN: "only open", Scope.EVERYTHING: "everything"}


class Stage:
    def __init__(self, panel: "Panel") -> None:
        self._panel = panel
        self._prompt: str | None = None
        self._prompt_folded = False
        self._diff_open = False
        self._zoomed = False
        self._was_lost = False

    def update(self, change: Change) -> None:
        """Show what changed."""
        panel = self._panel
        with panel.batch_update():
            if Change.LINK in change:
                self._update_link()
            if Change.QUEUE in change:
                panel.queue.replan()
            if Change.LOADED in change:
                panel.queue.fold_reviewed()
            if Change.PROMPTS in change or Change.SESSIONS in change:
                self._update_prompt()
            if change & (Change.SESSIONS | Change.PROMPTS | Change.QUEUE | Change.LINK):
                panel.sessions.update_from_model(picked=panel.queue.view.session)
            self.refresh_progress()
            self.refresh_rules()
            if change & (Change.SESSIONS | Change.PROMPTS):
                self.arrange()

    def refresh(self) -> None:
        everything = Change.SESSIONS | Change.PROMPTS | Change.QUEUE
        self.update(everything)
        self._panel.reading.select(self._panel.queue.row)

    def cursor_moved(self, row: Row | None) -> None:
        if self._panel.right.display:
            self._panel.reading.select(row)
        self.refresh_rules()

    def arrange(self, size: Size | None = None) -> None:
        panel = self._panel
        width, height = size or panel.size
        plan = plan_arrangement(
            width,
            height,
            prompt_rows=panel.card.wanted_rows(width) if panel.card.shown else 0,
            queue_rows=len(panel.queue.rows),
            sessions=len(panel.sessions.sessions),
            diff_open=self._diff_open,
            prompt_folded=self._prompt_folded,
            zoomed=self._zoomed,
        )
        if not panel.body.has_class(plan.body):  # the toolkit styles everything anew, changed or not
            panel.body.set_classes(plan.body)
        panel.screen_stack[0].set_class(plan.short, "-short")
        panel.sessions.set_room(plan.sessions)
        panel.card.set_room(plan.prompt, small=plan.prompt_small, keys=not plan.short)
        self.refresh_rules()
        panel.call_after_refresh(self._settle)

    def open_diff(self) -> None:
        self._diff_open = True
        self.arrange()
        self._panel.screen.set_focus(self._panel.diff)

    def close_diff(self) -> None:
        self.show_queue()
        self._panel.screen.set_focus(self._panel.queue)

    def show_queue(self) -> None:
        self._diff_open = self._zoomed = False
        self.arrange()

    def zoom(self) -> None:
        if self._panel.body.has_class("-diff"):
            self.close_diff()
        else:
            self._zoomed = True
            self.arrange()
            self._panel.screen.set_focus(self._panel.diff)

    def pick_session(self, session: str | None) -> None:
        self._panel.queue.set_session(session)
        self._panel.sessions.update_from_model(picked=session)
        self.refresh_rules()

    def next_session(self) -> None:
        ids: list[str | None] = [None, *(session.id for session in self._panel.sessions.sessions)]
        at = self._panel.queue.view.session
        self.pick_session(ids[(ids.index(at) + 1) % len(ids)] if at in ids else None)

    def next_prompt(self) -> None:
        ids = list(self._panel.model.prompts)
        if len(ids) < 2:
            self._panel.say(Said("no other prompt is open" if ids else "nothing is asked", "info"))
            return
        at = ids.index(self._prompt) if self._prompt in ids else -1
        self._prompt = ids[(at + 1) % len(ids)]
        self._update_prompt()
        self.arrange()

    def fold_prompt(self) -> bool:
        """On a screen too short for both, change between the prompt and the queue."""
        panel = self._panel
        if panel.card.shown is None or self._zoomed or panel.size.height >= PROMPT_ALONE_BELOW:
            return False
        self._prompt_folded = not self._prompt_folded
        self.arrange()
        return True

    def unfold_prompt(self) -> None:
        self._prompt_folded = self._zoomed = False
        self.arrange()

    def refresh_progress(self) -> None:
        panel = self._panel
        progress = [*panel.waiting.progress(), *panel.model.progress.values()]
        panel.status.show_progress(progress, LINK_WORDS.get(panel.model.link, ""))

    def refresh_rules(self) -> None:
        panel = self._panel
        queue, entry = panel.queue, panel.queue.entry
        count = panel.model.open_count
        right = [] if queue.view.scope is Scope.CHANGES else [(SCOPE_WORDS[queue.view.scope], "muted")]
        if queue.view.needle:
            right = [(f"/{sanitize(queue.view.needle)}", "waiting"), *([(" ", ""), *right] if right else [])]
        if not panel.model.complete and panel.model.link == "live":
            right = [("reading the log…", "muted")]
        left = [
            ("Queue ", "heading"),
            (f"{count} open" if count else "nothing open", "open" if count else "muted"),
        ]
        panel.queue_rule.show(left, right)
        panel.key_bar.show(
            bar_keys(
                prompt=panel.card.shown is not None and panel.size.height < SHORT_BELOW,
                entry_open=entry is None or entry.open,
                reverted=entry is not None and entry.status == "reverted",
            )
        )

    def _update_link(self) -> None:
        model = self._panel.model
        if model.link == "lost" and not self._was_lost:
            self._was_lost = True
            self._panel.say(Said(f"lost the agent: {model.link_text}", "warning"))
        elif model.link == "live":
            self._was_lost = False
            if model.link_text:
                self._panel.say(Said(model.link_text, "done" if "again" in model.link_text else "warning"))

    def _update_prompt(self) -> None:
        """Keep showing the prompt that is shown while it is there; then the oldest."""
        panel = self._panel
        prompts = panel.model.prompts
        if self._prompt not in prompts:
            self._prompt = next(iter(prompts), None)
            self._prompt_folded = False
            self._zoomed &= self._prompt is None  # a new prompt is to be seen
        prompt = prompts.get(self._prompt) if self._prompt else None
        panel.card.show(prompt, whose=self._whose(prompt), place=self._place())
        for screen in panel.screen_stack[1:]:
            if hasattr(screen, "refresh_foot"):
                screen.refresh_foot()

    def _whose(self, prompt: Prompt | None) -> str:
        session = self._panel.model.sessions.get(prompt.session) if prompt else None
        return render_name(session, self._panel.model) if session else ""

    def _place(self) -> str:
        ids = list(self._panel.model.prompts)
        return f"{ids.index(self._prompt) + 1} of {len(ids)}" if len(ids) > 1 and self._prompt in ids else ""

    def _settle(self) -> None:
        """After the parts found their places: the cursor in sight, something in focus, a diff read."""
        panel = self._panel
        panel.queue.reveal(panel.queue.cursor)
        if len(panel.screen_stack) == 1 and panel.screen.focused is None and panel.queue.is_on_screen:
            panel.queue.focus()
        if panel.right.display:
            panel.reading.ensure(panel.queue.row)
