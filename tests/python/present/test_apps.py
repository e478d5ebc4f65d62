"""`lull apps`: a list for people and programs, and a path for launchers."""

from __future__ import annotations

import json
import os
from pathlib import Path

from conftest import Lull


def test_the_path_of_an_application_is_for_launchers(lull: Lull) -> None:
    done = lull.run("apps", "histogram")
    path = Path(done.stdout.strip())
    assert (path.name, os.access(path, os.X_OK)) == ("histogram", True)


def test_the_list_says_what_each_does(lull: Lull) -> None:
    found = {one["name"]: one for one in json.loads(lull.run("apps", "--format", "json").stdout)}
    assert found["histogram"]["does"] == "Histogram: every PE increments bins spread over all PEs."
    assert "histogram" in lull.run("apps").stdout


def test_another_name_is_refused_with_those_there_are(lull: Lull) -> None:
    done = lull.run("apps", "histogramm")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert "histogram, " in done.stderr
