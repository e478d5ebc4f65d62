"""The GitHub action and the GitLab component of ci/: the keys that runners need, and their shell on kept records."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import xml.etree.ElementTree as tree
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import yaml

from places import TOP

ACTION: dict[str, Any] = yaml.safe_load((TOP / "ci" / "github" / "action.yml").read_text(encoding="utf-8"))
COMPONENT = (TOP / "ci" / "gitlab" / "compare.yml").read_text(encoding="utf-8")
SPEC, JOBS = yaml.safe_load_all(COMPONENT)
KEPT = TOP / "docs" / "results" / "first"
EXPRESSION = re.compile(r"\$\{\{ (.+?) \}\}")
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]  # how GitHub's runner starts `shell: bash`
HEAD_OF_TABLE = "|  | direct | 95 % | aggregated | 95 % |  | ratio (95 %) | saved | shift | p |"
UPDATES = "--region updates --per updates"
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]


def evaluate(expression: str, context: dict[str, Any]) -> str:
    """An expression of GitHub's runner, of those that the action uses: names, texts, `==` and `&&`."""
    if "&&" in expression:
        parts = [evaluate(part.strip(), context) for part in expression.split("&&")]
        return str(all(part == "true" for part in parts)).lower()
    if "==" in expression:
        left, right = (evaluate(part.strip(), context) for part in expression.split("=="))
        return str(left == right).lower()
    if expression.startswith("'"):
        return expression.strip("'")
    value: Any = context
    for name in expression.split("."):
        value = value.get(name, {})
    return value or ""


def filled_in(text: str, context: dict[str, Any]) -> str:
    return EXPRESSION.sub(lambda found: evaluate(found[1], context), text)


class Workflow:
    """A job of GitHub Actions that calls the action: its files, and a `gh` that notes its calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.summary, self.output, self.calls = folder / "summary.md", folder / "output", folder / "calls"
        self.existing = folder / "existing"
        tools = folder / "tools"
        tools.mkdir()
        gh = tools / "gh"
        gh.write_text(
            f'#!/bin/sh\necho "$GH_TOKEN $*" >> {self.calls}\n'
            f'case "$*" in *--jq*) cat {self.existing} 2> /dev/null ;; *refused*) exit 1 ;; esac\n'
        )
        gh.chmod(0o755)
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("LULL_", "GITHUB_"))},
            "PATH": f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_REPOSITORY": "some/one",
            "RUNNER_TEMP": str(folder),
        }

    def run(self, event: str = "push", **inputs: str) -> tuple[int, str]:
        """Run the steps as the runner does; the exit code of the first that fails, or 0, and all they print."""
        given = {name: one.get("default", "") for name, one in ACTION["inputs"].items()}
        github = {"token": "secret", "event_name": event, "event": {"pull_request": {"number": "17"}}}
        context: dict[str, Any] = {"github": github, "steps": {}, "inputs": {}}
        inputs = {name.replace("_", "-"): value for name, value in inputs.items()}
        context["inputs"] = {name: filled_in(value, context) for name, value in (given | inputs).items()}
        printed = ""
        for step in STEPS:
            if filled_in(step.get("if", "true"), context) != "true":
                continue
            self.output.write_text("")
            script = self.folder / "step.sh"
            script.write_text(step["run"])
            own = {name: filled_in(value, context) for name, value in step.get("env", {}).items()}
            command = [*BASH, str(script)]
            done = subprocess.run(
                command, cwd=KEPT, env=self.env | own, capture_output=True, text=True, check=False, timeout=300
            )
            printed += done.stdout + done.stderr
            if done.returncode != 0:
                return done.returncode, printed
            outputs = dict(line.split("=", 1) for line in self.output.read_text().splitlines())
            context["steps"][step.get("id", "")] = {"outputs": outputs}
        self.outputs = {name: filled_in(one["value"], context) for name, one in ACTION["outputs"].items()}
        return 0, printed


@pytest.fixture
def workflow(tmp_path: Path) -> Workflow:
    return Workflow(tmp_path)


def test_the_action_has_the_keys_that_the_runner_needs() -> None:
    assert set(ACTION) == {"name", "description", "inputs", "outputs", "runs"}
    assert ACTION["runs"]["using"] == "composite"
    for one in ACTION["inputs"].values():
        assert set(one) == {"description", "required" if one.get("required") else "default"}
        assert isinstance(one.get("default", ""), str), "the runner passes texts"
    for step in STEPS:
        assert {"name", "shell", "run"} <= set(step) <= {"name", "id", "if", "shell", "env", "run"}
        assert "${{" not in step["run"], "an input in a script could be a command: pass it by env"
    text = yaml.safe_dump(ACTION)
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(ACTION["inputs"])
    written = set(re.findall(r'"(\w+)=\$', STEPS[0]["run"]))
    assert set(re.findall(r"steps\.compare\.outputs\.(\w+)", text)) == written
    assert [step["id"] for step in STEPS if "id" in step] == ["compare"]


def test_the_component_has_the_keys_that_the_runner_needs() -> None:
    assert set(SPEC) == {"spec"}
    inputs = SPEC["spec"]["inputs"]
    assert all(set(one) <= {"description", "default"} and one["description"] for one in inputs.values())
    assert set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", COMPONENT)) == set(inputs)
    [job] = JOBS.values()
    assert set(job) == {"stage", "image", "needs", "variables", "script", "artifacts"}
    assert not [line for line in job["script"] if "$[[" in line], "an input in a script could be a command"
    report = job["artifacts"]["reports"]["junit"]
    assert f"--junit {report}" in job["script"][-1]
    assert job["artifacts"]["when"] == "always"


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="needs shellcheck")
@pytest.mark.parametrize("script", [*(step["run"] for step in STEPS), "\n".join(JOBS["$[[ inputs.job ]]"]["script"])])
def test_shellcheck_finds_nothing_in_the_scripts(script: str) -> None:
    words = script.replace("set -- $OPTIONS", 'set -- "$OPTIONS"')  # split into words on purpose
    done = subprocess.run(["shellcheck", "-s", "bash", "-"], input=words, capture_output=True, text=True, check=False)
    assert done.stdout == ""


def test_the_action_writes_table_and_outputs_and_passes(workflow: Workflow) -> None:
    conditions = "speedup<1\ngreenup<0.98"
    code, printed = workflow.run(base="direct", head="aggregated", fail_if=conditions, options=UPDATES)
    assert (code, printed) == (0, "")
    summary = workflow.summary.read_text()
    assert HEAD_OF_TABLE in summary.splitlines()
    assert summary.startswith("<!-- lull compare direct aggregated -->\n")
    assert workflow.outputs["met"] == "false"
    assert Path(workflow.outputs["table"]).read_text() == summary
    assert len(tree.parse(workflow.outputs["junit"]).getroot().findall(".//testcase")) == 1
    assert not workflow.calls.exists(), "a push has no comments"


def test_a_condition_that_is_met_fails_the_job_after_table_and_comment(workflow: Workflow) -> None:
    conditions = "speedup<0.95 greenup<0.98"
    code, printed = workflow.run("pull_request", base="aggregated", head="direct", fail_if=conditions, options=UPDATES)
    assert code == 3
    assert "::error::a condition of fail-if is met" in printed
    summary = workflow.summary.read_text()
    assert "lull: --fail-if speedup<0.95: met, direct has" in summary
    assert "direct against aggregated: region updates" in summary
    [asked, written] = workflow.calls.read_text().splitlines()
    assert asked.startswith("secret api --paginate repos/some/one/issues/17/comments --jq")
    assert written.startswith("secret api --silent --method POST repos/some/one/issues/17/comments -F body=@")
    assert Path(written.partition("body=@")[2]).read_text() == summary


def test_a_later_comparison_replaces_its_comment(workflow: Workflow) -> None:
    workflow.existing.write_text("4711\n4712\n")
    assert workflow.run("pull_request", base="direct", head="aggregated")[0] == 0
    written = workflow.calls.read_text().splitlines()[1]
    assert "--method PATCH repos/some/one/issues/comments/4711 -F body=@" in written


def test_a_comment_that_is_refused_is_a_warning_and_no_comment_is_a_choice(workflow: Workflow) -> None:
    workflow.env["GITHUB_REPOSITORY"] = "some/refused"
    code, printed = workflow.run("pull_request", base="direct", head="aggregated")
    assert code == 0
    assert printed.startswith("::warning::the comparison is not in a comment")
    workflow.calls.unlink()
    assert workflow.run("pull_request", base="direct", head="aggregated", comment="false") == (0, "")
    assert not workflow.calls.exists()


def test_a_record_that_is_missing_is_an_error_with_its_line(workflow: Workflow) -> None:
    code, printed = workflow.run(base="direct", head="nowhere")
    assert code == 1
    assert re.search(r"^::error::lull: .*nowhere", printed, re.MULTILINE)
    assert not workflow.summary.exists()


@pytest.fixture
def notes() -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """An HTTP server in place of GitLab's: its address, and what it was sent: path, token, body."""
    sent: list[tuple[str, str, str]] = []

    class Notes(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            sent.append((self.path, self.headers["PRIVATE-TOKEN"], form["body"][0]))
            self.send_response(201 if self.headers["PRIVATE-TOKEN"] == "good" else 403)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Notes)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/api", sent
    server.shutdown()
    thread.join()
    server.server_close()


def run_job(folder: Path, inputs: dict[str, str], **env: str) -> subprocess.CompletedProcess[str]:
    """The job of the component with these inputs, in a folder with both records."""
    given = {name: one.get("default") for name, one in SPEC["spec"]["inputs"].items()} | {"needs": "measure"} | inputs
    text = re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda found: str(given[found[1]]), COMPONENT)
    [job] = list(yaml.safe_load_all(text))[1].values()
    shutil.copytree(KEPT, folder, dirs_exist_ok=True)
    path = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("LULL_", "CI_"))}
    script = "set -eo pipefail\n" + "\n".join(job["script"])
    variables = clean | path | job["variables"] | env
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=300
    )


def test_the_component_writes_table_and_test_report_and_fails_by_a_condition(tmp_path: Path) -> None:
    inputs = {"base": "aggregated", "head": "direct", "fail_if": "speedup<2 greenup<2", "options": UPDATES}
    done = run_job(tmp_path, inputs)
    assert done.returncode == 3, done.stderr
    assert "direct against aggregated: region updates" in done.stdout
    assert "lull: --fail-if speedup<2: met" in (tmp_path / "lull-compare.md").read_text()
    assert len(tree.parse(tmp_path / "lull-compare.xml").getroot().findall(".//failure")) == 1


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
@pytest.mark.parametrize("token", ["good", "bad"])
def test_the_component_writes_a_comment_if_it_has_a_token(
    tmp_path: Path, notes: tuple[str, list[tuple[str, str, str]]], token: str
) -> None:
    address, sent = notes
    request = {"CI_API_V4_URL": address, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "8", "no_proxy": "127.0.0.1"}
    inputs = {"base": "direct", "head": "aggregated"}
    assert run_job(tmp_path, inputs, **request).returncode == 0
    assert sent == []
    done = run_job(tmp_path, inputs, **request, LULL_GITLAB_TOKEN=token)
    assert done.returncode == 0, done.stderr
    table = (tmp_path / "lull-compare.md").read_text()
    assert HEAD_OF_TABLE in table.splitlines()
    [(path, given, body)] = sent
    assert (path, given, body.splitlines()) == ("/api/projects/3/merge_requests/8/notes", token, table.splitlines())
    assert ("not in a comment" in done.stdout) == (token == "bad")
