"""Every command with `--format json`: what it prints is what its schema describes, and every field is described."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator

import records
from conftest import Lull
from job_collector import example_rows
from lull import _core
from lull.cli import lull as lull_command
from lull.jobs.collector import Collector
from lull.jobs.listening import listen_at_socket
from lull.jobs.price import Price, Prices
from lull.jobs.store import Store
from lull.jobs.visible import Rights
from lull.model import machine
from lull.record import Run
from lull.schemas.fields import unit_of
from lull.schemas.forms import FORMS, schema_of
from small_sweep import files
from trace_records import leave, ring
from warm_start import WarmLull

MACHINE = """
title = "a small machine"
[topology]
name = "fat-tree"
radix = 4
[watts.link]
value = 2
source = "made up"
"""
SORT = ["lull", "run", "-n", "4", "radix_sort", "--keys", "500", "--mode", "per-node", "--key-bytes", "16"]

# A command, and arguments for each form of its output.
CALLS: list[tuple[str, list[str]]] = [
    ("top", []),
    ("sources", []),
    ("doctor", ["--sysroot", "elsewhere"]),
    ("settings", []),
    ("apps", []),
    ("list", ["results"]),
    ("show", ["results/plain"]),
    ("show", ["results/full"]),
    ("show", ["results/net"]),
    ("show", ["results/sort-predicted"]),
    ("compare", ["results/plain", "results/full"]),
    ("compare", ["results/plain", "results/full", "--fail-if", "speedup < 0.1"]),
    ("compare", ["results/net", "results/net2"]),
    ("calibrate", ["--show", "--to", "machine.toml"]),
    ("calibrate", ["--show", "--to", "frontier.toml"]),
    ("advise", ["--on", "machine.toml", "results/full"]),
    ("approaches", ["--nodes", "4", "--cores", "4"]),
    ("approaches", ["nancy"]),
    (
        "predict",
        ["--on", "machine.toml", "--processes", "8", "--placements", "0", "--out", "predicted", "results/sort"],
    ),
    ("simulate", ["net.toml", "--out", "one"]),
    ("simulate", ["net.toml", "--out", "two", "--savings", "--set", "power.mode=deep-sleep"]),
    ("simulate", ["--keys"]),
    ("simulate", ["--sweep", "sweep.toml"]),
    ("topology", []),
    ("topology", ["dragonfly"]),
    ("jobs", ["--collector", "FOLDER/socket", "--site", "site.toml"]),
    ("jobs", ["--collector", "FOLDER/socket", "--site", "site.toml", "--by", "day"]),
    ("jobs", ["--collector", "FOLDER/socket", "--site", "site.toml", "4711"]),
    ("show", ["trace"]),
    ("archive info", ["trace"]),
]


def commands_with_json(name: str = "", command: click.Command = lull_command) -> Iterator[str]:
    """Every command below `command` whose option --format has the choice json."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            found = command.get_command(context, word)
            assert found is not None
            yield from commands_with_json(f"{name} {word}".strip(), found)
    for option in command.params:
        if "--format" in option.opts and isinstance(option.type, click.Choice) and "json" in option.type.choices:
            yield name


def test_every_command_with_json_has_a_schema_and_a_call_here() -> None:
    found = set(commands_with_json())
    assert found == set(FORMS)
    assert {command for command, _ in CALLS} == found


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, warm_lull: WarmLull) -> Iterator[Lull]:
    """A folder with results of every sort, and a collector of jobs."""
    folder = tmp_path_factory.mktemp("world")
    here = Lull(folder, warm=warm_lull)
    made = folder / "results"
    records.write(made / "plain", records.run("plain"))
    records.write(made / "full", everything(records.run("full", wire_bytes=10**9)))
    records.write(made / "sort", records.run("sort").model_copy(update={"command": SORT}))
    files(folder)
    for name in ("net", "net2"):
        assert here.run("simulate", "net.toml", "--out", f"results/{name}").returncode == 0
    (folder / "machine.toml").write_text(MACHINE)
    shown = Path(machine.__file__).parent / "machines" / "frontier.toml"
    (folder / "frontier.toml").write_bytes(shown.read_bytes())
    words = ["--on", "machine.toml", "--processes", "8", "--placements", "0", "--out", "results/sort-predicted"]
    done = here.run("predict", *words, "results/sort")
    assert done.returncode == 0, done.stderr
    (folder / "elsewhere").mkdir()
    if _core.HAS_OTF2:
        leave(folder / "trace", ring(3))
        assert here.run("archive", "convert", "trace").returncode == 0
    with Store(folder / "jobs.sqlite") as store:
        store.ingest(example_rows())
    (folder / "site.toml").write_text(f"collector_user = {os.geteuid()}\n")
    prices = Prices(price=Price(per_kwh=0.25, currency="EUR", source="contract"))
    collector = Collector(folder / "jobs.sqlite", Rights(admins=frozenset({os.geteuid()})), prices)
    listener = listen_at_socket(collector, folder / "socket")
    yield here
    listener.close()
    collector.close()


def everything(run: Run) -> Run:
    """The same run with the parts that only some runs have."""
    with_more = records.with_output(records.with_waiting(run, records.waiting({("put", 64): 3.0})), records.output())
    return with_more.model_copy(update={"idle": records.idle(20)})


@pytest.mark.parametrize("call", CALLS, ids=lambda call: " ".join([call[0], *call[1]]))
def test_what_a_command_prints_is_as_its_schema_says(world: Lull, call: tuple[str, list[str]]) -> None:
    command, words = call
    if "trace" in words and not _core.HAS_OTF2:
        pytest.skip("built without OTF2")
    given = [word.replace("FOLDER", str(world.folder)) for word in words]
    done = world.run(*command.split(), "--format", "json", *given)
    assert done.returncode == 0, done.stderr
    schema = json.loads(world.run("schema", *command.split()).stdout)
    Draft202012Validator.check_schema(schema)
    found = Draft202012Validator(schema).iter_errors(json.loads(done.stdout))
    errors = [f"{one.json_path}: {one.message[:300]}" for one in found]
    assert not errors, errors


def properties(schema: object) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every property in a schema."""
    if isinstance(schema, dict):
        named = schema.get("properties")
        if isinstance(named, dict):
            yield from named.items()
        for part in schema.values():
            yield from properties(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from properties(part)


@pytest.mark.parametrize("command", FORMS)
def test_every_field_is_described_with_its_unit(command: str) -> None:
    found = [(name, field) for name, field in properties(schema_of(command)) if isinstance(field, dict)]
    assert found
    bare = [name for name, field in found if not field.get("description")]
    assert not bare
    for name, field in found:
        if unit := unit_of(name):
            assert f"Unit: {unit}." in field["description"], name


def test_a_field_that_a_schema_does_not_have_is_found() -> None:
    schema = schema_of("apps")
    right = [{"name": "a", "does": "b", "path": "/c"}]
    assert Draft202012Validator(schema).is_valid(right)
    assert not Draft202012Validator(schema).is_valid([{**right[0], "more": 1}])
    assert not Draft202012Validator(schema).is_valid([{"name": "a"}])


def test_schema_lists_the_commands_and_refuses_others(lull: Lull) -> None:
    done = lull.run("schema")
    assert done.stdout.split("\n")[:-1] == list(FORMS)
    done = lull.run("schema", "measure")
    assert done.returncode == 2
    assert done.stderr.startswith("lull: show the schema of lull measure: it has no --format json; there are top,")
