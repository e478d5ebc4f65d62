"""Generate parts of the reference from the program, so that they are never stale.

A page contains a line `<!-- generated: NAME -->`. Before the page is parsed, the line is replaced by Markdown generated
from the click commands, the settings table, the pydantic models, OpenSHMEM's table or the kept figures of a benchmark
(`results-NAME`). Numbers in sentences come from kept rows by `rows_role.py`. Every build reads these pages again. The
meaning of a field is the comment after it, on the same line in the source of its model.
"""

from __future__ import annotations

import importlib
import inspect
import json
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

import click
import json_outputs
import kept_links
import rows_role
from pydantic import BaseModel, TypeAdapter
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

import documentation
import man_pages
from lull import _core, record
from lull import cli as lull_cli
from lull.comparison import result
from lull.model import machine as model_machine
from lull.prediction import account as prediction_account
from lull.record.table import COLUMNS
from lull.schemas.fields import comments_of
from lull.schemas.forms import FORMS
from lull.simulation import account, tolerance
from lull.statistics import bootstrap, formatting
from lull.study import file
from lull.study.kinds import DEFAULT, KINDS, read_study, study_kind
from lull.study.publications import results as publications_told
from lull.study.publications.describe import summary
from openshmem import Interface
from openshmem_routines import program_of_each

IN_RECORD = ("EnergyKind", "Domain")  # sections of reference/record.md to which other pages refer
ELSEWHERE = {  # such sections of other pages
    "TimeAccount": "simulate-toml.md",
    "Tolerance": "simulate-toml.md",
    "Interval": "comparison.md",
}
MARK = re.compile(r"^<!-- generated: ([a-z-]+) -->$", re.MULTILINE)


def cell(text: str) -> str:
    """`text` for a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the cells are Markdown."""
    lines = [headings, ["---"] * len(headings), *([cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# The command line


def with_verbs(name: str, command: click.Command | None) -> list[tuple[str, click.Command]]:
    """A command and its subcommands."""
    assert command is not None
    if not isinstance(command, click.Group):
        return [(name, command)]
    verbs = [(f"{name} {verb}", one) for verb, one in command.commands.items()]
    return [(name, command), *verbs]


def command_line() -> str:
    """Every subcommand: usage, description, arguments and options."""
    group = lull_cli.lull
    parts = []
    named = [(name, group.get_command(click.Context(group, info_name="lull"), name)) for name in lull_cli.COMMANDS]
    for name, command in (one for of in named for one in with_verbs(*of)):
        context = click.Context(command, info_name=f"lull {name}", parent=None)
        options = [
            (f"`{made[0]}`", made[1])
            for parameter in command.get_params(context)
            if isinstance(parameter, click.Option) and (made := parameter.get_help_record(context))
        ]
        usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
        words = inspect.cleandoc(command.help or "")
        parts.append(f"## lull {name}\n\n```text\n{usage}\n```\n\n{words}\n\n{table(['option', 'meaning'], options)}")
    return "\n\n".join(parts)


# Settings


def settings() -> str:
    """Every row of the settings table, with defaults, not the values in force during the build."""
    rows = [
        (
            f"`{setting.variable}`",
            f"`{setting.default}`" if setting.default else "none",
            {"choice": " or ".join(f"`{one}`" for one in setting.choices.split("|"))}.get(
                setting.type, f"{setting.type} {setting.choices}".strip()
            ),
            setting.meaning,
        )
        for setting in _core.settings()
    ]
    return table(["variable", "default", "allowed", "meaning"], rows)


# Data models


def type_in_words(schema: dict[str, Any], page: str = "") -> str:
    """A JSON schema in words; `page` contains the sections to which it refers."""
    match schema:
        case {"$ref": reference}:
            name = reference.rpartition("/")[2]
            return f"[{name}]({page if name in IN_RECORD else ELSEWHERE.get(name, '')}#{name.lower()})"
        case {"anyOf": some}:
            return " or ".join(dict.fromkeys(type_in_words(one, page) for one in some))
        case {"const": value}:
            words = f"`{value}`"
        case {"enum": values}:
            words = " or ".join(f"`{value}`" for value in values)
        case {"type": "array", "items": items}:
            words = f"list of {type_in_words(items, page)}"
        case {"type": "object", **rest}:
            inner = rest.get("additionalProperties") or next(iter(rest.get("patternProperties", {}).values()), None)
            words = f"object: name → {type_in_words(inner, page)}" if isinstance(inner, dict) else "object"
        case {"format": "date-time"}:
            words = "time as ISO 8601"
        case _:
            words = " ".join([schema.get("type", "any"), *bounds_in_words(schema)])
    return words


def bounds_in_words(schema: dict[str, Any]) -> list[str]:
    """The range of a number."""
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤"}
    return [f"{sign} {schema[key]}" for key, sign in signs.items() if key in schema]


def default_in_words(field: dict[str, Any], required: bool) -> str:
    """The value of a missing field."""
    if required:
        return "required"
    value = field.get("default")
    return "its defaults" if isinstance(value, dict) and value else "" if value in (None, "", [], {}) else f"`{value}`"


def model(of: type, page: str = "", mode: Literal["validation", "serialization"] = "validation") -> str:
    """One table of a file, from a pydantic model or a dataclass: fields, types, defaults, meanings.

    The mode `serialization` is for models that are only printed, never read.
    """
    schema = TypeAdapter(of).json_schema(by_alias=True, mode=mode)
    printed = mode == "serialization"
    names = (
        {(printed and one.serialization_alias) or one.alias or name: name for name, one in of.model_fields.items()}
        if issubclass(of, BaseModel)
        else {}
    )
    comments = comments_of(of)
    rows = [
        (
            f"`{name}`",
            type_in_words(field, page),
            default_in_words(field, name in schema.get("required", [])),
            comments.get(names.get(name, name), ""),
        )
        for name, field in schema["properties"].items()
    ]
    words = inspect.cleandoc(of.__doc__ or "")
    return f"### {of.__name__}\n\n{words}\n\n{table(['field', 'type', 'default', 'meaning'], rows)}"


def enumeration(of: type[StrEnum]) -> str:
    """The values of an enumeration, in order."""
    comments = comments_of(of)
    rows = [(f"`{value.value}`", comments.get(value.name, "")) for value in of]
    if not any(meaning for _, meaning in rows):
        values = ", ".join(name for name, _ in rows)
        return f"### {of.__name__}\n\n{inspect.cleandoc(of.__doc__ or '')} {values}."
    return f"### {of.__name__}\n\n{inspect.cleandoc(of.__doc__ or '')}\n\n{table(['value', 'meaning'], rows)}"


def json_commands() -> str:
    """The commands with --format json: the objects that each prints, and where they are described."""
    rows = []
    for command, some in FORMS.items():
        words = [json_outputs.form_in_words(form) for form in some]
        rows.append((f"`lull {command}`", " or ".join(words)))
    return table(["command", "prints"], rows)


def json_models() -> str:
    """The models of outputs that no other page describes, each with those of its parts."""
    return "\n\n".join(model(one, "record.md", "serialization") for one in json_outputs.described_here())


def models_in(first: type[BaseModel], base: type, page: str = "") -> str:
    """`first`, and then all other models of its module except `base`, in the order of the file."""
    module = first.__module__
    found = [
        of
        for of in vars(importlib.import_module(module)).values()
        if inspect.isclass(of) and of.__module__ == module and issubclass(of, BaseModel) and of is not base
    ]
    return "\n\n".join(model(of, page) for of in [first, *(of for of in found if of is not first)])


def run_json() -> str:
    """run.json: the whole record, then its parts, then the values of its enumerations."""
    kinds = [enumeration(of) for of in (record.EnergyKind, record.Domain, record.Combination)]
    return "\n\n".join([models_in(record.Run, record.Model), *kinds])


def samples() -> str:
    """The columns of samples.parquet."""
    return table(["column", "type"], [(f"`{field.name}`", str(field.type)) for field in record.SAMPLES_SCHEMA])


def export_columns() -> str:
    """The columns of `lull export --format`."""
    return table(["column", "type", "meaning"], [(f"`{n}`", str(kind), words) for n, (kind, words) in COLUMNS.items()])


def study_toml() -> str:
    """A section for each kind of study; the first has the table that several kinds share."""
    first, *others = map(kind_of_study, KINDS)
    return "\n\n".join([first, model(file.Paper), *others])


def kind_of_study(name: str) -> str:
    """The section of a kind of study: how a file chooses it, the sentence of its docstring, and its tables."""
    words = inspect.cleandoc(importlib.import_module(KINDS[name]).__doc__ or "").partition(": ")[2]
    without = " or no `kind`" if name == DEFAULT else ""
    chosen = f'These studies have `kind = "{name}"`{without}. {words[0].upper()}{words[1:]}'
    return f"## Studies of {name}\n\n{chosen}\n\n{models_in(study_kind(name).description, file.StudyTable)}"


def published_machines() -> str:
    """The output of `lull study published-machines`: statements of papers, and the model's figures for the machines."""
    study = read_study(file.find_study("published-machines"))
    papers = publications_told.tell(study)
    parts = []
    for paper, statements in papers:
        rows = [
            (
                f"{one.statement.says} *({one.statement.where})*",
                one.paper_in_words,
                one.model_in_words,
                f"*{one.verdict}*" if not one.page else f"[{one.verdict}]({one.page}.md)",
                f"`{one.statement.machine}`",
                one.why if not one.page else one.statement.why,
            )
            for one in statements
        ]
        heads = ["the paper says", "paper", "model", "verdict", "machine", "why"]
        parts += [f"### {paper.citation}", paper.note, table(heads, rows)]
    counts = summary(one for _, statements in papers for one in statements)
    return "\n\n".join([f"{study.note} In all: {counts}.", *parts])


def comparison_json() -> str:
    """The output of `lull compare --format json`."""
    parts = [models_in(result.Comparisons, record.Model, "record.md")]
    return "\n\n".join([*parts, model(bootstrap.Interval), model(bootstrap.Spread)])


# Simulations


def simulate_toml() -> str:
    """The tables of a simulation's file: every key, from the declarations that check it."""
    parts = []
    for one in _core.simulation_tables():
        rows = [
            (f"`{key.name}`", key.default, key.allowed, key.meaning + (f" *({key.when})*" if key.when else ""))
            for key in one.keys
        ]
        heading = {
            "": "## Above all tables",
            "savings": "## savings\n\nOne `[[savings]]` for each power mode whose saving without waits Lull computes.",
            "jobs": "## jobs\n\nOne `[[jobs]]` for each.",
        }.get(one.name, f"## {one.name}")
        parts.append(f"{heading}\n\n{table(['key', 'default', 'allowed', 'meaning'], rows)}")
    return "\n\n".join(parts)


def topology_parameters() -> str:
    """Every topology with its parameters and presets."""
    parts = []
    for one in _core.topologies():
        rows = [(f"`{p.name}`", ", ".join(str(n) for n in p.default), p.allowed, p.meaning) for p in one.parameters]
        presets = [f"`{p.name}`: {p.meaning}" for p in _core.topology_presets() if p.topology == one.name]
        words = f"### {one.name}\n\n{one.meaning[0].upper()}{one.meaning[1:]}."
        named = ["Presets: " + "; ".join(presets) + "."] if presets else []
        parts += [words, table(["parameter", "default", "allowed", "meaning"], rows), *named]
    return "\n\n".join(parts)


def power_presets() -> str:
    """The keys of [power] that each preset of links sets."""
    presets = _core.power_presets()
    keys = list(dict.fromkeys(key for preset in presets for key in preset.values))
    rows = []
    for preset in presets:
        given = [str(preset.values.get(key, "to be given" if key in preset.must_be_given else "")) for key in keys]
        rows.append((f"`{preset.name}`", ", ".join(preset.modes), *given))
    return table(["preset", "modes", *(f"`{key}`" for key in keys)], rows)


def simulation_json() -> str:
    """simulation.json, which is also the output of `lull simulate --format json`."""
    parts = (models_in(account.SimulationFile, account.Model), models_in(tolerance.Tolerance, tolerance.Model))
    return "\n\n".join(parts)


def simulation_links() -> str:
    """The columns of links.parquet."""
    return table(["column", "type"], [(f"`{field.name}`", str(field.type)) for field in account.LINKS_SCHEMA])


# Predictions


def machine_toml() -> str:
    """The tables of a machine's file."""
    return models_in(model_machine.Machine, model_machine.MachineTable, "record.md")


def machine_constants() -> str:
    """Every row of the table of constants, a table for each group."""
    groups: dict[str, list[_core.Constant]] = {}
    for one in _core.constants():
        groups.setdefault(one.name.partition(".")[0], []).append(one)

    def default(one: _core.Constant) -> str:
        if math.isinf(one.default):
            return "infinite"
        number = f"{one.default:,.0f}" if one.default >= 1000 else f"{one.default:g}"
        return f"{number} {one.unit}".strip()

    def row(one: _core.Constant) -> tuple[str, ...]:
        by = one.figure or f"not measured: {one.unmeasured}"
        return f"`{one.name}`", default(one), one.meaning, f"{one.origin}: {one.because}", by

    headings = ["constant", "default", "meaning", "origin", "`lull calibrate`"]
    return "\n\n".join(f"## {group}\n\n{table(headings, map(row, rows))}" for group, rows in groups.items())


def machines() -> str:
    """The machines that come with Lull."""
    return table(
        ["machine", "is"],
        [(f"`{name}`", model_machine.read_machine(name).title) for name in model_machine.known_machines()],
    )


def prediction_json() -> str:
    """prediction.json, which is also the output of `lull predict --format json`."""
    return models_in(prediction_account.Prediction, prediction_account.Model, "record.md")


def aggregation_at_scale() -> str:
    """The simulated points of studies/aggregation/at_scale.py, each compared with the same without aggregation."""
    path = Path(__file__).resolve().parents[1] / "results" / "aggregation-at-scale.json"
    kept = json.loads(path.read_text(encoding="utf-8"))["points"]
    order = list(dict.fromkeys(point["application"] for point in kept.values()))

    def drawn(point: dict[str, Any], *names: str) -> float:
        return float(sum(point["joules"][name]["joules"] for name in names))

    rows = []
    for point in sorted(kept.values(), key=lambda p: (order.index(p["application"]), p["nodes"])):
        direct = kept[f"{point['application']}, direct, {point['nodes']}, {point['links']}"]
        network, node = drawn(point, "links", "switches", "nics"), drawn(point, "nodes")
        before = drawn(direct, "links", "switches", "nics", "nodes")
        rows.append(
            (
                point["application"],
                f"{point['nodes']:,}",
                point["way"],
                point["links"],
                formatting.si(point["run_time_s"], "s"),
                f"{point['messages']:,}",
                formatting.si(node, "J"),
                formatting.si(network, "J"),
                formatting.three_digits(network / node),
                formatting.three_digits(direct["run_time_s"] / point["run_time_s"]),
                formatting.three_digits(before / (network + node)),
            )
        )
    heads = ["application", "nodes", "items travel", "links", "time", "messages", "nodes' energy", "network's energy"]
    return table([*heads, "network over nodes", "Speedup", "Greenup"], rows)


# The study of links


def links_alone() -> str:
    """One application at a time: savings of links and slowdown."""
    return table(*kept_links.alone())


def links_together() -> str:
    """Several jobs at once: savings of links and slowdown."""
    return table(*kept_links.together())


def links_left_open() -> str:
    """Power settings of links that the paper left open."""
    return table(*kept_links.left_open())


def links_left_open_by_application() -> str:
    """Power settings that the paper left open, by application."""
    return table(*kept_links.left_open_by_application())


def links_statements() -> str:
    """The paper's statements, and the verdict of the kept points."""
    return table(*kept_links.statements())


def links_counts() -> str:
    """The part of the study that is kept."""
    return f"Kept are {kept_links.counts()}."


# shmem.h


def shmem_functions() -> str:
    """The functions of OpenSHMEM by their groups; NAME stands for a type's name, SIZE for bits."""
    rows = [
        (
            group.title + " (deprecated)" * group.deprecated,
            ", ".join(f"`{f.name.format(NAME='NAME', SIZE='SIZE')}`" for f in group.prototypes),
        )
        for group in Interface().groups
    ]
    return table(["group", "functions"], rows)


def shmem_routines() -> str:
    """Every routine of OpenSHMEM, what it does, and the program that calls all its functions."""
    interface = Interface()
    does = tomllib.loads(man_pages.WORDS.read_text(encoding="utf-8"))["does"]
    rows = [
        (
            f"`{routine.name}`" + " (deprecated)" * all(group.deprecated for group, _ in routine.prototypes),
            str(len(routine.functions())),
            does[routine.name],
            f"`{program}`",
        )
        for routine, program in program_of_each(interface).items()
    ]
    functions = len(interface.functions())
    return f"{len(rows)} routines with {functions} functions.\n\n" + table(
        ["routine", "functions", "meaning", "test"], rows
    )


def shmem_types() -> str:
    """The type tables of OpenSHMEM: names of types, by the functions that use them."""
    interface = Interface()
    rows = [
        (interface.said_of(name), ", ".join(f"`{one}`" for one in types))
        for name, types in interface.classes.items()
        if any(group.class_name == name for group in interface.groups)
    ]
    return table(["functions", "NAME is one of"], rows)


def results(benchmark: str) -> str:
    """The kept figures of a benchmark (`make bench-NAME KEEP=1`), with their targets."""
    top = Path(__file__).resolve().parents[2]
    path = top / "docs" / "results" / f"{benchmark}.json"
    if not path.is_file():
        raise ExtensionError(f"{path} is not there; make bench-{benchmark} KEEP=1 writes it")
    kept = json.loads(path.read_text(encoding="utf-8"))
    wanted = tomllib.loads((top / "benchmarks" / "figures.toml").read_text(encoding="utf-8"))[benchmark]
    spread = kept.get("spread", {})

    def found(name: str) -> str:
        value = f"{kept['figures'][name]:.4g}"
        return f"{value}\u00a0({spread[name][0]:.3g}\u2013{spread[name][1]:.3g})" if name in spread else value

    rows = [
        (f"`{name}`", found(name), row["wanted"].removesuffix(">").removesuffix("<"), row["is"])
        for name, row in wanted.items()
        if name in kept["figures"]
    ]
    machine = kept["machine"]
    words = (
        f"`make bench-{benchmark}` of {kept['date']}, commit `{kept['commit']}`, on {machine['processor']}, "
        f"{machine['cores']} cores, {machine['memory_gib']} GiB, {machine['system']}."
    )
    return words + "\n\n" + table(["figure", "found", "wanted", "what it is"], rows)


# The tests


def lines_that_run() -> str:
    """The coverage of each room by the tests, and the files with low coverage (`make coverage KEEP=1`)."""
    top = Path(__file__).resolve().parents[2]
    kept = json.loads((top / "docs" / "results" / "coverage.json").read_text(encoding="utf-8"))
    reasons = tomllib.loads((top / "tests" / "coverage" / "reasons.toml").read_text(encoding="utf-8"))
    rooms = [(f"`{room}`", f"{all_}", f"{100 * run / all_:.1f} %") for room, (run, all_) in kept["rooms"].items()]
    files = [
        (f"`{path}`", f"{100 * run / all_:.0f} % of {all_}", reasons.get(path, ""))
        for path, (run, all_) in kept["files_below_70_percent"].items()
    ]
    run, every = (sum(part) for part in zip(*kept["rooms"].values(), strict=True))
    words = f"Of {every} lines {100 * run / every:.1f} % run, at commit `{kept['commit'][:8]}`."
    return "\n\n".join(
        [
            words,
            table(["room", "lines", "that run"], rooms),
            "Less than 70 % run of:",
            table(["file", "lines that run", "why"], files),
        ]
    )


# The examples of these pages


def examples() -> str:
    """The number of examples, how they are run, and which are not."""
    blocks = [block for page in documentation.pages() for block in page.blocks if block.language != "text"]
    left_out = [block for block in blocks if block.entry.skip]
    instead = [block for block in blocks if block.entry.run]
    shorter = [block for block in blocks if block.shrunk and not block.entry.run and not block.entry.skip]
    lacking = [block for block in blocks if block.entry.needs and not block.entry.skip]
    words = (
        f"Of {len(blocks)} examples {len(blocks) - len(left_out) - len(instead)} are run as they stand, {len(shorter)} "
        f"of them shortened; in the place of {len(instead)} another script is run, and {len(left_out)} are not run. "
        f"{len(lacking)} are left out on machines that lack what they need: Slurm, namespaces, another library."
    )
    rows = [
        (f"`{block.first_line}`", block.page.removeprefix("docs/"), how, block.entry.skip or block.entry.why)
        for how, some in (("not run", left_out), ("otherwise", instead))
        for block in some
    ]
    return f"{words}\n\n{table(['example', 'page', 'how', 'why'], rows)}"


GENERATED: dict[str, Callable[[], str]] = {
    "cli": command_line,
    "settings": settings,
    "run-json": run_json,
    "samples": samples,
    "examples": examples,
    "coverage": lines_that_run,
    "export-columns": export_columns,
    "study-toml": study_toml,
    "published-machines": published_machines,
    "comparison-json": comparison_json,
    "json-commands": json_commands,
    "json-models": json_models,
    "simulate-toml": simulate_toml,
    "power-presets": power_presets,
    "topology-parameters": topology_parameters,
    "simulation-json": simulation_json,
    "simulation-links": simulation_links,
    "aggregation-at-scale": aggregation_at_scale,
    "links-alone": links_alone,
    "links-together": links_together,
    "links-left-open": links_left_open,
    "links-left-open-by-application": links_left_open_by_application,
    "links-statements": links_statements,
    "links-counts": links_counts,
    "machine-toml": machine_toml,
    "machines": machines,
    "machine-constants": machine_constants,
    "prediction-json": prediction_json,
    "shmem-functions": shmem_functions,
    "shmem-routines": shmem_routines,
    "shmem-types": shmem_types,
}


def fill_in(app: Sphinx, docname: str, source: list[str]) -> None:
    """Replace the marks in a page."""

    def made(mark: re.Match[str]) -> str:
        if mark[1].startswith("results-"):
            return results(mark[1].removeprefix("results-"))
        if mark[1] not in GENERATED:
            raise ExtensionError(f"{docname}: nothing generates {mark[1]!r}, there are: {', '.join(GENERATED)}")
        return GENERATED[mark[1]]()

    source[0] = rows_role.filled_in(docname, MARK.sub(made, source[0]))


def pages_with_marks(app: Sphinx, env: Any, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Pages to read again although their text has not changed."""
    texts = {name: Path(env.doc2path(name)).read_text(encoding="utf-8") for name in env.found_docs}
    return [name for name, text in texts.items() if MARK.search(text) or rows_role.MARK.search(text)]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", fill_in)
    app.connect("env-get-outdated", pages_with_marks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
