"""The processor in `lull doctor`: threads of cores, efficient cores, processors that are offline or not allowed."""

from pathlib import Path

import pytest

from lull.doctor import processor
from lull.doctor.finding import Finding, Machine
from lull.doctor.processor import numbers_in


def machine(folder: Path, files: dict[str, str]) -> Machine:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{text}\n")
    return Machine(folder)


def of_threads(siblings: list[str]) -> dict[str, str]:
    folder = "sys/devices/system/cpu"
    return {f"{folder}/cpu{cpu}/topology/thread_siblings_list": text for cpu, text in enumerate(siblings)}


GRACE = "processor\t: 0\nFeatures\t: fp wfxt\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n"


def test_the_processor_has_its_name_also_on_arm(tmp_path: Path) -> None:
    found = processor.look(machine(tmp_path, {"proc/cpuinfo": GRACE, "sys/devices/system/cpu/online": "0-143"}))
    assert found == Finding("processor", "works", "Arm Neoverse V2, 144 hardware threads, waits in user space (wfxt)")


def test_cores_are_told_from_their_hardware_threads(tmp_path: Path) -> None:
    files = {"sys/devices/system/cpu/online": "0-3", **of_threads(["0,2", "1,3", "0,2", "1,3"])}
    assert "4 hardware threads of 2 cores" in processor.look(machine(tmp_path, files)).found


def test_efficient_cores_and_processors_that_are_offline_are_named(tmp_path: Path) -> None:
    files = {
        "sys/devices/system/cpu/online": "0-3,5",
        "sys/devices/system/cpu/present": "0-7",
        "sys/devices/cpu_core/cpus": "0-3",
        "sys/devices/cpu_atom/cpus": "4-7",
        **of_threads(["0-1", "0-1", "2-3", "2-3", "4", "5"]),
    }
    found = processor.look(machine(tmp_path, files)).found
    assert "5 hardware threads of 3 cores, 1 of them on efficient cores, 3 more offline" in found


@pytest.mark.parametrize(
    ("group", "limits", "quota"),
    [
        ("0::/", {}, None),
        ("0::/job/step", {"job/cpu.max": "max 100000"}, None),
        ("0::/job/step", {"job/cpu.max": "250000 100000", "job/step/cpu.max": "max 100000"}, 2.5),
        ("4:cpu:/x\n0::/job/step", {"job/cpu.max": "250000 100000", "job/step/cpu.max": "100000 100000"}, 1),
    ],
)
def test_a_quota_of_processor_time_is_the_least_of_all_groups(
    tmp_path: Path, group: str, limits: dict[str, str], quota: float | None
) -> None:
    files = {"proc/self/cgroup": group, **{f"sys/fs/cgroup/{name}": text for name, text in limits.items()}}
    assert processor._quota(machine(tmp_path, files)) == quota


def test_lists_of_numbers_are_read_as_the_kernel_writes_them() -> None:
    assert numbers_in("0-3,8") == [0, 1, 2, 3, 8]
    assert numbers_in("7") == [7]
    for wrong in ("", "x", "1-", "1-x", "-2"):
        assert numbers_in(wrong) == []
