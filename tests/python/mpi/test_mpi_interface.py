"""The table of MPI's functions, and the code generated from it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from mpi import Function, Interface, parameters_of, parsed
from mpi_libraries import ABI, LIBRARIES, OF_PYPI, MpiLibrary
from places import TOP
from worlds import declarations, type_of, worlds
from wrappers import Expression, function_list, wrappers

INTERFACE = TOP / "src" / "mpi" / "interface"
EVERY_LIBRARY = [*LIBRARIES, *OF_PYPI, *ABI]
FUNCTIONS = {function.name: function for function in Interface().functions()}


def test_every_name_stands_once() -> None:
    names = Interface().names()
    assert len(names) == len(set(names))
    assert {"MPI_Send", "MPI_Type_size", "MPI_T_init_thread", "MPI_File_iwrite_at_all_c"} <= set(names)


def test_a_line_that_is_no_prototype_is_named() -> None:
    with pytest.raises(ValueError, match="not a prototype: MPI_Send"):
        parsed("MPI_Send")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("MPI_Irecv", "void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, "
         "MPI_Request* request"),
        ("MPI_Send_c", "const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm"),
        ("MPI_Bcast_init_c", "void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, "
         "MPI_Info info, MPI_Request* request"),
        ("MPI_Ineighbor_alltoallw_c", "const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], "
         "const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], "
         "const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request"),
        ("MPI_Win_create_c", "void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, "
         "MPI_Win* win"),
    ],
)  # fmt: skip
def test_relatives_follow_from_the_function(name: str, parameters: str) -> None:
    assert FUNCTIONS[name].parameters == parameters_of(parameters)


def test_only_what_waits_is_blocking() -> None:
    assert FUNCTIONS["MPI_Recv"].blocking
    assert FUNCTIONS["MPI_Recv_c"].blocking
    assert FUNCTIONS["MPI_Waitall"].blocking
    assert not FUNCTIONS["MPI_Irecv"].blocking
    assert not FUNCTIONS["MPI_Testall"].blocking
    assert not FUNCTIONS["MPI_Allreduce_init"].blocking


def test_functions_without_a_count_have_no_large_relative() -> None:
    assert "MPI_Barrier_c" not in FUNCTIONS
    assert "MPI_Ibarrier" in FUNCTIONS


@pytest.mark.parametrize(
    ("name", "text", "in_place", "made"),
    [
        ("MPI_Bcast", "root: count * datatype", False,
         "members.is_root(root) ? counted(count) * size_of(datatype) : 0"),
        ("MPI_Allgatherv", "sum recvcounts * recvtype", False, "total(recvcounts, members.size) * size_of(recvtype)"),
        ("MPI_Allgatherv", "sendcount * sendtype", True, "at(recvcounts, members.rank) * size_of(recvtype)"),
        ("MPI_Alltoallw", "sum sendcounts * sendtypes", True, "total(recvcounts, recvtypes, members.size)"),
        ("MPI_Reduce_scatter", "sum recvcounts * datatype", True,
         "total(recvcounts, members.size) * size_of(datatype)"),
        ("MPI_Neighbor_alltoall", "sendcount * sendtype * targets", False,
         "counted(sendcount) * size_of(sendtype) * counted(near.targets)"),
        ("MPI_Barrier", "", False, "0"),
    ],
)  # fmt: skip
def test_bytes_become_an_expression(name: str, text: str, in_place: bool, made: str) -> None:
    assert Expression(FUNCTIONS[name])(text, in_place=in_place) == made


def test_front_and_flavours_number_alike() -> None:
    lines = function_list(Interface()).splitlines()
    assert lines == [f"LULL_MPI_FUNCTION({name})" for name in Interface().names()]


def test_only_what_the_headers_declare_is_wrapped(tmp_path: Path) -> None:
    header = tmp_path / "mpi.h"
    header.write_text("int MPI_Send(const void *buf);\nint MPI_Wtime(void);\n")
    text = wrappers(Interface(), [header])
    assert "wrapped_MPI_Send(" in text
    assert "wrapped_MPI_Recv(" not in text
    assert text.count("    {},\n") == len(Interface().names()) - 1


@pytest.mark.parametrize("mpi", EVERY_LIBRARY, ids=lambda mpi: mpi.name)
def test_every_function_of_a_library_is_in_the_table(mpi: MpiLibrary) -> None:
    """All exported names MPI_..., except functions that exist for their address."""
    if mpi.missing or shutil.which("nm") is None:
        pytest.skip(mpi.missing or "needs nm")
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", path_of(mpi)], capture_output=True, text=True, check=True
    ).stdout
    names = {line.split()[-1].partition("@")[0] for line in listed.splitlines()}
    functions = {one for one in names if one.startswith("MPI_") and f"P{one}" in names}
    functions = {one for one in functions if not one.endswith(("_FN", "_F90", "_NULL"))}
    assert functions - set(Interface().names()) == set()
    wrapped = [function for function in Interface().functions() if function.name in functions]
    assert len(wrapped) >= (180 if mpi.flavour == "openmpi" else 330)


def path_of(mpi: MpiLibrary) -> Path:
    """The file of a library; of the distribution's, where the loader finds it."""
    if mpi.package is not None:
        return mpi.package.folder / "lib" / mpi.soname
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    return next(Path(line.split()[-1]) for line in known.splitlines() if line.split()[0] == mpi.soname)


def test_a_wrapper_of_a_call_that_waits_says_whom_it_waits_for() -> None:
    function: Function = FUNCTIONS["MPI_Recv"]
    assert function.first("MPI_Comm") == "comm"
    text = wrappers(Interface(), [INTERFACE / "mpi.toml"])
    assert 'scope("MPI_Recv", __builtin_return_address(0), bits_of(comm), source, counted(count))' in text
    assert 'scope("MPI_Irecv"' not in text


def test_a_communicator_is_translated_wherever_it_stands_among_the_parameters() -> None:
    header = """
      OMPI_DECLSPEC int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
      int MPI_Comm_free(MPI_Comm *comm);  /* int MPI_Comm_rank(MPI_Comm comm, int *rank) */
      int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm bridge_comm, int remote_leader, int tag,
                               MPI_Comm *newintercomm) API;
      int PMPI_Send(const void *buf, MPI_Comm comm);
    """
    found = {one.name: one.communicators for one in declarations(header)}
    assert found == {"MPI_Send": 0b100000, "MPI_Intercomm_create": 0b101}


@pytest.mark.parametrize(
    ("parameter", "of_type"),
    [
        ("const int dims[]", "const int*"),
        ("char ***argv", "char***"),
        ("MPI_Comm comm", "MPI_Comm"),
        ("char** argv[]", "char***"),
    ],
)
def test_arrays_are_pointers(parameter: str, of_type: str) -> None:
    assert type_of(parameter) == of_type


def test_the_end_of_a_job_and_the_number_of_a_handle_stay_of_the_real_world() -> None:
    header = """
      int MPI_Abort(MPI_Comm comm, int code);
      int MPI_Comm_c2f(MPI_Comm comm);
      int MPI_Comm_toint(MPI_Comm comm);
      int MPI_Barrier(MPI_Comm comm);
    """
    made = worlds(Interface(), header)
    assert "translated<function::MPI_Barrier, 0x1, MPI_Comm>" in made
    assert "MPI_Abort" not in made and "c2f" not in made and "toint" not in made
