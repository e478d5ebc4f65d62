"""src/mpi/abi/mpi.h has the types, numbers and functions of the standard binary interface, as MPICH 5 defines them."""

import re
import subprocess
from pathlib import Path

import pytest

from mpi_packages import MPICH_5_ABI, TOP

pytestmark = pytest.mark.skipif(
    not MPICH_5_ABI.is_installed, reason=f"needs {MPICH_5_ABI.requirement} of PyPI for its header"
)

OURS = TOP / "src" / "mpi" / "abi" / "mpi.h"
NUMBERS = r"^#define (MPI_\w+) \(\((?:MPI_\w+|void)\*?\)0?x?\w+\)|^  (MPI_\w+) = -?\d+"


@pytest.fixture
def functions(tmp_path: Path) -> Path:
    """A folder with the declarations that are made of mpi.toml."""
    generator = TOP / "src" / "mpi" / "interface" / "wrappers.py"
    subprocess.run(["python3", "-B", generator, tmp_path], check=True)
    return tmp_path


def numbers(header: str, names: list[str], folder: Path, *flags: str) -> str:
    """The values of these names, one per line, and the sizes of types."""
    lines = [f'printf("{name} %lld\\n", (long long){name});' for name in names]
    lines += [
        f'printf("{one} %zu\\n", sizeof({one}));' for one in ("MPI_Aint", "MPI_Count", "MPI_Offset", "MPI_Status")
    ]
    lines.append('printf("%zu %zu\\n", offsetof(MPI_Status, MPI_ERROR), offsetof(MPI_Status, MPI_internal));')
    source = folder / "numbers.c"
    source.write_text(
        f"#include <stddef.h>\n#include <stdio.h>\n#include <{header}>\nint main(void) {{ {' '.join(lines)} }}\n"
    )
    subprocess.run(["cc", "-w", source, "-o", folder / "numbers", *flags], check=True)
    return subprocess.run([folder / "numbers"], capture_output=True, text=True, check=True).stdout


def test_types_and_numbers_are_those_of_the_standard(functions: Path) -> None:
    names = [one or other for one, other in re.findall(NUMBERS, OURS.read_text(), re.MULTILINE)]
    assert len(names) > 25
    ours = numbers("mpi.h", names, functions, f"-I{OURS.parent}", f"-I{functions}")
    theirs = numbers("mpi_abi.h", names, functions, f"-I{MPICH_5_ABI.folder}/include")
    assert ours == theirs


def declarations(text: str) -> dict[str, str]:
    """The types of the parameters of each function, by name."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    found = {}
    for name, parameters in re.findall(r"\bint\s+(MPI_\w+)\s*\(([^()]*)\)\s*;", text):
        types = []
        for one in parameters.split(","):
            array = "*" * one.count("[")
            bare = re.sub(r"\[\w*\]", "", one).strip()
            kind = bare if bare == "void" else re.sub(r"\w+$", "", bare)
            types.append(re.sub(r"\s*\*\s*", "*", kind).strip() + array)
        found[name] = ", ".join(types)
    return found


def test_functions_have_the_parameters_of_the_standard(functions: Path) -> None:
    theirs = declarations((MPICH_5_ABI.folder / "include" / "mpi_abi.h").read_text())
    ours = declarations(OURS.read_text() + (functions / "mpi_functions.h").read_text())
    assert len(ours) > 400
    different = {name: (types, theirs.get(name)) for name, types in ours.items() if types != theirs.get(name)}
    assert set(different) <= {"MPI_Pready_list"}  # the standard has a const more


def test_every_function_with_a_communicator_is_known(functions: Path) -> None:
    theirs = declarations((MPICH_5_ABI.folder / "include" / "mpi_abi.h").read_text())
    ours = declarations(OURS.read_text() + (functions / "mpi_functions.h").read_text())
    with_communicator = {name for name, types in theirs.items() if "MPI_Comm" in types.split(", ")}
    assert with_communicator - set(ours) == {"MPI_Comm_toint"}  # a number for other languages
