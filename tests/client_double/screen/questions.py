"""AskUserQuestion on the screen: one question or several, one choice or many, or free text.

A digit chooses; where many may be chosen it toggles, and Tab goes on to the next question. After
the last of several questions the answers are reviewed and submitted.
"""

from dataclasses import dataclass, field
from typing import Any

from tests.client_double.output import Answer
from tests.client_double.screen.text import ACCENT, BOLD, DIM, RULE, paint, wrap
from tests.client_double.values import Json

SUBMIT = ("Submit answers", "Cancel")


@dataclass(slots=True)
class Questionnaire:
    questions: list[Json]
    page: int = 0
    marked: int = 0
    words: str | None = None
    chosen: dict[int, list[str]] = field(default_factory=dict)
    complete: bool = True

    @property
    def name(self) -> str:
        return f"AskUserQuestion {self.questions[0].get('question', '')}"

    def press(self, key: str) -> Answer | None:
        if self.words is not None:
            return self._type(key)
        labels = self._labels()
        if key.isdigit() and 1 <= int(key) <= len(labels):
            return self._choose(int(key) - 1)
        match key:
            case "enter":
                return self._choose(self.marked)
            case "escape":
                return Answer(False)
            case "up" | "down":
                self.marked = (self.marked + (1 if key == "down" else -1)) % len(labels)
            case "tab" | "right" if self._several:
                self._turn_to(self.page + 1)
            case "left" if self._several:
                self._turn_to(self.page - 1)
        return None

    def render(self, columns: int) -> list[str]:
        rows = [paint("─" * columns, RULE), *self._tabs(), ""]
        if self.page == len(self.questions):
            return rows + self._review()
        question = self.questions[self.page]
        rows += [paint(row, BOLD) for row in wrap(str(question["question"]), columns)] + [""]
        choices = question["options"]
        for place, choice in enumerate(choices):
            box = self._box(str(choice["label"]))
            rows.append(f"{self._lead(place)}{box}{choice['label']}")
            indent = " " * (5 + len(box))
            rows += [
                indent + paint(row, DIM) for row in wrap(str(choice.get("description", "")), columns - 6)
            ]
        own = self.words if self.words else "Type something" + ("" if self._many else ".")
        rows.append(f"{self._lead(len(choices))}{'[ ] ' if self._many else ''}{own}")
        rows += ["     Next"] if self._many else []
        rows += [paint("─" * columns, RULE), f"{self._lead(len(choices) + 1)}Chat about this", ""]
        keys = "Tab/Arrow keys" if self._several else "↑/↓"
        return [*rows, paint(f"Enter to select · {keys} to navigate · Esc to cancel", DIM)]

    @property
    def _several(self) -> bool:
        return len(self.questions) > 1 or any(question.get("multiSelect") for question in self.questions)

    @property
    def _many(self) -> bool:
        return bool(self.questions[self.page].get("multiSelect"))

    def _labels(self) -> list[str]:
        if self.page == len(self.questions):
            return list(SUBMIT)
        choices: list[Any] = self.questions[self.page]["options"]
        return [*(str(choice["label"]) for choice in choices), "", ""]

    def _choose(self, place: int) -> Answer | None:
        labels = self._labels()
        if self.page == len(self.questions):
            return self._answer() if place == 0 else Answer(False)
        if place == len(labels) - 1:
            return Answer(False)
        if place == len(labels) - 2:
            self.marked, self.words = place, ""
            return None
        taken = self.chosen.setdefault(self.page, [])
        if not self._many:
            self.chosen[self.page] = [labels[place]]
            return self._go_on()
        if labels[place] in taken:
            taken.remove(labels[place])
        else:
            taken.append(labels[place])
        self.marked = place
        return None

    def _type(self, key: str) -> Answer | None:
        assert self.words is not None
        if key == "enter":
            self.chosen[self.page] = [self.words]
            self.words = None
            return self._go_on()
        if key == "escape":
            self.words = None
        elif key == "backspace":
            self.words = self.words[:-1]
        elif len(key) == 1:
            self.words += key
        return None

    def _go_on(self) -> Answer | None:
        if not self._several:
            return self._answer()
        self._turn_to(self.page + 1)
        return None

    def _turn_to(self, page: int) -> None:
        self.page, self.marked = page % (len(self.questions) + 1), 0

    def _answer(self) -> Answer:
        said = {
            str(question["question"]): ", ".join(self.chosen.get(page, ()))
            for page, question in enumerate(self.questions)
        }
        return Answer(True, answers=said)

    def _tabs(self) -> list[str]:
        marks = ["☒" if self.chosen.get(page) else "☐" for page in range(len(self.questions))]
        names = [f"{mark} {q.get('header', '')}" for mark, q in zip(marks, self.questions, strict=True)]
        return [f"←  {'  '.join(names)}  ✔ Submit  →"] if self._several else [f" {names[0]}"]

    def _review(self) -> list[str]:
        rows = ["Review your answers", ""]
        for question, said in (self._answer().answers or {}).items():
            rows += [f" ● {question}", f"   → {said}"]
        rows += ["", "Ready to submit your answers?", ""]
        return rows + [f"{self._lead(place)}{label}" for place, label in enumerate(SUBMIT)]

    def _lead(self, place: int) -> str:
        return f"{paint('❯', ACCENT) if place == self.marked else ' '} {place + 1}. "

    def _box(self, label: str) -> str:
        if not self._many:
            return ""
        return "[✔] " if label in self.chosen.get(self.page, ()) else "[ ] "
