"""Writes recording.cpp, a wrapper for each function of OpenSHMEM that moves data, synchronises or waits:

    recording.py FOLDER

The effect of a call follows from its name and its parameters in src/shmem/interface/openshmem.toml; recorded.hpp
records it. Pointers are void* here, because the program's compiler has already checked them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from openshmem import Function, Interface, Parameter

MADE = "// Made by src/shmem_trace/recording.py of src/shmem/interface/openshmem.toml.\n"

# Functions without a wrapper: they neither communicate nor wait.
LOCAL = re.compile(
    r"shmem_(my_pe|n_pes|pe_accessible|addr_accessible|ptr|team_ptr|info_\w+|query_\w+|pcontrol|signal_fetch"
    r"|team_(my_pe|n_pes|get_config|translate_pe)|ctx_(create|destroy|get_team)|team_create_ctx|global_exit"
    r"|(set|clear)_cache\w*|udcflush\w*)"
)


KINDS = {"put": r"_(ib?)?put|_p$", "get": r"_(ib?)?get|_g$"}


def names(function: Function) -> set[str]:
    """The names of its parameters."""
    return {parameter.name for parameter in function.parameters}


def element_bytes(function: Function) -> str:
    """The size of one element that the function moves, as a C++ expression."""
    if function.type.endswith("_Complex"):
        return f"2 * sizeof({function.type.removesuffix(' _Complex')})"
    if function.type:
        return f"sizeof({function.type})"
    if re.search(r"_signal_(add|set)$", function.name):
        return "8"
    size = re.search(r"(put|get|broadcast|collect|alltoalls?)(\d+)", function.name)
    return str(int(size[2]) // 8) if size else "1"


# Statements that do not follow from the parameters.
NAMED = {
    "shmem_barrier_all": "call.collective(world, -1, 0, 0);",
    "shmem_sync_all": "call.collective(world, -1, 0, 0);",
    "shmem_team_sync": "call.collective(team, -1, 0, 0);",
    "shmem_quiet": "call.completed_at_targets();",
    "shmem_ctx_quiet": "call.completed_at_targets();",
    "shmem_pe_quiet": "call.plain();",  # the trace has no completion at some targets only
    "shmem_ctx_pe_quiet": "call.plain();",
    "shmem_finalize": "call.finalized();",
    "shmem_team_split_strided": "call.plain();\n  call.made_team(result, new_team);",
    "shmem_team_split_2d": "call.plain();\n  for (void* made : {xaxis_team, yaxis_team}) call.made_team(result, made);",
}


def statement(function: Function) -> str:
    """The statement that records the call's effect; its time is recorded anyway."""
    has = names(function)
    size = element_bytes(function)
    if "pe" in has:
        kind = next((k for k, pattern in KINDS.items() if re.search(pattern, function.name)), "atomic")
        many = "".join(f" * {count}" for count in ("nelems", "bsize", "nblocks") if count in has)
        context = "ctx" if "ctx" in has else "default_context"
        return f"call.one_sided(kind::{kind}, {context}, pe, {size}{many});"
    if "team" in has and has & {"nelems", "nreduce"}:
        return collective(function, size)
    return NAMED.get(function.name, "call.plain();")


def collective(function: Function, size: str) -> str:
    """Records the bytes that a PE contributes and receives."""
    one = f"{size} * {'nreduce' if 'nreduce' in names(function) else 'nelems'}"
    if "broadcast" in function.name:
        return f"call.broadcast(team, PE_root, {one});"
    if "alltoall" in function.name:
        return f"call.collective(team, -1, {one} * size_of(team), {one} * size_of(team));"
    if "collect" in function.name:  # in shmem_collect PEs may contribute different numbers: assumed equal
        return f"call.collective(team, -1, {one}, {one} * size_of(team));"
    return f"call.collective(team, -1, {one}, {one});"


def plain_type(parameter: Parameter) -> str:
    """The type in the wrapper's declaration: its representation in a register."""
    if parameter.type.endswith("*") or parameter.type in {"shmem_team_t", "shmem_ctx_t"}:
        return "const void*" if parameter.type.startswith("const ") else "void*"
    return parameter.type


def wrapper(function: Function) -> str:
    """One wrapper, after the declaration of its second name, which is weak because most processes have no OpenSHMEM."""
    parameters = ", ".join(f"{plain_type(p)} {p.name}" for p in function.parameters)
    arguments = ", ".join(parameter.name for parameter in function.parameters)
    result = "" if function.result == "void" else "const auto result = "
    c_type = "void*" if function.result.endswith("*") else function.result
    before = {"shmem_finalize": "  before_finalize();\n", "shmem_team_destroy": "  forget_team(team);\n"}
    after = {
        "shmem_init": "  after_init();\n",
        "shmem_init_thread": "  after_init();\n",
        "shmem_finalize": "  after_finalize();\n",
    }
    return (
        f"[[gnu::weak]] {c_type} p{function.name}({parameters});\n"
        f'[[gnu::visibility("default")]] {c_type} {function.name}({parameters}) {{\n'
        f'  static constinit region mine{{"{function.name}"}};\n'
        "  recorded call(mine);\n"
        f"{before.get(function.name, '')}"
        f"  {result}p{function.name}({arguments});\n"
        "  call.returned();\n"
        f"  {statement(function)}\n"
        f"{after.get(function.name, '')}"
        f"{'  return result;' + chr(10) if result else ''}"
        "}\n"
    )


def recorded_functions(interface: Interface) -> list[Function]:
    """The functions that get a wrapper. Old names without shmem_ have no second name to call."""
    return [
        function
        for function in interface.functions()
        if function.name.startswith("shmem_") and not LOCAL.fullmatch(function.name)
    ]


def recording(interface: Interface) -> str:
    """The whole source."""
    functions = "\n".join(map(wrapper, recorded_functions(interface)))
    head = f'{MADE}#include "shmem_trace/recorded.hpp"\n\nusing namespace lull::shmem_trace;\n'
    return f'{head}\nextern "C" {{\n\n{functions}\n}}\n'


def main(into: Path) -> None:
    """Write the source if it differs."""
    path = into / "recording.cpp"
    text = recording(Interface())
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        into.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
