"""The form for a prompt with several questions, or with a question that takes several options."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input

from chorus.model.api.requests import QuestionArgument
from chorus.panel import command_lines
from chorus.panel.forms.form import PromptForm
from chorus.panel.state.items import PromptQuestion
from chorus.text.sanitize import sanitize


class AnswersForm(PromptForm[list[QuestionArgument]]):
    """A form with one input line for each question."""

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield self.text_pane("title")
            for place, question in enumerate(self.prompt.questions):
                yield self.text_pane(f"question-{place}")
                yield Input(placeholder=render_choices(question), id=f"answer-{place}", compact=True)
            yield self.text_pane("foot")

    def on_mount(self) -> None:
        self.show_text("title", [([("Answer: ", "waiting"), (sanitize(self.prompt.title), "title")], "")])
        for place, question in enumerate(self.prompt.questions):
            self.show_text(f"question-{place}", [([(sanitize(question.text), "title")], "")])
        self.refresh_foot()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        inputs = self._inputs()
        place = inputs.index(event.input)
        if place + 1 < len(inputs):
            inputs[place + 1].focus()
        elif self.is_pending() and (answers := self.answers()):
            self.dismiss(answers)
        else:
            self.refresh_foot()

    def answers(self) -> list[QuestionArgument]:
        """Return the answers typed so far. Questions with an empty line are left out."""
        lines = zip(self.prompt.questions, self._inputs(), strict=True)
        return [parse_choices(question, line.value.strip()) for question, line in lines if line.value.strip()]

    def command(self) -> str:
        return command_lines.answer_all(self.prompt.id, self.answers())

    def enter_label(self) -> str:
        return "next / answer"

    def _inputs(self) -> list[Input]:
        return [self.query_one(f"#answer-{place}", Input) for place in range(len(self.prompt.questions))]


def render_choices(question: PromptQuestion) -> str:
    """Render the placeholder of a question's input line: its choices with their numbers."""
    if not question.labels:
        return "Your answer"
    choices = "  ".join(f"{n} {sanitize(label)}" for n, label in enumerate(question.labels, 1))
    return f"{choices}  (one or more, such as 1, 2)" if question.several else choices


def parse_choices(question: PromptQuestion, text: str) -> QuestionArgument:
    """Return the choices that the text names by number or label. Any other text is the user's own answer."""
    labels = list(question.labels)
    parts = [part.strip() for part in text.split(",")] if question.several else [text]
    found = [_find_label(labels, part) for part in parts]
    if labels and all(found):
        return {"question": question.text, "labels": [label for label in found if label], "text": None}
    return {"question": question.text, "labels": [], "text": text}


def _find_label(labels: Sequence[str], text: str) -> str | None:
    if text.isdigit() and text not in labels and 0 < int(text) <= len(labels):
        return labels[int(text) - 1]
    return next((label for label in labels if label.lower() == text.lower()), None)
