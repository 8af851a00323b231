"""Differences between client versions that tests depend on.

A version that is not in the table behaves like the newest one in it that is not newer.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClientBehavior:
    """The defaults are those of the newest client; the table has the differences of older ones."""

    # Edits a file that it has not read, or that changed since.
    edits_unread_files: bool = True
    # Uses settings written in its first seconds, and in a directory that did not exist before.
    sees_early_settings: bool = True
    sees_new_settings_directory: bool = True
    # The footer while it asks about every edit.
    asking_mode: str = "manual mode on"
    # A prompt for a command offers auto mode, beside a rule for the command.
    offers_auto_mode: bool = True
    # In a pane of 40 columns a prompt offers answers for the whole session.
    grants_in_narrow_panes: bool = False
    # How many answers of the permission matrix have no single option in its dialogs.
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
