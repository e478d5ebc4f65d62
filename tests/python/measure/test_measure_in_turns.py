"""`lull measure` with several commands in turn, up to a precision, with idle power, on a terminal."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
from dataclasses import dataclass
from pathlib import Path

import pyte
import pytest

from bounds import TIMEOUT_S
from conftest import Lull, wait_until
from lull import record
from lull.experiment.interleave import order
from lull.live.published import folder_beside
from lull.measurement import precision
from lull.measurement.command import Command
from lull.measurement.precision import Precision
from lull.measurement.repeat import MeasuredRepeat
from lull.measurement.turns import Plan
from records import repeat


def write_command(lull: Lull, name: str, text: str) -> str:
    (lull.folder / name).write_text(text)
    return name


def test_commands_take_turns_and_are_compared(lull: Lull) -> None:
    a = write_command(lull, "a.toml", "command = \"sh -c 'echo a >> ran'\"\nfactors = {size = 1}\n")
    b = write_command(lull, "b.toml", 'label = "bee"\ncommand = ["sh", "-c", "echo b >> ran"]\n')
    done = lull.run("measure", "--interleave", "--runs", "6", "--warmup", "1", "--out", "both", a, b)
    assert done.returncode == 0, done.stderr
    rounds = (lull.folder / "ran").read_text().split()
    assert len(rounds) == 14
    assert all(sorted(rounds[i : i + 2]) == ["a", "b"] for i in range(0, 14, 2))
    first, second = record.read(lull.folder / "both" / "a"), record.read(lull.folder / "both" / "bee")
    assert (len(first.repeats), len(second.repeats)) == (6, 6)
    assert first.factors == {"size": 1}
    assert first.series == second.series != ""
    compared = json.loads(lull.run("compare", "both/a", "both/bee", "--format", "json").stdout)
    assert compared["comparisons"][0]["in_rounds"]
    assert "bee against a" in done.stderr
    assert "alternate them" not in done.stderr


def test_a_command_runs_in_its_folder_and_with_its_variables(lull: Lull) -> None:
    (lull.folder / "there").mkdir()
    text = 'cwd = "there"\nenv = {MINE = "7", LULL_WAIT = "interrupt"}\n'
    a = write_command(lull, "a.toml", f'{text}command = ["sh", "-c", "echo $MINE > seen"]\nwarmup = 1\n')
    b = write_command(lull, "b.toml", 'command = "true"\n')
    assert lull.run("measure", "--interleave", "--out", "o", a, b).returncode == 0
    assert (lull.folder / "there" / "seen").read_text() == "7\n"
    assert record.read(lull.folder / "o" / "a").settings["LULL_WAIT"] == "interrupt"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("comand = 'true'", "no key 'comand', there are: label, command"),
        ("label = 'x'", "the key 'command' is missing"),
        ("command = []", "command: it names no program"),
        ("command = 'a \"b'", "command: no closing quotation"),
        ("command = 'true'\nwarmup = -1", "warmup: "),
        ("command = 'true'\nlabel = 'a/b'", "label: "),
        ("command = 'true'\ncwd = 'nowhere'", "cwd: there is no folder nowhere"),
        ("command = 'true'\nenv = {LULL_METER_HZ = '3'}", "set it for lull measure itself"),
        ("command = 'true'\nfactors = {a = []}", "factors: "),
        ("command = ", "it is not TOML"),
        ("command = 'true'\nlabel = 'b'", "2 files have the label 'b'"),
    ],
)
def test_a_mistake_in_a_file_is_one_line_and_nothing_runs(lull: Lull, text: str, words: str) -> None:
    a, b = write_command(lull, "a.toml", text), write_command(lull, "b.toml", 'command = "touch ran"\n')
    done = lull.run("measure", "--interleave", "--out", "o", b, a)
    assert done.returncode == 125
    [line] = done.stderr.splitlines()
    assert words in line
    assert not (lull.folder / "ran").exists()
    assert not (lull.folder / "o").exists()


@pytest.mark.parametrize(
    "args",
    [
        ["--interleave", "a.toml"],
        ["--interleave", "a.toml", "b.toml", "--runs", "3"],
        ["--interleave", "--label", "x", "a.toml", "b.toml"],
        ["--seed", "3", "true"],
        ["--max-runs", "9", "true"],
        ["--until-ci", "0", "true"],
        ["--until-ci", "2", "--max-runs", "5", "true"],
        ["--until-ci", "2", "--runs", "20", "--max-runs", "10", "true"],
        ["--idle", "0.1", "true"],
    ],
)
def test_options_that_do_not_go_together_are_one_line(lull: Lull, args: list[str]) -> None:
    done = lull.run("measure", *args)
    assert done.returncode == 125
    assert len(done.stderr.splitlines()) == 1


def test_a_command_of_several_that_is_not_there_leaves_nothing(lull: Lull) -> None:
    a, b = (
        write_command(lull, "a.toml", 'command = "true"\n'),
        write_command(lull, "b.toml", 'command = "no-such-thing"\n'),
    )
    done = lull.run("measure", "--interleave", "--out", "o", a, b)
    assert done.returncode == 127
    assert not (lull.folder / "o").exists()


def test_it_stops_when_the_intervals_are_narrow_and_says_so(lull: Lull) -> None:
    done = lull.run("measure", "--until-ci", "100000", "--out", "r", "sleep", "0.2")  # a wide limit for any machine
    assert done.returncode == 0
    assert "stopped after 6 runs, all intervals are within ±100000 % (time ±" in done.stderr
    assert len(record.read(lull.folder / "r").repeats) == 6


def test_it_stops_at_the_most_runs_and_says_how_wide_it_is(lull: Lull) -> None:
    done = lull.run("measure", "--until-ci", "1e-6", "--max-runs", "7", "--out", "r", "sleep", "0.1")
    assert done.returncode == 0
    assert "stopped after 7 runs, the most allowed" in done.stderr


def test_runs_that_all_fail_are_not_repeated_for_ever(lull: Lull) -> None:
    done = lull.run("measure", "--until-ci", "5", "--out", "r", "false")
    assert done.returncode == 1
    assert "stopped after 6 runs, every run of a command failed" in done.stderr


def test_all_commands_in_turn_go_on_until_each_is_narrow_enough() -> None:
    commands = [Command("a", ["a"], Path("a")), Command("b", ["b"], Path("b"))]
    plan = Plan(1, Precision(2.0, 1, 50))
    for number in range(6):
        commands[0].finished.append(measured(repeat(number, 10.0, 100.0)))
        commands[1].finished.append(measured(repeat(number, 10.0 + number, 100.0 + number)))
    assert plan.reason_to_stop(commands) is None
    assert plan.reason_to_stop(commands[:1]) is not None


def test_the_width_is_that_of_the_wider_end_of_time_and_of_energy() -> None:
    found = precision.half_widths([repeat(i, 10.0, 100.0 + i) for i in range(12)])
    assert found is not None
    assert found["time"] == 0
    assert 0.005 < found["energy"] < 0.06


def test_failed_runs_count_for_no_interval() -> None:
    assert precision.half_widths([repeat(i, 10.0, 100.0, exit_code=i % 2) for i in range(10)]) is None


def test_the_order_of_a_round_depends_on_the_seed_alone() -> None:
    commands = [Command(name, [name], Path(name)) for name in "abcdef"]
    orders = [[command.label for command in order(commands, 3, seed)] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]


def measured(of: record.Repeat):

    return MeasuredRepeat(of, record.SAMPLES_SCHEMA.empty_table())


def test_idle_power_is_in_the_record_and_comparisons_show_the_energy_above_it(lull: Lull) -> None:
    done = lull.run(
        "measure", "--idle", "1.5", "--out", "r", "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"
    )
    assert done.returncode == 0
    run = record.read(lull.folder / "r")
    assert run.idle
    assert all(idle.seconds >= 1.5 for idle in run.idle)
    assert all(idle.low_w <= idle.watts <= idle.high_w for idle in run.idle)
    assert "above idle" in lull.run("compare", "r", "r").stdout


def test_a_signal_while_idle_power_is_measured_leaves_nothing(lull: Lull) -> None:
    process = lull.start("measure", "--idle", "60", "--out", "r", "true")
    assert process.stderr is not None
    assert "measuring idle power" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 130
    assert not (lull.folder / "r").exists()


def test_a_measurement_in_progress_publishes_its_readings_and_takes_them_back(lull: Lull) -> None:
    wait = "until test -e enough; do sleep 0.02; done"
    process = lull.start("measure", "--publish", "--runs", "2", "--out", "r", "sh", "-c", wait)
    folder = folder_beside(lull.folder / "r")
    assert wait_until(lambda: list(folder.glob("[!.]*.json")))
    [path] = folder.glob("[!.]*.json")
    reading = json.loads(path.read_text())
    assert reading["measuring"]["label"] == "sh"
    assert reading["channels"]
    (lull.folder / "enough").touch()
    process.communicate(timeout=TIMEOUT_S)
    assert not folder.exists()
    assert (lull.folder / "r" / "run.json").exists()


@dataclass
class Terminal:
    """The screen of a terminal of 24 rows while a command ran and after its end, and everything written to it."""

    code: int
    during: list[list[str]]
    after: list[str]
    written: str

    @property
    def feet(self) -> set[str]:
        return {screen[-1].strip() for screen in self.during}


POWER = re.compile(r"[1-9]\d* s  .* W")  # what the last line shows from the first second on
UNTIL_SHOWN = "until test -e shown; do sleep 0.05; done"


def on_a_terminal(lull: Lull, *args: str) -> Terminal:
    """Run `lull ARGS` as the foreground of a terminal; the file `shown` appears once the last line shows the power."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
    seen: list[bytes] = []
    screen = pyte.Screen(120, 24)
    stream = pyte.ByteStream(screen)
    during: list[list[str]] = []

    def collect() -> None:
        try:
            while chunk := os.read(ours, 65536):
                seen.append(chunk)
                stream.feed(chunk)
                during.append(list(screen.display))
                if POWER.search(during[-1][-1]):
                    (lull.folder / "shown").touch()
        except OSError:
            return

    def own_the_terminal() -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    reader = threading.Thread(target=collect)
    reader.start()
    process = subprocess.Popen(
        lull.argv(*args),
        cwd=lull.folder,
        env={**lull.environment(), "TERM": "xterm-256color", "COLUMNS": ""},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        preexec_fn=own_the_terminal,  # noqa: PLW1509
    )
    os.close(theirs)
    code = process.wait(timeout=TIMEOUT_S)
    reader.join(timeout=TIMEOUT_S)
    os.close(ours)
    return Terminal(code, during, [line.rstrip() for line in screen.display], b"".join(seen).decode(errors="replace"))


def test_on_a_terminal_the_last_line_shows_the_power_and_is_given_back(lull: Lull) -> None:
    seen = on_a_terminal(lull, "measure", "--runs", "2", "--out", "r", "sh", "-c", f"echo hello; {UNTIL_SHOWN}")
    assert seen.code == 0
    assert any(foot.startswith("sh 1/2, ") and POWER.search(foot) for foot in seen.feet), seen.feet
    assert not any(POWER.search(line) for line in seen.after)
    assert seen.after[0] == "hello"
    assert seen.after[1].startswith("lull: sh 1/2: ")
    assert any(line == "lull: record in r" for line in seen.after)


def test_what_the_program_prints_stays_whole_around_the_line(lull: Lull) -> None:
    lines = "i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo line $i; done; printf half"
    script = f'{lines}; {UNTIL_SHOWN}; echo " done"; sleep 0.7'
    seen = on_a_terminal(lull, "measure", "--out", "r", "sh", "-c", script)
    assert "half done" in seen.after
    last = seen.after.index("half done")
    assert seen.after[last - 3 : last] == ["line 38", "line 39", "line 40"]


@pytest.mark.parametrize("quiet", ["-q", "--quiet"])
def test_quiet_draws_nothing_on_a_terminal(lull: Lull, quiet: str) -> None:
    seen = on_a_terminal(lull, "measure", quiet, "--runs", "2", "--out", "r", "sleep", "1")
    assert seen.code == 0
    assert "\x1b[1;23r" not in seen.written
    assert "1/2: " not in seen.written
    assert "record in r" in seen.written


def test_without_a_terminal_nothing_is_drawn(lull: Lull) -> None:
    assert "\x1b" not in lull.run("measure", "--out", "r", "sleep", "1.2").stderr
