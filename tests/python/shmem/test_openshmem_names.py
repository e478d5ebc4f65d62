"""The table of OpenSHMEM's interface agrees with the specification; headers and library have all its names, and no
other.

The headers are generated from the table, the definitions are not: a definition with other types than its prototype
would be another function in C++, and the library would lack the name.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import openshmem_names as specification
from lull.base import installed
from openshmem import Function, Generic, Interface
from symbols import OF_COUNTERS

PREFIX = installed.package_folder().parents[2].parent
INCLUDE = PREFIX / "include"
LIBRARY = PREFIX / "lib" / "liblull-shmem.so"

INTERFACE = Interface()

# Names beyond the specification, and why.
FURTHER_GENERICS = {"shmem_wait": "as deprecated as shmem_TYPE_wait, for all types of which there is one"}
FURTHER_CONSTANTS = {
    f"_SHMEM_{what}SYNC_SIZE": "by analogy with the deprecated constants" for what in ("", "ALLTOALL_", "ALLTOALLS_")
}
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")


@cache
def functions() -> tuple[Function, ...]:
    return tuple(INTERFACE.functions())


def types_of(function: Function) -> str:
    """The parameters of a declaration without their names."""
    return ", ".join(parameter.type for parameter in function.parameters) or "void"


def compiled(folder: Path, source: str, name: str, *options: str) -> Path:
    """The object file of a program; `name` determines the language and names the file."""
    (folder / name).write_text(source)
    compiler = "g++" if name.endswith("cpp") else "gcc"
    standard = "-std=c++20" if name.endswith("cpp") else "-std=c11"
    made = folder / (name + ".o")
    done = subprocess.run(
        [compiler, standard, *WARNINGS, *options, "-I", INCLUDE, "-c", name, "-o", made.name],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:4000]
    return made


def symbols(file: Path, *options: str) -> set[str]:
    done = subprocess.run(["nm", "--format=posix", *options, file], capture_output=True, text=True, check=True)
    return {line.split()[0] for line in done.stdout.splitlines()}


def profiled() -> list[Function]:
    """The functions with a second name: pshmem_... for shmem_..."""
    return [replace(f, name="p" + f.name) for f in functions() if f.name.startswith("shmem_")]


def declared_again_and_called_by_address(cpp: bool, header: str, wanted: Sequence[Function]) -> str:
    """A function with another prototype in the header is an error here; one that the library lacks, when linking."""
    lines = [f"#include <{header}>", f"#include <{header}>", "#include <stdio.h>"]
    lines += ['extern "C" {'] if cpp else []
    lines += [f"__extension__ {f.result} ({f.name})({types_of(f)});" for f in wanted]
    lines += ["}"] if cpp else []
    lines.append("typedef void (*function)(void);")
    for number, f in enumerate(wanted):  # in C++ the address of an overloaded function needs its type
        lines.append(f"__extension__ typedef {f.result} (*type_{number})({types_of(f)});")
    lines.append("static const function all[] = {")
    for number, f in enumerate(wanted):
        exact = f"static_cast<type_{number}>({f.name})"
        lines.append(f"  reinterpret_cast<function>({exact})," if cpp else f"  (function)({f.name}),")
    lines.append("};")
    lines.append("int main(void) {")
    lines.append("  unsigned long n = 0;")
    lines.append("  for (unsigned long i = 0; i < sizeof all / sizeof all[0]; ++i) n += all[i] != 0;")
    lines.append('  printf("%lu\\n", n);')
    lines.append("  return 0;\n}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("header", ["shmem.h", "pshmem.h"])
@pytest.mark.parametrize("language", ["c", "cpp"])
def test_a_program_links_every_function_with_its_prototype(tmp_path: Path, language: str, header: str) -> None:
    wanted = profiled() if header == "pshmem.h" else functions()
    options = ["-Wno-c++-compat"] if language == "c" else ["-Wno-cast-function-type"]
    source = declared_again_and_called_by_address(language == "cpp", header, wanted)
    made = compiled(tmp_path, source, f"every_name.{language}", *options)
    program = tmp_path / "program"
    subprocess.run(["g++", made, "-o", program, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}"], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    assert int(done.stdout) == len(wanted)


def test_a_cpp_program_may_include_the_headers_within_extern_c(tmp_path: Path) -> None:
    headers = ("shmem.h", "shmemx.h", "pshmem.h", "mpp/shmem.h", "lull/aggregate.h", "lull/meter.h")
    lines = ['extern "C" {', *(f"#include <{header}>" for header in headers), "}"]
    lines.append("int sum(std::complex<double> *x);\nint sum(std::complex<double> *x) {")
    lines.append("  return shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, x, x, 1);\n}")
    compiled(tmp_path, "\n".join(lines) + "\n", "within.cpp")


def test_the_library_exports_these_functions_and_else_only_its_own() -> None:
    exported = {
        name
        for name in symbols(LIBRARY, "-D", "--defined-only")
        if not name.startswith(("_Z", "lull", "LULL", *OF_COUNTERS))
    }
    wanted = {f.name for f in (*functions(), *profiled())}
    assert wanted - exported == set()
    further = {name for name in exported - wanted if not name.startswith("shmemx_")}
    assert further == set()


def test_the_table_has_as_many_names_as_the_specification() -> None:
    counts = {
        group.title: len(group.functions()) + len({g.name for g in group.generics()} - FURTHER_GENERICS.keys())
        for group in INTERFACE.groups
    }
    assert counts == specification.NAMES
    assert len({f.name for f in functions()}) == len(functions())
    by_type = {g.name for g in INTERFACE.generics()} - FURTHER_GENERICS.keys()
    assert len({*by_type, *specification.BY_NUMBER_OF_ARGUMENTS}) == specification.GENERICS


def test_the_classes_of_types_are_the_tables_of_the_specification() -> None:
    used = {group.class_name for group in INTERFACE.groups} - {""}
    assert {name: set(INTERFACE.classes[name]) for name in used} == specification.CLASSES


def test_a_function_has_the_type_its_name_says() -> None:
    for f in functions():
        if f.type:
            match = re.match(r"shmem_(?:ctx_)?([a-z0-9]+)_", f.name)
            assert match and specification.c_type(match[1]) == f.type


def test_types_that_the_table_calls_the_same_are_the_same(tmp_path: Path) -> None:
    types = dict.fromkeys(INTERFACE.types.values())
    lines = ["#include <stddef.h>", "#include <stdint.h>"]
    for one in types:
        lines.append(f'_Static_assert(_Generic(({one})0, {INTERFACE.same(one)}: 1, default: 0), "{one}");')
    compiled(tmp_path, "\n".join(lines) + "\n", "same.c")


def allowed(generic: Generic, c_type: str, context: bool) -> frozenset[str]:
    """The functions that a call of `generic` for this C type may select: one C type has several names."""
    prefix = "shmem_ctx_" if context else "shmem_"
    return frozenset(
        f"{prefix}{name}_{generic.suffix}"
        for name, other in generic.group.types.items()
        if INTERFACE.same(other) == INTERFACE.same(c_type)
    )


# The argument of a call for a parameter of this type.
ARGUMENTS = {
    "{TYPE}*": "x",
    "const {TYPE}*": "x",
    "{TYPE}": "v",
    "shmem_team_t": "team",
    "uint64_t*": "word",
    "size_t*": "indices",
    "const int*": "status",
    **dict.fromkeys(("int", "size_t", "ptrdiff_t", "uint64_t"), "1"),
}


def calls_of(generic: Generic) -> list[tuple[frozenset[str], str]]:
    """For each type, and with a context if possible: the functions that may be selected, and one that calls."""
    made = []
    given = ", ".join(ARGUMENTS[parameter.type] for parameter in generic.parameters)
    for number, (name, c_type) in enumerate(generic.group.types.items()):
        for context in (False, True) if generic.group.contexts else (False,):
            arguments = f"ctx, {given}" if context else given
            made.append(
                (
                    allowed(generic, c_type, context),
                    f"void {generic.name}_{number}_{int(context)}_{name}({c_type} *x, {c_type} v) {{\n"
                    f"  (void)x, (void)v;\n  {generic.name}({arguments});\n}}",
                )
            )
    return made


def test_every_generic_goes_to_the_function_of_the_type_it_is_called_with(tmp_path: Path) -> None:
    lines = ["#include <shmem.h>", "extern shmem_ctx_t ctx;", "extern shmem_team_t team;", "extern uint64_t *word;"]
    lines += ["extern size_t *indices;", "extern const int *status;", "void shmem_team_sync_alone(void);"]
    lines.append("void shmem_team_sync_alone(void) { shmem_sync(team); }")
    lines.append("void signals(void);\nvoid signals(void) {")
    lines.append("  shmem_signal_add(word, 1, 0), shmem_signal_add(ctx, word, 1, 0);")
    lines.append("  shmem_signal_set(word, 1, 0), shmem_signal_set(ctx, word, 1, 0);\n}")
    wanted: set[frozenset[str]] = {frozenset({"shmem_team_sync"})}
    wanted |= {frozenset({f"shmem_{ctx}signal_{op}"}) for ctx in ("", "ctx_") for op in ("add", "set")}
    for generic in INTERFACE.generics():
        for where, call in calls_of(generic):
            wanted.add(where)
            lines.append(call)
    made = compiled(tmp_path, "\n".join(lines) + "\n", "generics.c", "-Wno-missing-prototypes", "-Wno-unused-value")
    called = {name for name in symbols(made, "-u") if name.startswith("shmem_")}
    for where in wanted:
        assert len(where & called) == 1, where  # all calls with one C type select one function
    assert called == {name for where in wanted for name in where & called}


def test_the_header_has_these_generics_and_no_other() -> None:
    text = (INCLUDE / "lull" / "shmem_generic.h").read_text()
    there = set(re.findall(r"^#define (shmem_\w+)\(", text, re.MULTILINE))
    assert there == {*specification.BY_NUMBER_OF_ARGUMENTS, *(g.name for g in INTERFACE.generics())}


@pytest.mark.parametrize("header", ["shmem.h", "mpp/shmem.h"])
@pytest.mark.parametrize("language", ["c", "cpp"])
def test_constants_are_integer_constant_expressions_strings_and_handles(
    tmp_path: Path, language: str, header: str
) -> None:
    lines = [f"#include <{header}>", f"#include <{header.replace('shmem', 'shmemx')}>"]
    for name in specification.CONSTANTS + specification.OLD_CONSTANTS:
        lines.append(f"enum {{ a_{name} = {name} }};")
    for name in specification.STRINGS:
        lines.append(f"static const char a_{name}[SHMEM_MAX_NAME_LEN] = {name};")
        lines.append(f"const char *p_{name}(void);\nconst char *p_{name}(void) {{ return a_{name}; }}")
    for name, c_type in specification.HANDLES.items():
        lines.append(f"{c_type} f_{name}(void);\n{c_type} f_{name}(void) {{ return {name}; }}")
    lines.append("extern shmem_team_config_t config;\nint contexts(void);")
    lines.append("int contexts(void) { return config.num_contexts; }")
    lines.append("extern shmem_ctx_session_config_t session;\nsize_t ops(void);")
    lines.append("size_t ops(void) { return session.total_ops; }")
    compiled(tmp_path, "\n".join(lines) + "\n", f"constants.{language}")


def test_the_headers_have_these_constants_and_no_other() -> None:
    text = (INCLUDE / "shmem.h").read_text()
    there = set(re.findall(r"\b_?SHMEM_[A-Z0-9_]+\b", text.replace("LULL_SHMEM", "LULL")))
    known = {*specification.CONSTANTS, *specification.OLD_CONSTANTS, *specification.STRINGS, *specification.HANDLES}
    variables = {"SHMEM_SYMMETRIC_SIZE"}  # an environment variable, named in a comment
    assert there - variables - FURTHER_CONSTANTS.keys() == known


@pytest.mark.skipif(shutil.which("clang") is None, reason="no clang")
def test_clang_understands_the_generics_too(tmp_path: Path) -> None:
    lines = ["#include <shmem.h>", "extern shmem_ctx_t ctx;", "extern shmem_team_t team;", "extern uint64_t *word;"]
    lines += ["extern size_t *indices;", "extern const int *status;"]
    lines += [call for generic in INTERFACE.generics() for _, call in calls_of(generic)]
    source = tmp_path / "generics.c"
    source.write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        ["clang", "-std=c11", "-Wall", "-Werror", "-Wno-unused-value", "-I", INCLUDE, "-fsyntax-only", source],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:4000]


TOOL = """
#include <pshmem.h>
#include <stdio.h>
static int puts_seen;
void shmem_long_put(long *dest, const long *source, size_t nelems, int pe) {
  ++puts_seen;
  pshmem_long_put(dest, source, nelems, pe);
}
void shmem_finalize(void) {
  fprintf(stderr, "tool: %d puts\\n", puts_seen);
  pshmem_finalize();
}
"""
PROFILED = """
#include <shmem.h>
#include <stdio.h>
int main(void) {
  static long here, there;
  shmem_init();
  here = 42;
  shmem_put(&there, &here, 1, shmem_my_pe());
  shmem_quiet();
  printf("%ld\\n", there);
  shmem_finalize();
  return 0;
}
"""


@pytest.mark.parametrize("how", ["linked", "preloaded"])
def test_a_tool_intercepts_calls_and_passes_them_on(tmp_path: Path, how: str) -> None:
    objects = [compiled(tmp_path, PROFILED, "program.c")]
    tool = compiled(tmp_path, TOOL, "tool.c", "-fPIC")
    environment = {"PATH": "/usr/bin"}
    if how == "linked":
        objects.append(tool)
    else:
        subprocess.run(["gcc", "-shared", tool, "-o", tmp_path / "libtool.so"], check=True)
        environment["LD_PRELOAD"] = str(tmp_path / "libtool.so")
    program = tmp_path / "program"
    subprocess.run(["gcc", *objects, "-o", program, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}"], check=True)
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "tool: 1 puts\n")


def run(tmp_path: Path, *before: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A program of two lines, as one PE, with these variables in its environment, started by another command."""
    program = tmp_path / "hello"
    if not program.exists():
        made = compiled(tmp_path, "#include <shmem.h>\nint main(void) { shmem_init(); shmem_finalize(); }\n", "hello.c")
        subprocess.run(["gcc", made, "-o", program, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}"], check=True)
    return subprocess.run(
        [*before, program], env={"PATH": "/usr/bin", **env}, capture_output=True, text=True, check=False
    )


def test_the_environment_makes_a_job_say_version_variables_and_where_it_stands(tmp_path: Path) -> None:
    assert run(tmp_path).stderr == ""
    assert re.fullmatch(r"lull: Lull \d+\.\d+\.\d+, OpenSHMEM 1\.6\n", run(tmp_path, SHMEM_VERSION="x").stderr)
    info = run(tmp_path, SHMEM_INFO="1").stderr
    assert all(f"SHMEM_{name} = " in info for name in ("VERSION", "INFO", "SYMMETRIC_SIZE", "DEBUG"))
    debug = run(tmp_path, SHMEM_DEBUG="1").stderr.splitlines()
    assert debug[0].startswith("lull: PE 0: 1 PE, process ")
    assert debug[1].startswith("lull: PE 0: has waited 0 times")


def test_a_heap_lies_on_the_numa_node_of_the_cores_of_its_pe(tmp_path: Path) -> None:
    cores = sorted(os.sched_getaffinity(0))
    machine = {"HWLOC_SYNTHETIC": f"numa:{cores[-1] + 2} pu:1", "SHMEM_DEBUG": "1"}  # each core has a node of its own
    for core in (cores[0], cores[-1]):
        said = run(tmp_path, "taskset", "-c", str(core), **machine).stderr
        assert f" bytes on NUMA node {core}, waits" in said
    one_node = machine | {"HWLOC_SYNTHETIC": f"numa:1 pu:{cores[-1] + 1}"}
    assert "NUMA" not in run(tmp_path, "taskset", "-c", str(cores[0]), **one_node).stderr


def test_a_wrong_alignment_is_said_with_debug(tmp_path: Path) -> None:
    source = "#include <shmem.h>\nint main(void) { shmem_init(); shmem_align(24, 8); shmem_finalize(); }\n"
    made = compiled(tmp_path, source, "align.c")
    program = tmp_path / "align"
    subprocess.run(["gcc", made, "-o", program, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}"], check=True)
    for debug, says in ({"SHMEM_DEBUG": "1"}, 1), ({}, 0):
        done = subprocess.run([program], env=debug, capture_output=True, text=True, check=True)
        assert done.stderr.count("lull: PE 0: shmem_align: the alignment 24 is not a power of two\n") == says


def test_sizes_of_the_heap_have_suffixes_and_decimals_and_old_names(tmp_path: Path) -> None:
    def heap(**env: str) -> str:
        done = run(tmp_path, SHMEM_DEBUG="1", **env)
        assert done.returncode == 0, done.stderr
        found = re.search(r"heap of (\d+) bytes", done.stderr)
        assert found
        return found[1]

    for text, size in {
        "20m": 20971520,
        "3.1m": 3250586,
        ".5M": 524288,
        "64K": 65536,
        "1t": 1 << 40,
        "0.25g": 1 << 28,
        "1000000": 1000000,
    }.items():
        assert int(heap(SHMEM_SYMMETRIC_SIZE=text)) == size, text
    assert int(heap(SMA_SYMMETRIC_SIZE="8M")) == 8 << 20
    assert int(heap(SMA_SYMMETRIC_SIZE="8M", SHMEM_SYMMETRIC_SIZE="4M")) == 4 << 20


@pytest.mark.parametrize("size", ["20kk", "20x", "many", "-1", "20 m"])
def test_a_size_with_an_unknown_suffix_ends_the_program_with_a_report(tmp_path: Path, size: str) -> None:
    done = run(tmp_path, SHMEM_SYMMETRIC_SIZE=size)
    assert done.returncode == 2
    assert f"SHMEM_SYMMETRIC_SIZE: '{size}' is not a size" in done.stderr
    assert done.stderr.count("\n") == 1
