"""A hook of OpenPBS: an account at lull-meterd for each job on each of its nodes, and resources_used.energy in kWh.

    qmgr -c "create hook lull event='execjob_begin,execjob_epilogue,execjob_end'"
    qmgr -c "import hook lull application/x-python default lull_hook.py"

MoM runs it as root on all nodes of a job. It calls lull-account, which waits for 0.2 s at most. No failure reaches the
job: a line in MoM's log says what is wrong. Only jobs of one node get resources_used.energy, because each node knows
its own energy alone; lull jobs shows all.
"""

import json
import pwd
import re
import subprocess

import pbs

PROGRAM = "/usr/lib/lull/python/lull/libexec/lull-account"
NO_PROJECT = "_pbs_project_default"  # of jobs without one
UJ_PER_KWH = 3.6e12
SECONDS = 5


def call(*words):
    """What lull-account prints."""
    done = subprocess.run([PROGRAM, *words], capture_output=True, timeout=SECONDS, check=False)
    if done.stderr:
        pbs.logmsg(pbs.EVENT_ERROR, done.stderr.decode(errors="replace").strip())
    return done.stdout.decode(errors="replace")


def chunks(job):
    """What the job holds: (name of the node, text with ncpus=N and mem=Nkb) for each chunk of exec_vnode."""
    found = re.findall(r"\(([^()]*)\)", str(job.exec_vnode))
    parts = [part for chunk in found for part in chunk.split("+")]
    return [(part.partition(":")[0], part) for part in parts]


def amount(text, resource):
    """A number of a chunk; 0 if it is not there."""
    match = re.search(rf":{resource}=(\d+)", text)
    return int(match.group(1)) if match else 0


def identity(job):
    """Options that name a run of a job."""
    project = job.Account_Name or job.project or ""
    words = ["--key", f"pbs.{job.id}", "--job", job.id, "--restart", str(max((job.run_count or 1) - 1, 0))]
    words += ["--nodes", str(len({node for node, _ in chunks(job)}))]
    return words + (["--project", str(project)] if project != NO_PROJECT and project else [])


def begin(job):
    """Open the account with what the job holds here."""
    here = [text for node, text in chunks(job) if node == pbs.get_local_nodename()]
    uid = pwd.getpwnam(str(job.euser)).pw_uid
    memory_kb = sum(amount(text, "mem") for text in here)
    cpus = sum(amount(text, "ncpus") for text in here)
    call("open", *identity(job), "--uid", str(uid), "--cpus", str(cpus), "--memory-mib", str(memory_kb // 1024))


def set_energy(job):
    """Set resources_used.energy of a job of one node."""
    if len({node for node, _ in chunks(job)}) != 1 or not job.in_ms_mom():
        return
    figures = json.loads(call("figures", "--key", f"pbs.{job.id}") or "{}")
    if figures.get("energy"):
        job.resources_used["energy"] = sum(one["uj"] for one in figures["energy"]) / UJ_PER_KWH


def main():
    """Handle one event."""
    event = pbs.event()
    if event.type == pbs.EXECJOB_BEGIN:
        begin(event.job)
    elif event.type == pbs.EXECJOB_EPILOGUE:
        set_energy(event.job)
    elif event.type == pbs.EXECJOB_END:
        call("close", *identity(event.job))


try:
    main()
except Exception as error:  # whatever it is, the job goes on
    pbs.logmsg(pbs.EVENT_ERROR, f"lull: report the job to lull-meterd: {error}")
