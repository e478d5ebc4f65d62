"""The hooks for Flux and PBS, with the environments and attributes that these schedulers give, as their sources say."""

import enum
import os
import pwd
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from lull.base.installed import executable
from node_service import ALICE, NodeService, node_service
from places import TOP

HOOKS = TOP / "packaging" / "service"
PLACE = "/usr/lib/lull/python/lull/libexec/lull-account"  # in the hooks; of the installation, after it


@pytest.fixture
def service() -> Iterator[NodeService]:
    with node_service() as made:
        yield made


@pytest.fixture
def account(service: NodeService, tmp_path: Path) -> Path:
    """lull-account, for the service of this test."""
    path = tmp_path / "lull-account"
    path.write_text(f'#!/bin/sh\nexec {executable("lull-account")} "$@" --socket {service.sockets}/accounts\n')
    path.chmod(0o755)
    return path


def flux(folder: Path, account: Path, name: str, cgroup: str = "") -> subprocess.CompletedProcess[str]:
    """The script in prolog.d or epilog.d, in the environment that the IMP sets."""
    script = folder / name / "lull"
    script.parent.mkdir(exist_ok=True)
    text = (HOOKS / "flux" / "lull").read_text()
    assert PLACE in text
    script.write_text(text.replace(PLACE, str(account)).replace("\ncgroup=\n", f"\ncgroup={cgroup}\n"))
    shutil.copymode(HOOKS / "flux" / "lull", script)
    environment = {
        "FLUX_OWNER_USERID": "995",
        "FLUX_JOB_USERID": str(ALICE),
        "FLUX_JOB_ID": "ƒ2Xs9T",
        "HOME": "/root",
        "USER": "root",
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    }
    return subprocess.run([script], env=environment, capture_output=True, text=True, check=False)


def test_flux_opens_and_closes_an_account(service: NodeService, account: Path, tmp_path: Path) -> None:
    service.start()
    service.set_cpu_time("/jobs", 0)
    service.set_cpu_time("/jobs/f2Xs9T", 0)
    done = flux(tmp_path, account, "prolog.d", "/jobs/f2Xs9T")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    service.set_cpu_time("/jobs/f2Xs9T", 5000)
    assert flux(tmp_path, account, "epilog.d", "/jobs/f2Xs9T").returncode == 0
    [row] = service.rows()
    assert (row["job"], row["uid"], row["cpu_us"]) == ("ƒ2Xs9T", ALICE, 5000)


def test_flux_without_a_service_or_in_another_folder_fails_no_job(account: Path, tmp_path: Path) -> None:
    done = flux(tmp_path, account, "prolog.d")
    assert (done.returncode, "see systemctl status lull-meterd" in done.stderr) == (0, True)
    done = flux(tmp_path, account, "housekeeping.d")
    assert done.returncode == 0
    assert "is in neither prolog.d nor epilog.d" in done.stderr


class Resources(dict[str, Any]):
    """As pbs_resource: what is not there is None."""

    def __missing__(self, name: str) -> None:
        return None


EVENTS = enum.IntEnum("EVENTS", ["EXECJOB_BEGIN", "EXECJOB_EPILOGUE", "EXECJOB_END"])


class Pbs:
    """One MoM, on which the hook runs, with a job."""

    def __init__(self, account: Path, folder: Path, **attributes: Any) -> None:
        self.log: list[str] = []
        self.hook = folder / "lull_hook.py"
        text = (HOOKS / "pbs" / "lull_hook.py").read_text()
        assert PLACE in text
        self.hook.write_text(text.replace(PLACE, str(account)))
        given = {
            "id": "1234.head",
            "euser": pwd.getpwuid(os.geteuid()).pw_name,
            "project": "_pbs_project_default",
            "Account_Name": "ocean",
            "run_count": 2,
            "exec_vnode": "(n1:ncpus=4:mem=2097152kb)+(n1:ncpus=2:mem=1048576kb)",
            "resources_used": Resources(),
            "in_ms_mom": lambda: True,
        }
        self.job = SimpleNamespace(**given | attributes)

    def run(self, kind: EVENTS) -> None:
        module: Any = ModuleType("pbs")
        module.EVENT_ERROR = 1
        module.logmsg = lambda _, line: self.log.append(line)
        module.get_local_nodename = lambda: "n1"
        module.event = lambda: SimpleNamespace(type=kind, job=self.job)
        for one in EVENTS:
            setattr(module, one.name, one)
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "pbs", module)
            runpy.run_path(str(self.hook))


def test_pbs_opens_and_closes_an_account_and_sets_the_energy(
    service: NodeService, account: Path, tmp_path: Path
) -> None:
    service.start()
    pbs = Pbs(account, tmp_path)
    service.node()  # after the first reading
    service.move()  # so that what follows counts from the beginning of the job
    pbs.run(EVENTS.EXECJOB_BEGIN)
    service.consume(36)
    pbs.run(EVENTS.EXECJOB_EPILOGUE)
    service.move()
    pbs.run(EVENTS.EXECJOB_END)
    assert pbs.log == []
    [row] = service.rows()
    assert (row["job"], row["uid"], row["project"], row["restart"]) == ("1234.head", os.geteuid(), "ocean", 1)
    assert (row["nodes"], row["cpus"], row["memory_mib"]) == (1, 6, 3072)
    assert pbs.job.resources_used["energy"] == pytest.approx(1e-5, rel=1e-3)  # 36 J in kWh


def test_a_job_of_pbs_on_two_nodes_has_two_rows_to_come_and_no_energy_of_one(
    service: NodeService, account: Path, tmp_path: Path
) -> None:
    service.start()
    pbs = Pbs(account, tmp_path, exec_vnode="(n1:ncpus=4+n1b:ncpus=1)+(n2:ncpus=2)", Account_Name=None)
    for kind in EVENTS:
        pbs.run(kind)
    [row] = service.rows()
    assert (row["nodes"], row["cpus"], row["project"]) == (3, 4, "")
    assert pbs.job.resources_used == {}


def test_no_failure_of_the_hook_reaches_a_job_of_pbs(account: Path, tmp_path: Path) -> None:
    pbs = Pbs(account, tmp_path)
    for kind in EVENTS:  # there is no service
        pbs.run(kind)
    assert all("see systemctl status lull-meterd" in line for line in pbs.log)
    assert len(pbs.log) == len(EVENTS)
    stranger = Pbs(account, tmp_path, euser="nobody-of-this-name")
    stranger.run(EVENTS.EXECJOB_BEGIN)
    [line] = stranger.log
    assert line.startswith("lull: report the job to lull-meterd: ")
