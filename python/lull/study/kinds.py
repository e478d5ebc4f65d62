"""The kinds of studies: of measured runs, simulations, choices, publications. What a file holds says which it is."""

from __future__ import annotations

from pathlib import Path

from lull.study.choices.description import StudyOfChoices, is_of_choices, read_choices
from lull.study.description import Description, read_description
from lull.study.published.description import StudyOfPublications, is_of_publications, read_publications
from lull.study.simulated.description import SimulatedStudy, is_simulated, read_simulated


def read_study(path: Path) -> Description | SimulatedStudy | StudyOfChoices | StudyOfPublications:
    """Read a study of any kind.

    Raises:
        LullError: The file is not there, is not TOML, or does not describe a study; the line says where and why.
    """
    if is_simulated(path):
        return read_simulated(path)
    if is_of_publications(path):
        return read_publications(path)
    return read_choices(path) if is_of_choices(path) else read_description(path)
