"""Read a JSON file that holds one model, such as simulation.json; a damaged one is rejected with a line."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from lull.base.documents import DamagedError, parse_json
from lull.base.errors import LullError, describe_os_error
from lull.record.schema import Model

M = TypeVar("M", bound=Model)


def read_model(path: Path, model: type[M], asked: str, again: str) -> M:
    """The content of `path`.

    Args:
        path: The file.
        model: The class of its content.
        asked: The action, with which errors begin.
        again: The fix if the file is damaged.

    Raises:
        LullError: It is missing or damaged.
    """
    try:
        return model.model_validate(parse_json(path.read_bytes()))
    except OSError as error:
        raise LullError(asked, f"{path.name}: {describe_os_error(error)}") from error
    except (DamagedError, ValidationError) as error:
        raise LullError(asked, f"{path.name} is damaged", again) from error
