"""A repository as one version of Chorus leaves it: `python -m tests.history.stored_timelines`.

Written once for each format of the timeline and never again: that is what makes it old.
"""

import io
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

from chorus.history.recorder import Recorder
from chorus.model.commits.commit_message import FORMAT
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo, make_template

STORED = Path(__file__).parents[2] / "fixtures" / "timelines"


def unpack(archive: Path, place: Path) -> UserRepo:
    subprocess.run(["tar", "--no-same-owner", "-xzf", archive, "-C", place], check=True)
    return UserRepo(place / "repo")


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        os.environ["HOME"] = place
        make_template(Path(place, "repo"))
        repo = UserRepo(Path(place, "repo"))
        with Recorder.open(repo.path) as recorder:
            agent = Agent(repo, recorder)
            agent.replace("app.py", b"x = 1", b"x = 9", lead_text="I raise x.")
            repo.write("own.txt", b"mine\n")
            agent.edit("new.txt", b"hello\n")
            agent.replace("run.sh", b"hi", b"ho")
        STORED.mkdir(exist_ok=True)
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w:gz") as archive:
            archive.add(repo.path, "repo")
        (STORED / f"format-{FORMAT}.tar.gz").write_bytes(data.getvalue())


if __name__ == "__main__":
    main()
