"""What clients do differently, by version: facts that the lab and the tests ask for, in one table.

A client that is not in the table is taken for the newest one in it that is not newer.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClientBehavior:
    """The newest client's; a row of the table says what an older one does otherwise."""

    # It edits a file that it has not read, or that was changed since it read it.
    edits_unread_files: bool = True
    # It uses settings that are written in its first seconds, and in a directory that was not there before.
    sees_early_settings: bool = True
    sees_new_settings_directory: bool = True
    # What its footer says while it asks about every edit.
    asking_mode: str = "manual mode on"
    # A prompt for a command offers a mode in which nothing is asked any more, beside a rule for the command.
    offers_auto_mode: bool = True
    # In a pane of 40 columns a prompt offers what holds for longer than this one time.
    grants_in_narrow_panes: bool = False
    # How many answers of the permission matrix its dialogs have no one option for.
    answers_without_option: int = 3


NEWEST = ClientBehavior()
BY_VERSION: dict[tuple[int, ...], ClientBehavior] = {
    (2, 1, 191): ClientBehavior(
        edits_unread_files=False,
        sees_early_settings=False,
        sees_new_settings_directory=False,
        asking_mode=r"\? for shortcuts",
        offers_auto_mode=False,
        grants_in_narrow_panes=True,
        answers_without_option=1,
    ),
    (2, 1, 257): ClientBehavior(sees_early_settings=False),
    (2, 1, 325): NEWEST,
}


def behavior_of(version: str) -> ClientBehavior:
    number = tuple(map(int, version.split(".")))
    return next((BY_VERSION[known] for known in sorted(BY_VERSION, reverse=True) if known <= number), NEWEST)
