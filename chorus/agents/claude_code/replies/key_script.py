"""Which option an answer takes.

Receives an answer, the prompt it was decided on, and the same prompt as it stands now. Gives the script
of keys. An answer that fits no option, or more than one, is refused before any key.
"""

from typing import assert_never

from chorus.agents.claude_code.replies.questions import answer_questions
from chorus.agents.claude_code.replies.steps import Script, Stop, check_text, final, take_option
from chorus.model.answer import Allow, AllowAlways, Answer, Choose, Deny, Replies
from chorus.model.prompt import Meaning, Prompt

_ESCAPE_OFFERED = "Esc to cancel"


def plan_script(answer: Answer, decided: Prompt, present: Prompt) -> Script:
    """The keys for this answer. `present` is `decided` with the mark perhaps elsewhere."""
    for words in _texts(answer):
        check_text(words)
    match answer:
        case Allow(text):
            return take_option(present, _only(decided, "allow"), text)
        case AllowAlways():
            return take_option(present, _only(decided, "allow-always"), None)
        case Deny(text):
            return _deny(decided, present, text)
        case Choose(key, text):
            return take_option(present, _chosen(decided, key), text)
        case Replies(replies):
            return answer_questions(present, replies)
        case _:
            assert_never(answer)


def _texts(answer: Answer) -> list[str]:
    match answer:
        case AllowAlways():
            return []
        case Replies(replies):
            return [reply.text for reply in replies if reply.text is not None]
        case _:
            return [] if answer.text is None else [answer.text]


def _only(prompt: Prompt, meaning: Meaning) -> int:
    found = [index for index, option in enumerate(prompt.options) if option.meaning == meaning]
    if len(found) == 1:
        return found[0]
    if not found:
        raise Stop(f"no option of this prompt means {meaning!r}")
    labels = " · ".join(f"{prompt.options[index].key}: {prompt.options[index].label}" for index in found)
    raise Stop(f"more than one option means {meaning!r}, name one: {labels}")


def _listed(prompt: Prompt, key: str) -> int:
    for index, option in enumerate(prompt.options):
        if option.key == key:
            return index
    raise Stop(f"this prompt has no option {key!r}")


def _chosen(prompt: Prompt, key: str) -> int:
    index = _listed(prompt, key)
    # The number of a box ticks it, and the dialog stays; only the way out below the boxes leaves it.
    if prompt.ticked is not None and index < len(prompt.options) - 1:
        raise Stop("this question takes several choices: give them together, with `chorus answer`")
    return index


def _deny(decided: Prompt, present: Prompt, text: str | None) -> Script:
    if decided.keys_meaning("deny"):
        return take_option(present, _only(decided, "deny"), text)
    if text is not None and decided.kind == "plan":
        fields = [index for index, option in enumerate(decided.options) if option.text == "instead"]
        return take_option(present, fields[0], text)
    if text is None and _ESCAPE_OFFERED in present.footer:
        return _escape()
    raise Stop("this dialog has no option that says no" + ("" if text else "; a message may"))


def _escape() -> Script:
    yield final("Escape")
