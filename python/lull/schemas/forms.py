"""What each command prints with `--format json`, and the JSON Schema of it.

The schemas are generated from the models that make the JSON, so that both agree. A command may print one of several
objects, depending on its arguments.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any, Final, get_args

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from lull import __version__
from lull.advice.account import Advice
from lull.comparison.result import Comparisons
from lull.jobs.question import Answer
from lull.library.listing import ListedResult
from lull.model.machine import Machine
from lull.prediction.account import Prediction
from lull.record import Run
from lull.schemas.approaches import OutputAdvice, OutputAdviceOfSite
from lull.schemas.examination import Examination
from lull.schemas.fields import comments_of, unit_of
from lull.schemas.machine import EnergySource, InstalledApplication, PowerReading, SettingInForce
from lull.schemas.networks import NetworkFigures, SimulationKeys, Topologies
from lull.simulation.account import SimulationFile
from lull.simulation.comparison import SimulatedComparisons
from lull.simulation.sweep_table import SweepRow
from lull.trace.account import TraceAccount

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

# The command without `lull` -> the types of what it prints, in the order of its help.
FORMS: Final[dict[str, tuple[Any, ...]]] = {
    "top": (list[PowerReading],),
    "sources": (list[EnergySource],),
    "doctor": (Examination,),
    "show": (Run, SimulationFile, Prediction, TraceAccount),
    "list": (list[ListedResult],),
    "compare": (Comparisons, SimulatedComparisons),
    "archive info": (TraceAccount,),
    "apps": (list[InstalledApplication],),
    "calibrate": (Machine,),
    "advise": (Advice,),
    "predict": (Prediction,),
    "approaches": (OutputAdvice, OutputAdviceOfSite),
    "simulate": (SimulationFile, list[SweepRow], SimulationKeys),
    "topology": (Topologies, NetworkFigures),
    "jobs": (Answer,),
    "settings": (list[SettingInForce],),
}


def schema_of(command: str) -> dict[str, Any]:
    """The JSON Schema of what `lull COMMAND --format json` prints.

    Args:
        command: One of `FORMS`.
    """
    of: Any = FORMS[command][0]
    for other in FORMS[command][1:]:
        of = of | other
    made = TypeAdapter(of).json_schema(by_alias=True, mode="serialization", schema_generator=DescribedSchema)
    title = f"lull {command} --format json"
    return {"$schema": DIALECT, "$comment": f"Lull {__version__}", **made, "title": title}


def models_of(command: str) -> list[type]:
    """The models, or dataclasses, of the objects that a command prints, without those of their parts."""
    return [model for form in FORMS[command] for model in _models_in(form)]


def _models_in(form: Any) -> list[type]:
    if parts := get_args(form):
        return [model for part in parts for model in _models_in(part)]
    return [form] if issubclass(form, BaseModel) or is_dataclass(form) else []


class DescribedSchema(GenerateJsonSchema):
    """A generator of schemas that describes each field by its comment and its unit."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """No: a title would repeat the name of the field."""
        return False

    def str_schema(self, schema: core_schema.StringSchema) -> JsonSchemaValue:
        """The schema of a text, without a pattern of classes of Unicode, which many validators do not know."""
        made = super().str_schema(schema)
        if "\\P{" in made.get("pattern", ""):
            del made["pattern"]
        return made

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """The schema of a pydantic model."""
        cls: type[BaseModel] = schema["cls"]
        names = {one.serialization_alias or one.alias or name: name for name, one in cls.model_fields.items()}
        return _described(super().model_schema(schema), cls, names)

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """The schema of a dataclass."""
        return _described(super().dataclass_schema(schema), schema["cls"], {})


def _described(made: JsonSchemaValue, cls: type, names: dict[str, str]) -> JsonSchemaValue:
    """Add descriptions to the properties; `names` maps their names to those of fields, where these differ."""
    comments = comments_of(cls)
    for name, field in made.get("properties", {}).items():
        words = comments.get(names.get(name, name), "")
        unit = unit_of(name)
        if words:
            sentence = f"{words[0].upper()}{words[1:]}"
            field["description"] = f"{sentence}. Unit: {unit}." if unit else f"{sentence}."
    return made
