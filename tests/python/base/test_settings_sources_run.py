"""`lull settings`, `lull sources` and `lull run` as a user calls them."""

import json
import os
import subprocess
import sys

import pytest

from conftest import Lull
from lull.base import installed
from lull.commands import sources


def test_settings_show_value_origin_and_meaning(lull: Lull) -> None:
    lull.env["LULL_WAIT"] = "poll"
    done = lull.run("settings")
    assert done.returncode == 0
    [row] = [line for line in done.stdout.splitlines() if line.startswith("LULL_WAIT ")]
    assert "poll" in row
    assert "environment" in row


def test_settings_as_json_mark_what_is_not_valid(lull: Lull) -> None:
    lull.env["LULL_WAIT"] = "dream"
    done = lull.run("settings", "--format", "json")
    rows = {row["variable"]: row for row in json.loads(done.stdout)}
    assert rows["LULL_WAIT"]["problem"]
    assert not rows["LULL_METER_HZ"]["problem"]


def test_a_variable_that_is_no_setting_is_pointed_out_with_the_nearest(lull: Lull) -> None:
    lull.env["LULL_WIAT"] = "poll"
    done = lull.run("settings")
    assert done.returncode == 0
    assert "LULL_WIAT is not a setting, did you mean LULL_WAIT?" in done.stderr


def test_sources_end_with_what_a_measurement_would_use(lull: Lull) -> None:
    done = lull.run("sources")
    assert done.returncode == 0
    assert done.stdout.strip().splitlines()[-1].startswith("A measurement here ")


def test_sources_as_json_carry_reason_and_fix(lull: Lull) -> None:
    rows = json.loads(lull.run("sources", "--format", "json").stdout)
    assert "estimate" in {row["name"] for row in rows}
    assert all(row["readable"] or row["reason"] for row in rows)


def test_a_sysroot_that_is_not_there_is_wrong_usage(lull: Lull) -> None:
    done = lull.run("sources", "--sysroot", "/nowhere")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_intervals_are_said_in_words() -> None:
    assert [sources.describe_interval(s) for s in (0, 0.001, 0.1, 2)] == [
        "at every reading",
        "every 1 ms",
        "every 100 ms",
        "every 2 s",
    ]


def test_without_any_source_that_is_said() -> None:
    assert "only times" in sources.what_a_measurement_uses([])


@pytest.mark.parametrize(
    "args",
    [
        ["-n", "0", "true"],
        ["true"],
        ["-n", "2"],
        ["-n", "2", "--nodes", "3", "true"],
        ["-n", "2", "--per-node", "2", "true"],
    ],
)
def test_run_refuses_wrong_usage_in_one_line(lull: Lull, args: list[str]) -> None:
    done = lull.run("run", *args)
    assert done.returncode == 125
    assert len(done.stderr.splitlines()) == 1


def test_more_nodes_than_pes_is_said_so(lull: Lull) -> None:
    assert "more emulated nodes than PEs" in lull.run("run", "-n", "2", "--nodes", "3", "true").stderr


def test_run_says_that_a_program_is_not_there(lull: Lull) -> None:
    done = lull.run("run", "-n", "2", "no-such-app")
    assert done.returncode == 127
    assert "no-such-app" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("options", [["-n", "1"], ["-n", "3"], ["-n", "1", "--no-bind"]])
def test_run_deals_the_cores_to_the_pes(lull: Lull, options: list[str]) -> None:
    cores = sorted(os.sched_getaffinity(0))
    pes = int(options[1])
    program = "import os; os.write(1, f'{sorted(os.sched_getaffinity(0))}\\n'.encode())"
    done = lull.run("run", *options, "--", sys.executable, "-c", program)
    assert done.returncode == 0, done.stderr
    seen = sorted(done.stdout.splitlines())
    if pes == 1:
        distributed = [cores]
    elif pes > len(cores):
        distributed = [[cores[pe % len(cores)]] for pe in range(pes)]
    else:
        distributed = [cores[len(cores) * pe // pes : len(cores) * (pe + 1) // pes] for pe in range(pes)]
    assert seen == sorted(map(str, distributed))


def test_run_passes_options_after_the_program_on_and_its_exit_code_back(lull: Lull) -> None:
    done = lull.run("run", "-n", "2", "sh", "-c", "echo $0 $1; exit 4", "--nodes", "x")
    assert done.returncode == 4
    assert set(done.stdout.splitlines()) == {"--nodes x"}


def test_one_is_no_plural(lull: Lull) -> None:
    launcher = str(installed.executable("lull-launch"))
    split = subprocess.run([launcher, "-n", "1", "--nodes", "2", "true"], capture_output=True, text=True, check=False)
    assert "split 1 PE into 2 emulated nodes" in split.stderr
    lull.env |= {"LULL_STATS": "1", "SHMEM_DEBUG": "1"}
    said = lull.run("run", "-n", "1", "shift", "--max", "8", "--iterations", "1").stderr
    assert "lull: waiting of 1 PE on 1 node in" in said
    assert "PE 0: 1 PE, process" in said
    lull.env = {"LULL_NODES": "2"}
    assert "there is only 1 PE;" in lull.run("run", "-n", "1", "shift").stderr


def test_what_run_says_to_pes_takes_the_place_of_what_was_in_the_environment(lull: Lull) -> None:
    lull.env |= {"LULL_NODES": "4", "PMIX_RANK": "7", "PMI_SIZE": "9"}
    lines = lull.run("run", "-n", "2", "--nodes", "2", "env").stdout.splitlines()
    said = [line for line in lines if line.startswith(("LULL_NODES=", "PMIX_RANK=", "PMI_SIZE="))]
    assert sorted(said) == ["LULL_NODES=2"] * 2 + ["PMIX_RANK=0", "PMIX_RANK=1"] + ["PMI_SIZE=2"] * 2


def test_pes_are_given_for_each_node(lull: Lull) -> None:
    done = lull.run("run", "--per-node", "3", "--nodes", "2", "sh", "-c", "echo $PMIX_RANK $LULL_NODES")
    assert sorted(done.stdout.splitlines()) == [f"{rank} 2" for rank in range(6)]
    assert len(lull.run("run", "--per-node", "2", "echo").stdout.splitlines()) == 2
