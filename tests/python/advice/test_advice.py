"""Advice: on records with known waits, output and puts, and on machines with known constants."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conftest import Lull, gone, wait_until
from lull import record
from lull.advice.account import Alternative, Objective, objective_named
from lull.advice.advise import advise
from lull.advice.at_run_time import without_effect
from lull.advice.describe import polling_words
from lull.advice.facts import facts_of
from lull.advice.links import link_modes
from lull.advice.verify import Variant, candidates, outcome_of
from lull.base.errors import UsageError
from lull.library.advised import Advised
from lull.model.machine import CalibrationInfo, Figure, Machine, TransferPiece, Transport, WakeUp, WakeUps, Watts
from lull.model.machine_text import machine_text
from lull.prediction.account import Energies, Joules, ModeAccount, Prediction
from lull.record import Domain, Energy, EnergyKind, Host, Repeat, Run
from lull.record.schema import Output, OutputAmount, OutputClients, OutputServers, RewrittenPuts, Waiting, WaitingRow
from lull.simulation.account import TimeAccount

LENGTHS = (1e4, 1e6)


def figure(value: float, kind: EnergyKind | None = None) -> Figure:
    return Figure(value=value, low=0.9 * value, high=1.1 * value, kind=kind)


def sure(value: float) -> Figure:
    return Figure(value=value)


def wakes(late: float, cpu_share: float) -> list[WakeUp]:
    return [WakeUp(length_ns=ns, late_ns=sure(late), cpu_ns=sure(cpu_share * ns), waker_ns=sure(10)) for ns in LENGTHS]


def machine(one_core: float = 7.0, **more: Any) -> Machine:
    told = CalibrationInfo(
        when=datetime.now(UTC),
        lull="0",
        host="a",
        processor="P",
        cores=2,
        memory_bytes=1,
        kernel="Linux",
        launcher="lull run",
        nodes=2,
        seconds=1,
    )
    estimated = EnergyKind.ESTIMATED
    parts: dict[str, Any] = {
        "title": "a machine",
        "measured": told,
        # polling is never late; sleeping is 1 us late and takes a hundredth of a core
        "wake_ups": WakeUps(policies={"poll": wakes(0, 1), "interrupt": wakes(1000, 0.01)}),
        "watts": Watts(
            idle_node=sure(5).model_copy(update={"kind": estimated}),
            one_core=sure(one_core).model_copy(update={"kind": estimated}),
            busy_node=sure(9).model_copy(update={"kind": estimated}),
        ),
    }
    return Machine(**{**parts, **more})


def energy(joules: float) -> Energy:
    return Energy(
        node="a",
        domain=Domain.NODE,
        channel="package",
        kind=EnergyKind.ESTIMATED,
        joules=joules,
        low_j=joules / 2,
        high_j=2 * joules,
    )


def run_of(waiting: Waiting | None, wall_s: float = 10.0, settings: dict[str, str] | None = None) -> Run:
    repeat = Repeat(
        index=0,
        started=datetime.now(UTC),
        wall_s=wall_s,
        cpu_s=1,
        max_rss_bytes=1,
        exit_code=0,
        energy=[energy(90)],
        totals=[energy(90)],
        waiting=[] if waiting is None else [waiting],
    )
    return Run(
        lull_version="0",
        label="app",
        command=["app"],
        created=datetime.now(UTC),
        sampling_hz=10,
        settings=settings or {},
        hosts=[Host(node="a", boot_id="b", processor="P", cores=2, memory_bytes=1, kernel="Linux")],
        channels=[],
        repeats=[repeat, repeat],
    )


def waiting(policy: str = "poll", pes: int = 2, nodes: int = 1, operation: str = "barrier", **more: Any) -> Waiting:
    # 5,000 waits of a millisecond: 5 s of 20 s of both PEs
    row = WaitingRow(
        operation=operation,
        up_to_bytes=0,
        count=5000,
        bytes=0,
        waits=5000,
        waited_s=5,
        asleep_s=0,
        cpu_s=5,
        sleeps=0,
        timeouts=0,
        missed=0,
    )
    return Waiting(
        policy=policy,
        pes=pes,
        nodes=nodes,
        wall_s=10,
        cpu_s=20,
        progress_cpu_s=0,
        frequency_changes=0,
        changing_frequency_s=0,
        rows=[row],
        **more,
    )


def test_sleeping_waits_are_advised_for_energy() -> None:
    found = advise(facts_of(run_of(waiting())), machine(), objective_named("energy"))
    (one,) = found.advised
    assert (one.name, one.instead_of, one.lines) == ("interrupt", "poll", ["export LULL_WAIT=interrupt"])
    # each wait: 0.99 ms of a core that draws 2 W less, and 1 us later, at 5 W
    assert one.joules is not None
    assert one.joules[1] == pytest.approx(-5000 * 0.99e-3 * 2 + 5000 * 1e-6 / 2 * 5)
    assert one.seconds == pytest.approx((0, 2.5e-3, 2.5e-3))
    assert found.sentence.startswith("Take wait policy interrupt instead of poll: 11 % less energy")


def test_advice_shows_itself_in_a_notebook(tmp_path: Path) -> None:
    found = Advised(advise(facts_of(run_of(waiting())), machine(), objective_named("energy")))
    assert found.settings == {"LULL_WAIT": "interrupt"} and found.kind is EnergyKind.ESTIMATED
    shown = found._repr_html_()
    assert "wait policy: interrupt" in shown and found.sentence in shown and "export LULL_WAIT=interrupt" in shown
    frame = found.to_pandas().set_index("alternative")
    assert frame.loc["interrupt", "joules_low"] <= frame.loc["interrupt", "joules"] < 0
    axes = found.plot()
    assert [one.get_xlabel() for one in axes] == ["change of time, %", "change of energy, estimated, %"]
    axes[0].figure.savefig(tmp_path / "advice.png")


def test_what_was_chosen_already_is_left_as_it_is() -> None:
    found = advise(facts_of(run_of(waiting("interrupt"))), machine(), objective_named("energy"))
    assert found.advised == [] and found.sentence == "Change nothing: no predicted alternative gives less energy."


def test_energy_is_not_saved_for_more_time_than_was_allowed() -> None:
    slow = machine(wake_ups=WakeUps(policies={"poll": wakes(0, 1), "interrupt": wakes(4e5, 0.01)}))  # a second more
    facts = facts_of(run_of(waiting()))
    (one,) = advise(facts, slow, objective_named("energy@slowdown=2%")).alternatives
    assert one.verdict == "too slow"
    (one,) = advise(facts, slow, objective_named("energy@slowdown=20%")).alternatives
    assert one.verdict != "too slow"


@pytest.mark.parametrize(
    ("seen", "on", "why"),
    [
        (None, machine(), "the record does not count waits"),
        (waiting(pes=4), machine(), "4 PEs outnumber 2 cores"),
        (waiting(nodes=2), machine(), "wake-ups by messages of other nodes are not calibrated"),
        (waiting("poll+dvfs"), machine(), "the program waited by poll+dvfs, which is not calibrated"),
        (waiting(), machine(wake_ups=WakeUps()), "the machine file has no wake-ups"),
        (waiting(), machine(one_core=5), "the machine file lacks the watts for it"),
    ],
)
def test_what_cannot_be_told_is_said_with_what_to_measure(seen: Waiting | None, on: Machine, why: str) -> None:
    found = advise(facts_of(run_of(seen)), on, objective_named("energy"))
    (unpredicted,) = (one for one in found.unpredicted if one.choice == "wait policy")
    assert why in unpredicted.why and unpredicted.measure and found.advised == []


def predicted(*modes: tuple[str, float, float | None]) -> Prediction:
    """A prediction of power modes: name, seconds, joules of links."""
    accounts = [
        ModeAccount(
            name=name,
            folder=name,
            run_time_s=seconds,
            slowdown=seconds / modes[0][1] - 1,
            link_power=0.5,
            network_link_power=0.5,
            wakes=7,
            time=TimeAccount(computing_s=1, sending_s=0, waiting_s=0),
            energy=Energies(
                links=None if joules is None else Joules(joules=joules, low=joules / 2, high=2 * joules),
                switches=None,
                nics=None,
                nodes=None,
            ),
        )
        for name, seconds, joules in modes
    ]
    sizes = dict.fromkeys(("processes", "nodes", "network_nodes", "network_links", "network_switches"), 2)
    return Prediction(
        lull_version="0",
        command=["lull"],
        program="app",
        machine={"title": "a machine"},
        traced=[2],
        most_slowdown=0.05,
        chosen=modes[0][0],
        criterion="energy",
        modes=accounts,
        low_s=1,
        high_s=1,
        uncertainty=[],
        not_modelled=[],
        remarks=[],
        **sizes,
    )


def test_sleeping_links_are_advised_for_what_they_save() -> None:
    found = link_modes(predicted(("active", 1.0, 100.0), ("deep-sleep", 1.01, 60.0)), objective_named("energy"))
    (one,) = found.advised
    assert (one.name, one.instead_of, found.kind) == ("deep-sleep", "active", EnergyKind.SIMULATED)
    assert one.joules is not None and one.joules[1] == pytest.approx(-40)
    assert found.sentence.startswith("Take link power mode deep-sleep instead of active: 40 % less energy")
    slow = predicted(("active", 1.0, 100.0), ("deep-sleep", 1.2, 60.0))
    (late,) = link_modes(slow, objective_named("energy@slowdown=2%")).alternatives
    assert late.verdict == "too slow"


def test_without_watts_of_links_only_their_time_is_told() -> None:
    modes = predicted(("active", 1.0, None), ("deep-sleep", 1.01, None))
    found = link_modes(modes, objective_named("energy"))
    assert found.alternatives == [] and "no watts of its links" in found.unpredicted[0].why and found.joules is None
    (one,) = link_modes(modes, objective_named("time")).alternatives
    assert one.seconds[1] == pytest.approx(0.01) and one.joules is None


def written_by(approach: str, write_s: float) -> Output:
    """The output of two processes that compute for 20 s and write 2 GB."""
    nothing, amount = OutputAmount(files=0, bytes=0), OutputAmount(files=20, bytes=2 * 10**9)
    return Output(
        approach=approach,
        nodes=1,
        outputs=10,
        clients=OutputClients(
            processes=2,
            wall_s=2 * (10 + write_s),
            compute_s=20,
            stall_s=0,
            write_s=2 * write_s,
            cpu_s=20,
            handed_over=nothing,
            wrote_itself=amount,
            dropped=nothing,
            too_large=0,
        ),
        servers=OutputServers(processes=0, wall_s=0, idle_s=0, write_s=0, cpu_s=0, written=nothing, failed=0),
    )


def test_other_ways_to_write_are_told_with_what_the_model_misses_in_the_run() -> None:
    repeat = run_of(None).repeats[0].model_copy(update={"output": [written_by("time-partitioning", 5)]})
    run = run_of(None).model_copy(update={"repeats": [repeat]})
    found = advise(facts_of(run), machine(), objective_named("time"))
    approaches = [one for one in found.alternatives if one.choice == "output"]
    assert approaches and all(one.instead_of == "time-partitioning" != one.name for one in approaches)
    for one in approaches:
        low, likely, high = one.seconds
        assert low <= likely <= high and one.joules is not None
        assert one.options == {"--approach": one.name} and "it misses by" in one.terms[1]
    (unpredicted,) = (
        one
        for one in advise(facts_of(run_of(None)), machine(), objective_named("time")).unpredicted
        if one.choice == "output"
    )
    assert "the record holds no output" in unpredicted.why


def test_coalesced_puts_are_priced_by_the_messages_that_they_spare() -> None:
    piece = TransferPiece(from_bytes=0, gap_ns=sure(2000), ns_per_byte=sure(1))
    on = machine(transports={"network": Transport(pieces=[piece])})
    rewritten = RewrittenPuts(
        coalesced_puts=10**6,
        coalesced_bytes=8 * 10**6,
        messages=1000,
        late_messages=0,
        copied_puts=0,
        copied_bytes=0,
    )
    facts = facts_of(run_of(waiting(nodes=2, rewritten=rewritten), settings={"LULL_TRANSFORM": "auto"}))
    (one,) = advise(facts, on, objective_named("time")).alternatives
    assert (one.choice, one.name, one.verdict) == ("rewritten puts", "off", "no better")
    assert one.seconds[1] == pytest.approx((1e6 * 2008 - 1000 * (2000 + 8000)) * 1e-9 / 2)


def test_objectives_are_read_as_they_are_written() -> None:
    assert objective_named("energy@slowdown=2.5%") == Objective(of="energy", slowdown=0.025)
    assert objective_named("energy@slowdown=2.5%").words == "energy@slowdown=2.5%"
    with pytest.raises(UsageError, match=r"time, energy, edp or energy@slowdown=2%"):
        objective_named("joules")


def test_an_outcome_says_whether_the_prediction_is_confirmed() -> None:
    found = advise(facts_of(run_of(waiting())), machine(), objective_named("energy"))
    ((one, variant),) = candidates(found, ["app"])
    assert variant == Variant(["app"], {"LULL_WAIT": "interrupt"})
    present, same = run_of(None).repeats, run_of(None).repeats
    assert not outcome_of(one, found, present, same).confirmed  # the advice promised 11 % of the energy
    as_predicted = [repeat.model_copy(update={"totals": [energy(80.105)]}) for repeat in same]
    outcome = outcome_of(one, found, present, as_predicted)
    assert outcome.confirmed and outcome.joules is not None and outcome.joules[1] == pytest.approx(0.89, rel=1e-3)


def test_what_may_be_better_is_tried_where_nothing_surely_is() -> None:
    found = advise(facts_of(run_of(waiting())), machine(), objective_named("energy"))
    unsure = found.alternatives[0].model_copy(update={"verdict": "unsure"})
    assert [one for one, _ in candidates(found.model_copy(update={"alternatives": [unsure]}), ["app"])] == [unsure]
    no_setting: list[Alternative] = [unsure.model_copy(update={"set": {}})]
    assert candidates(found.model_copy(update={"alternatives": no_setting}), ["app"]) == []


@pytest.mark.parametrize(
    ("words", "tried"),
    [
        (["lull", "wait", "poll", "--", "a"], ["lull", "wait", "interrupt", "--", "a"]),
        (["lull", "wait", "--stats", "poll", "a", "poll"], ["lull", "wait", "--stats", "interrupt", "a", "poll"]),
        (["mpirun", "a"], None),  # it does not wait by a policy: there is nothing to replace
    ],
)
def test_waits_of_mpi_are_priced_by_those_of_openshmem_and_tried_by_another_policy(
    words: list[str], tried: list[str] | None
) -> None:
    found = advise(facts_of(run_of(waiting(operation="MPI_Recv"))), machine(), objective_named("energy"))
    (one,) = found.advised
    assert one.lines == ["lull wait interrupt -- CMD"] and one.set == {}
    assert any("OpenSHMEM" in term for term in one.terms)
    assert [variant.words for _, variant in candidates(found, words)] == ([] if tried is None else [tried])


def test_where_the_program_polls_itself_a_call_that_waits_is_advised_without_a_promise() -> None:
    asks = {"waits": 0, "site": "app+0x12", "cpu_s": 3, "waited_s": 3}
    of_program = waiting(operation="MPI_Recv")
    row = of_program.rows[0]
    polls = row.model_copy(update={"operation": "MPI_Iprobe", **asks})
    seldom = polls.model_copy(update={"operation": "MPI_Test", "cpu_s": 0.1})
    seen = of_program.model_copy(update={"rows": [row, polls, seldom]})
    found = advise(facts_of(run_of(seen)), machine(), objective_named("energy"))
    without = advise(facts_of(run_of(of_program)), machine(), objective_named("energy"))
    assert (found.alternatives, found.sentence) == (without.alternatives, without.sentence)
    assert without.polling == []
    [one] = found.polling
    assert (one.function, one.site, one.calls, one.instead) == ("MPI_Iprobe", "app+0x12", 5000, "MPI_Probe")
    [line] = polling_words(found)
    assert "MPI_Iprobe in app+0x12, 5000 calls, 3.00 s, 15 % of the ranks' CPU time" in line
    assert line.endswith("not predicted")


# The command


@pytest.fixture
def described(lull: Lull) -> Path:
    path = lull.folder / "machine.toml"
    path.write_text(machine_text(machine()))
    return path


def test_a_command_is_run_and_advice_verified(lull: Lull, described: Path) -> None:
    words = ["--on", str(described), "--runs", "1", "--verify", "--objective", "energy", "--explain"]
    app = ["lull", "run", "-n", "2", "shift", "--max", "8", "--seconds", "0.05"]
    lull.env["LULL_WAIT"] = "poll"
    done = lull.run("advise", *words, "--out", "told", "--", *app)
    assert done.returncode == 0, done.stderr
    assert "wait policy: interrupt" in done.stdout and "shift: put" not in done.stdout
    told = json.loads((lull.folder / "told" / "advice.json").read_text())
    assert told["objective"]["of"] == "energy" and told["sentence"] in done.stdout
    again = lull.run("advise", "--on", str(described), "--format", "json", "told/present")
    assert again.returncode == 0, again.stderr
    assert [one["name"] for one in json.loads(again.stdout)["alternatives"]] == ["interrupt"]


def test_advice_that_was_killed_is_continued_by_the_same_command(lull: Lull, described: Path) -> None:
    words = ["--on", str(described), "--runs", "4", "--objective", "energy", "--out", "told"]
    third = 'echo x >> runs; if [ "$(wc -l < runs)" -ge 3 ] && [ ! -e go ]; then touch waits; exec sleep 1000; fi; '
    script = third + 'exec "$@"'
    app = ["sh", "-c", script, "sh", "lull", "run", "-n", "2", "shift", "--max", "8", "--seconds", "0.05"]
    lull.env["LULL_WAIT"] = "poll"
    process = lull.start("advise", *words, "--", *app)
    assert wait_until((lull.folder / "waits").exists)
    process.kill()
    process.communicate()
    assert gone(str(lull.folder))
    before = record.read(lull.folder / "told" / "present").repeats
    assert len(before) == 2
    (lull.folder / "go").touch()
    shutil.copytree(lull.folder / "told", lull.folder / "again")
    other = lull.run("advise", *words, "--", *app, "--again")
    assert other.returncode == 1 and "continue the advice in told: its description has changed" in other.stderr
    assert "--fresh starts again" in other.stderr
    done = lull.run("advise", *words, "--", *app)
    assert done.returncode == 0, done.stderr
    assert "resumes: 2 of 4 runs are in told/present" in done.stderr
    after = record.read(lull.folder / "told" / "present").repeats
    assert (len(after), after[:2]) == (4, before)
    assert not list((lull.folder / "told").rglob(".state"))
    assert json.loads((lull.folder / "told" / "advice.json").read_text())["program"]
    fresh = lull.run("advise", *words[:-1], "again", "--fresh", "--", *app)
    assert fresh.returncode == 0 and "resumes" not in fresh.stderr
    again = record.read(lull.folder / "again" / "present").repeats
    assert len(again) == 4 and again[0] != before[0]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--objective", "power", "--", "true"), "advise for power: there is no such objective"),
        (("--", "true"), "this host has not been calibrated; lull calibrate"),
        (("--on", "machine.toml", "."), "it is neither a record nor a trace"),
        (("--on", "machine.toml", "--", "false"), "it ended with exit code 1"),
    ],
)
def test_mistakes_are_said_in_one_line(lull: Lull, described: Path, words: tuple[str, ...], says: str) -> None:
    done = lull.run("advise", *words)
    assert done.returncode != 0 and says in done.stderr.splitlines()[-1]


def account(choice: str, *alternatives: tuple[str, float | None, float | None, int], where: str = "") -> Any:
    """The account of a chooser of two PEs: alternatives with predicted and observed costs, and operations."""
    return SimpleNamespace(
        choice=choice,
        where=where,
        processes=2,
        alternatives=[
            SimpleNamespace(name=name, predicted_ns=told, corrected_ns=told, observed_ns=seen, operations=count)
            for name, told, seen, count in alternatives
        ],
    )


def test_a_route_is_priced_by_the_account_of_its_chooser() -> None:
    route = account(
        "route",
        ("per-pe, 1 hop", 10.0, None, 4_000_000),
        ("per-pe, 2 hops", 16.0, None, 0),
        ("per-node, 1 hop", 8.0, None, 0),
    )
    facts = replace(facts_of(run_of(waiting(operation="aggregate"))), choices=[route])
    found = advise(facts, machine(), objective_named("energy"))
    two, node = [one for one in found.alternatives if one.choice == "aggregation"]
    assert without_effect(facts, {"LULL_AGGREGATE": "per-pe", "LULL_AGGREGATE_HOPS": "1"})
    assert not without_effect(facts, two.set)
    assert (two.name, two.instead_of) == ("per-pe, 2 hops", "per-pe, 1 hop")
    assert two.set == {"LULL_AGGREGATE": "per-pe", "LULL_AGGREGATE_HOPS": "2"}
    # 2 million items of each PE, 6 ns more each, or none where others wait as long anyway; at 90 J in 10 s
    assert two.seconds == pytest.approx((0, 0.012, 0.012)) and two.joules == pytest.approx((0, 0.108, 0.108))
    assert node.seconds == pytest.approx((-0.004, -0.004, 0))
    assert all(one.choice != "aggregation" for one in found.advised)


def test_a_route_matters_nothing_where_all_phases_are_direct() -> None:
    phases = account("direct", ("direct", 1000.0, None, 500), ("buffers", 3000.0, None, 0))
    facts = replace(facts_of(run_of(waiting(operation="aggregate"))), choices=[phases])
    assert without_effect(facts, {"LULL_AGGREGATE": "per-node"})
    assert not without_effect(facts, {"LULL_AGGREGATE_DIRECT": "0"}) and not without_effect(facts, {})
    (one,) = (
        one for one in advise(facts, machine(), objective_named("time")).alternatives if one.choice == "aggregation"
    )
    assert one.set == {"LULL_AGGREGATE_DIRECT": "0"} and one.seconds[1] == pytest.approx(500 * 2000e-9 / 2)


def test_pes_that_outnumber_cores_make_their_items_in_turn() -> None:
    route = account("route", ("per-pe, 1 hop", 10.0, None, 4_000_000), ("per-pe, 2 hops", 16.0, None, 0))
    facts = replace(facts_of(run_of(waiting(operation="aggregate"))), choices=[route], cores=1)
    (two,) = (
        one for one in advise(facts, machine(), objective_named("time")).alternatives if one.choice == "aggregation"
    )
    assert two.seconds[1] == pytest.approx(0.024)


def test_what_was_observed_counts_before_what_was_predicted() -> None:
    puts = [
        account("coalesce", ("alone", 3000, 5000, 100), ("coalesced", 30, 50, 1_000_000)),
        account("copy-source", ("wait", None, 2000, 0), ("copy", 100, 100, 1000)),
    ]
    facts = replace(facts_of(run_of(waiting(nodes=2))), choices=puts)
    off, on = (
        one for one in advise(facts, machine(), objective_named("time")).alternatives if one.choice == "rewritten puts"
    )
    assert off.set == {"LULL_TRANSFORM": "off"} and on.set == {"LULL_TRANSFORM": "on"}
    assert off.seconds[1] == pytest.approx((1_000_000 * 4950 + 1000 * 1900) * 1e-9 / 2)
    assert on.seconds[1] == pytest.approx(-100 * 4950e-9 / 2)


def test_the_size_from_which_on_the_network_is_best_is_found() -> None:
    def puts(where: str, message: float, rdma: float, by_message: int, by_rdma: int) -> Any:
        return account("rdma-put", ("message", message, None, by_message), ("rdma", rdma, None, by_rdma), where=where)

    sizes = [puts("up to 64 B", 100, 300, 1000, 0), puts("up to 4 KiB", 500, 300, 1000, 0)]
    facts = replace(facts_of(run_of(waiting(nodes=2))), choices=[*sizes, puts("up to 1 MiB", 9000, 4000, 0, 1000)])
    off, threshold = (
        one for one in advise(facts, machine(), objective_named("time")).alternatives if one.choice == "RDMA"
    )
    assert off.set == {"LULL_RDMA": "off"} and off.seconds[1] == pytest.approx(1000 * 5000e-9 / 2)
    assert threshold.set == {"LULL_RDMA_BYTES": "2048"} and threshold.seconds[1] == pytest.approx(-1000 * 200e-9 / 2)


def test_an_alternative_of_which_nobody_knows_what_it_costs_is_not_told() -> None:
    sources = account("copy-source", ("wait", None, None, 0), ("copy", 100, 100, 1000))
    facts = replace(facts_of(run_of(waiting(nodes=2))), choices=[sources])
    found = advise(facts, machine(), objective_named("time"))
    (unpredicted,) = (one for one in found.unpredicted if one.choice == "rewritten puts")
    assert unpredicted.measure.startswith("LULL_TRANSFORM=off LULL_STATS=1")


def test_a_program_that_aggregates_without_an_account_is_told_what_to_measure() -> None:
    found = advise(facts_of(run_of(waiting(operation="aggregate"))), machine(), objective_named("time"))
    (unpredicted,) = (one for one in found.unpredicted if one.choice == "aggregation")
    assert "LULL_AGGREGATE=per-pe" in unpredicted.measure
    assert all(
        one.choice != "aggregation"
        for one in advise(facts_of(run_of(waiting())), machine(), objective_named("time")).unpredicted
    )
