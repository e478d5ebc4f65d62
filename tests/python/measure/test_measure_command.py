"""`lull measure` as a user calls it: what passes through, what is written, what remains when it is killed."""

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from bounds import TIMEOUT_S
from conftest import Lull, gone, processes_with, wait_until
from lull import record
from lull.base.errors import LullError

WRITES_AN_ACCOUNT = """
import json, os, time
begin = time.monotonic_ns(); time.sleep(0.3); end = time.monotonic_ns()
json.dump({"schema": 2, "node": os.uname().nodename, "pid": os.getpid(), "pe": 0,
           "regions": [{"name": "updates", "begin_ns": begin, "end_ns": end, "cpu_ns": 5}],
           "metrics": [{"name": "updates", "value": 1000, "unit": "1", "combination": "sum"}]},
          open(os.environ["LULL_RECORD"] + "/regions-0.json", "w"))
"""


def only_record(folder: Path) -> record.Run:
    [found] = folder.iterdir()
    return record.read(found)


def test_output_and_input_are_those_of_the_command(lull: Lull) -> None:
    done = lull.run("measure", "--", "cat", stdin="through\n")
    assert (done.returncode, done.stdout) == (0, "through\n")
    assert "record in results/cat-" in done.stderr


def test_the_exit_code_is_that_of_the_command_and_the_record_is_written(lull: Lull) -> None:
    done = lull.run("measure", "--out", "r", "--", "sh", "-c", "exit 3")
    assert done.returncode == 3
    assert record.read(lull.folder / "r").repeats[0].exit_code == 3
    assert "1 of 1 repeats failed" in done.stderr


def test_a_failing_repeat_does_not_stop_the_others(lull: Lull) -> None:
    script = "test -e flag && exit 0; touch flag; exit 5"
    done = lull.run("measure", "--runs", "3", "--out", "r", "sh", "-c", script)
    assert done.returncode == 5
    assert [repeat.exit_code for repeat in record.read(lull.folder / "r").repeats] == [5, 0, 0]


@pytest.mark.parametrize(("runs", "words"), [(1, "1 run"), (5, "5 runs"), (6, "")])
def test_too_few_runs_for_an_interval_say_how_many_it_takes(lull: Lull, runs: int, words: str) -> None:
    done = lull.run("measure", "--runs", str(runs), "--out", "r", "true")
    line = f"lull: no interval by {words}: it takes 6, and --runs 10 is recommended"
    assert (line in done.stderr.splitlines()) == bool(words), done.stderr


def test_options_after_the_command_are_its_own(lull: Lull) -> None:
    done = lull.run("measure", "--out", "r", "echo", "--runs", "7", "--help")
    assert done.stdout == "--runs 7 --help\n"


def test_warm_up_runs_are_run_and_not_recorded(lull: Lull) -> None:
    lull.run("measure", "--warmup", "2", "--runs", "3", "--out", "r", "sh", "-c", "echo x >> ran")
    assert len((lull.folder / "ran").read_text().splitlines()) == 5
    assert [repeat.index for repeat in record.read(lull.folder / "r").repeats] == [0, 1, 2]


def test_the_record_holds_time_energy_regions_and_metrics(lull: Lull) -> None:
    done = lull.run("measure", "--hz", "50", "--out", "r", "--label", "mine", "python3", "-c", WRITES_AN_ACCOUNT)
    assert done.returncode == 0
    run = record.read(lull.folder / "r")
    [repeat] = run.repeats
    assert run.label == "mine"
    assert repeat.wall_s >= 0.3
    assert repeat.totals
    assert "node" in {total.domain for total in repeat.totals}
    [region] = repeat.regions
    assert (region.name, region.count, region.pes) == ("updates", 1, 1)
    assert 0.3 <= region.wall_s <= repeat.wall_s
    for part, whole in zip(region.energy, repeat.energy, strict=True):
        assert part.joules <= whole.joules * 1.0001
        assert part.low_j <= part.joules <= part.high_j
    assert repeat.metrics["updates"].value == 1000
    samples = record.read_samples(lull.folder / "r")
    assert samples.num_rows >= 2 * len(run.channels)


def test_an_account_that_is_cut_off_is_a_warning(lull: Lull) -> None:
    done = lull.run("measure", "--out", "r", "sh", "-c", 'printf "{" > $LULL_RECORD/regions-1.json')
    assert done.returncode == 0
    assert "regions-1.json of the program is left out" in done.stderr


def test_a_command_that_is_not_there_exits_127_and_leaves_nothing(lull: Lull) -> None:
    done = lull.run("measure", "--out", "r", "no-such-command")
    assert done.returncode == 127
    assert "no-such-command" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (lull.folder / "r").exists()


@pytest.mark.parametrize("out", ["file/below", "/proc/lull/r", "/sys/lull", "full"])
def test_a_folder_that_cannot_be_written_is_refused_before_the_command_runs(lull: Lull, out: str) -> None:
    (lull.folder / "file").write_text("")
    (lull.folder / "full").mkdir()
    (lull.folder / "full" / "thing").write_text("")
    done = lull.run("measure", "--out", out, "touch", "ran")
    assert done.returncode == 125
    assert len(done.stderr.splitlines()) == 1
    assert not (lull.folder / "ran").exists()


def test_a_setting_that_is_not_valid_is_refused_before_the_command_runs(lull: Lull) -> None:
    lull.env["LULL_WAIT"] = "dream"
    done = lull.run("measure", "touch", "ran")
    assert done.returncode == 125
    assert "LULL_WAIT" in done.stderr
    assert not (lull.folder / "ran").exists()


def test_a_source_that_does_not_exist_is_one_line(lull: Lull) -> None:
    lull.env["LULL_METER_SOURCES"] = "crystal-ball"
    done = lull.run("measure", "true")
    assert done.returncode == 125
    assert "crystal-ball" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("args", [[], ["--runs", "0", "true"], ["--hz", "1000", "true"], ["--rnus", "3", "true"]])
def test_wrong_usage_is_one_line_and_not_an_exit_code_of_the_command(lull: Lull, args: list[str]) -> None:
    done = lull.run("measure", *args)
    assert done.returncode == 125
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_and_keeps_the_whole_repeats(lull: Lull, signum: int, code: int) -> None:
    process = lull.start(
        "measure",
        "--runs",
        "3",
        "--out",
        "r",
        "sh",
        "-c",
        "test -e two && touch three && sleep 600; test -e one && touch two; touch one",
    )
    assert wait_until((lull.folder / "three").exists)
    process.send_signal(signum)
    _, stderr = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == code
    assert "interrupted by" in stderr
    assert len(record.read(lull.folder / "r").repeats) == 2
    assert gone(str(lull.folder))


def test_a_signal_in_the_first_repeat_leaves_nothing(lull: Lull) -> None:
    process = lull.start("measure", "--out", "r", "sh", "-c", "touch on; sleep 600")
    assert wait_until((lull.folder / "on").exists)
    process.terminate()
    process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 143
    assert not (lull.folder / "r").exists()


def test_a_command_that_ignores_the_signal_is_killed_when_asked_twice(lull: Lull) -> None:
    process = lull.start("measure", "sh", "-c", "trap '' TERM; touch on; while :; do sleep 0.1; done")
    assert wait_until((lull.folder / "on").exists)

    def ended_when_asked() -> bool:  # signals that arrive together are one
        if not processes_with(str(lull.folder), "touch on", name="sh"):
            return True
        process.terminate()
        return False

    assert wait_until(ended_when_asked, every_s=0.5)
    process.communicate(timeout=TIMEOUT_S)
    assert process.returncode in (143, -signal.SIGTERM)  # the last signal may come when the command has just ended


def test_usr1_is_for_the_command(lull: Lull) -> None:
    process = lull.start(
        "measure", "--out", "r", "sh", "-c", "trap 'exit 9' USR1; touch on; while :; do sleep 0.05; done"
    )
    assert wait_until((lull.folder / "on").exists)
    process.send_signal(signal.SIGUSR1)
    process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 9


def test_killed_at_any_moment_it_leaves_no_child_and_only_whole_records(lull: Lull) -> None:
    chance = random.Random(7)
    mark = f"LULL_TEST_MARK={lull.folder}"
    lull.env["MARK"] = mark
    for attempt in range(8):
        process = lull.start(
            "measure", "--runs", "2", "--out", f"out/r{attempt}", "sh", "-c", "setsid sleep 0.2 & sleep 0.2; wait"
        )
        time.sleep(chance.uniform(0.2, 1.4))
        process.kill()
        process.communicate()
        assert gone(mark), processes_with(mark)
    for folder in (lull.folder / "out").glob("[!.]*") if (lull.folder / "out").exists() else []:
        assert len(record.read(folder).repeats) in (1, 2)  # each is written when it has ended
        record.read_samples(folder)


def test_a_pause_by_the_user_is_pointed_out(lull: Lull) -> None:
    process = lull.start("measure", "--out", "r", "sh", "-c", "touch on; while [ ! -e go ]; do sleep 0.01; done")
    assert wait_until((lull.folder / "on").exists)
    process.send_signal(signal.SIGSTOP)
    assert wait_until(lambda: Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")
    process.send_signal(signal.SIGCONT)
    (lull.folder / "go").touch()
    _, said = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0
    assert said.count("was stopped for a while (Ctrl-Z)") == 1


def test_what_a_killed_measurement_left_is_removed_by_the_next(lull: Lull) -> None:
    temporary = lull.folder / "tmp"
    temporary.mkdir()
    lull.env["TMPDIR"] = str(temporary)
    running = lull.start("measure", "sleep", "600")
    killed = lull.start("measure", "sh", "-c", "touch on; sleep 600")
    assert wait_until(lambda: (lull.folder / "on").exists() and len(list(temporary.glob("lull-record-*"))) == 2)
    killed.kill()
    killed.communicate()
    for folder in temporary.glob("lull-record-*"):
        os.utime(folder, (0, 0))
    lull.run("measure", "true")
    left = len(list(temporary.glob("lull-record-*")))
    running.kill()
    running.communicate()
    assert left == 1  # that of the one still running


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"schema": 1, "label": "cut', "cut off"),
        ('{"schema": 3}', "newer"),
        ('{"a": 1}', "not a record"),
        ('{"schema": 2}', "not a valid record"),
        ('{"schema": 0}', "schemas begin at 1"),
        ("[]", "not a record"),
    ],
)
def test_a_record_that_is_not_whole_is_refused_in_one_line(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(LullError, match=words):
        record.read(tmp_path)


def test_what_was_measured_is_in_run_json_as_plain_text(lull: Lull) -> None:
    lull.run("measure", "--out", "r", "true")
    content = json.loads((lull.folder / "r" / "run.json").read_text())
    assert content["command"] == ["true"]
    assert "LULL_RECORD" not in content["settings"]
    assert os.listdir(lull.folder) == ["r"]  # noqa: PTH208


FAILING_CONTROLLER = """
test -e good && { echo '{"PowerControl": [{"PowerConsumedWatts": 300}]}'; exit; }
echo x >> asked; %s
"""


@pytest.mark.parametrize("answer", ["echo null", "echo 3", r"printf 'f\\374r nichts'", "echo '{\"PowerControl\": 1}'"])
def test_a_controller_that_comes_to_answer_nonsense_is_a_gap_and_a_line(lull: Lull, answer: str) -> None:
    (lull.folder / "good").touch()
    (lull.folder / "redfish.sh").write_text(FAILING_CONTROLLER % answer)
    lull.sources = "redfish,estimate"
    lull.env = {"LULL_REDFISH_COMMAND": "sh ./redfish.sh", "LULL_COMMAND_INTERVAL_S": "0.05"}
    script = "rm good; until test -e asked && test $(wc -l < asked) -ge 3; do sleep 0.02; done; exit 4"
    done = lull.run("measure", "--out", "r", "sh", "-c", script)
    assert done.returncode == 4, done.stderr
    assert "lull: redfish: a reading is missing: sh ./redfish.sh: " in done.stderr
    [found] = [one for one in record.read(lull.folder / "r").repeats[0].energy if one.channel == "redfish:node"]
    assert found.gaps > 0


def test_a_meter_that_is_configured_and_not_believed_is_said_and_displaces_nothing(lull: Lull) -> None:
    lull.sources = ""
    lull.env = {"LULL_SNMP_COMMAND": "echo 65535"}
    done = lull.run("measure", "--out", "r", "true")
    assert "lull: snmp is not read: echo 65535: 65535 W is not a plausible power of a node" in done.stderr
    assert all(channel.source != "snmp" for channel in record.read(lull.folder / "r").channels)


def test_processes_that_a_repeat_leaves_behind_are_a_line_and_a_number(lull: Lull) -> None:
    done = lull.run("measure", "--out", "r", "sh", "-c", "sleep 60 > /dev/null 2>&1 & echo $! > pid; exit 0")
    os.kill(int((lull.folder / "pid").read_text()), signal.SIGKILL)
    assert "lull: a process of it runs on after the command has ended (sleep)" in done.stderr
    assert record.read(lull.folder / "r").repeats[0].left_behind == 1


def test_a_process_that_waits_for_its_own_leaves_none_behind(lull: Lull) -> None:
    lull.run("measure", "--out", "r", "sh", "-c", "true & wait")
    [repeat] = record.read(lull.folder / "r").repeats
    assert repeat.left_behind == 0
    assert repeat.others_cpu_s is not None


def test_a_killed_measurement_loses_the_run_under_way_and_no_more(lull: Lull) -> None:
    script = "n=$(cat n 2>/dev/null || echo 0); n=$((n + 1)); echo $n > n; test $n -lt 4 || sleep 600"
    process = lull.start("measure", "--runs", "100", "--out", "r", "sh", "-c", script)
    assert wait_until(lambda: (lull.folder / "n").exists() and (lull.folder / "n").read_text() == "4\n")
    process.kill()
    process.communicate()
    assert gone(str(lull.folder))
    found = record.read(lull.folder / "r")
    assert [repeat.index for repeat in found.repeats] == [0, 1, 2]
    assert set(record.read_samples(lull.folder / "r").column("repeat").to_pylist()) == {0, 1, 2}
    (lull.folder / "n").unlink()
    done = lull.run("measure", "--runs", "2", "--append", "r", "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    assert [repeat.index for repeat in record.read(lull.folder / "r").repeats] == [0, 1, 2, 3, 4]


def test_commands_in_turn_leave_no_record_when_one_of_them_is_not_there(lull: Lull) -> None:
    for name, command in (("a", "true"), ("b", "no-such-program")):
        (lull.folder / f"{name}.toml").write_text(f'label = "{name}"\ncommand = "{command}"\n')
    done = lull.run("measure", "--interleave", "--runs", "2", "--out", "r", "a.toml", "b.toml")
    assert done.returncode == 127
    assert not (lull.folder / "r").exists()
