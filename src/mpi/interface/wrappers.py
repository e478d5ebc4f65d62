"""Writes what is made of mpi.toml, into a folder:

    wrappers.py FOLDER                             functions.inc: all functions, as front and flavours number them;
                                                   mpi_functions.h: their prototypes, for src/mpi/abi/mpi.h
    wrappers.py FOLDER FLAVOUR HEADER [HEADER...]  FLAVOUR_wrappers.cpp: a wrapper for each that these headers declare

A wrapper says in its parameters' names what happens; how that is recorded and waited for is in src/mpi/recorded.hpp and
src/mpi/waiting.hpp. A file that would stay as it is is not touched, so that nothing is compiled again.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from mpi import Function, Interface, Parameter

MADE = "// Made by src/mpi/interface/wrappers.py of mpi.toml.\n"


def function_list(interface: Interface) -> str:
    """One line for each function, in the order that numbers them."""
    return "".join(f"LULL_MPI_FUNCTION({name})\n" for name in interface.names())


def prototypes(interface: Interface) -> str:
    """The declarations of the functions that the table describes."""
    lines = (f"int {one.name}({', '.join(map(str, one.parameters)) or 'void'});\n" for one in interface.functions())
    return MADE + "".join(lines)


def declared(headers: list[Path]) -> set[str]:
    """The names of functions that these headers declare."""
    return {name for path in headers for name in re.findall(r"\b(MPI_\w+)\s*\(", path.read_text(encoding="utf-8"))}


def with_their_const(function: Function, headers: str) -> Function:
    """The function, with `const` where these headers have it: libraries and their versions differ."""
    found = re.search(rf"\bint\s+{function.name}\s*\(([^()]*)\)", headers)
    theirs = found[1].split(",") if found else []
    if len(theirs) != len(function.parameters):
        return function

    def like(declared: str, ours: Parameter) -> Parameter:
        plain = ours.type.removeprefix("const ")
        return replace(ours, type=f"const {plain}" if declared.strip().startswith("const ") else plain)

    return replace(function, parameters=tuple(map(like, theirs, function.parameters)))


class Expression:
    """What a row of [bytes] says, as C++.

    `sum recvcounts * recvtype` becomes `total(recvcounts, members.size) * size_of(recvtype)`, and
    `root: ...` is asked of the root only: elsewhere the arguments mean nothing.
    """

    def __init__(self, function: Function) -> None:
        self._function = function

    def __call__(self, text: str, *, in_place: bool = False) -> str:
        """The C++ of `text`; with `in_place`, of a process whose data is in the other buffer."""
        where, _, product = text.rpartition(": ")
        if not product:
            return "0"
        factors = [self._elsewhere(factor) if in_place else factor for factor in product.split(" * ")]
        made = self._product(factors)
        if not where:
            return made
        return f"members.is_root(root) ? {made} : 0" if where == "root" else f"members.is_other(root) ? {made} : 0"

    def _elsewhere(self, factor: str) -> str:
        """A factor of the send side as the receive side has it, or the other way round."""
        how, space, name = factor.rpartition(" ")
        ours, theirs = ("send", "recv") if "send" in name else ("recv", "send")
        other = name.replace(ours, theirs)
        if other in self._function:
            return f"{how}{space}{other}"
        return f"own {other}s" if f"{other}s" in self._function else factor

    def _product(self, factors: list[str]) -> str:
        numbers = self._neighbours() if "Neighbor" in self._function.name or "neighbor" in self._function.name else {}
        made = []
        for index, factor in enumerate(factors):
            how, _, name = factor.rpartition(" ")
            if how == "sum":
                many = numbers.get("send" if "send" in name else "recv", "members.size")
                types = factors[index + 1] if factors[index + 1].endswith("types") else None
                made.append(f"total({name}, {f'{types}, ' if types else ''}{many})")
            elif how == "own":
                made.append(f"at({name}, members.rank)")
            elif name.endswith("types"):
                continue  # they are in the sum
            elif name.endswith("type"):
                made.append(f"size_of({name})")
            elif name in {"size", "sources", "targets"}:
                made.append(f"counted({'members' if name == 'size' else 'near'}.{name})")
            else:
                made.append(f"counted({name})")
        return " * ".join(made)

    @staticmethod
    def _neighbours() -> dict[str, str]:
        return {"send": "near.targets", "recv": "near.sources"}


def size_for_waiting(function: Function) -> str:
    """The size by which waits of one call site are told apart."""
    for name in ("count", "sendcount", "recvcount", "incount", "origin_count"):
        if name in function:
            return f"counted({name})"
    return "0"


def peer_for_waiting(function: Function) -> str:
    """The rank that is waited for, where there is one."""
    return next((name for name in ("source", "dest", "root", "target_rank", "rank") if name in function), "-1")


def message(function: Function) -> list[str]:
    """The statements for a call that sends, receives, or both."""
    sends, receives = "dest" in function, "source" in function or "message" in function
    if "message" in function:
        came = "matched.comm, matched.source, matched.tag"
    else:
        came = f"comm, source, {'recvtag' if 'recvtag' in function else 'tag'}"
    pair = ("sendcount", "sendtype") if "sendtype" in function else ("count", "datatype")
    size = f"bytes({', '.join(pair)})" + (" * counted(partitions)" if "partitions" in function else "")
    expected = "bytes(recvcount, recvtype)" if "recvtype" in function else size
    went = f"comm, dest, {'sendtag' if 'sendtag' in function else 'tag'}, {size}"
    if function.prepares:
        return [
            f"call.prepared_send({went}, *request);"
            if sends
            else f"call.prepared_receive({came}, {expected}, *request);"
        ]
    if "request" in function:
        if sends and receives:
            return [f"call.sent({went});", f"call.also_posted_receive({came}, {expected}, *request);"]
        return [
            f"call.posted_send({went}, *request);" if sends else f"call.posted_receive({came}, {expected}, *request);"
        ]
    if sends and receives:
        return [f"call.sent({went});", "call.also_received(comm, *seen);"]
    return [f"call.sent({went});"] if sends else [f"call.received({came.split(',')[0]}, *seen);"]


def collective(function: Function) -> list[str]:
    """The statements for a collective, whichever way it completes."""
    assert function.bytes is not None
    expression = Expression(function)
    root = "root" if "root" in function else "no_root"
    how = "prepared_collective" if function.prepares else "posted_collective" if "request" in function else "collective"
    behind = ", *request" if "request" in function else ""
    gives, gets = function.bytes.gives, function.bytes.gets
    made = ["const members_of members(call.thread(), comm);"]
    if "near." in expression(gives) + expression(gets):
        made.append("const neighbours near(comm);")
    if "sendbuf" in function and "eighbor" not in function.name:
        given, got = _either("sendbuf", expression(gives), expression(gives, in_place=True)), expression(gets)
        if "catter" in function.name and "root" in function:  # of MPI_Scatter the root's part may stay where it is
            got = _either("recvbuf", got, expression(gets, in_place=True))
    else:
        given, got = expression(gives), expression(gets)
    made += [
        f"const std::uint64_t given = {given};",
        f"const std::uint64_t got = {got};",
        f"call.{how}(members, {root}, given, got{behind});",
    ]
    return made


def _either(buffer: str, expression: str, in_place: str) -> str:
    if expression == in_place:
        return expression
    here, there = (f"({one})" if "?" in one else one for one in (expression, in_place))
    return f"{buffer} != MPI_IN_PLACE ? {here} : {there}"


def communicator(function: Function) -> list[str]:
    """The statements for a call that makes a communicator."""
    new = function.first("MPI_Comm*")
    old = function.first("MPI_Comm")
    if "request" in function:
        return [f"call.posted_duplicate({old}, *{new}, *request);"]
    if old is None or "group" in function.name:  # not all of a communicator call it
        return ["call.plain();", f"call.made_communicator(*{new});"]
    root = "root" if "root" in function else "no_root"
    return [f"call.collective(members_of(call.thread(), {old}), {root}, 0, 0);", f"call.made_communicator(*{new});"]


def one_sided(function: Function) -> list[str]:
    """The statements for a transfer to or from a window."""
    bare = function.name.removeprefix("MPI_R").removeprefix("MPI_").removesuffix("_c").lower()
    kind = bare if bare in {"put", "get"} else "atomic"
    side = "result" if "result_count" in function else "origin"
    size = f"bytes({side}_count, {side}_datatype)" if f"{side}_count" in function else "size_of(datatype)"
    return [f"call.one_sided(trace::kind::{kind}, win, target_rank, {size});"]


def completion(function: Function) -> list[str]:
    """The statements for Wait..., Test...: which of the requests asked for have completed."""
    arguments = ["result", "asked", "seen"]
    how = "all"
    if "indx" in function:
        how, arguments = "one", [*arguments, "indx"]
    elif "outcount" in function:
        how, arguments = "some", [*arguments, "outcount", "array_of_indices"]
    if "flag" in function:
        arguments.append("flag")
    return [f"call.{how}_completed({', '.join(arguments)});"]


def probe(function: Function) -> list[str]:
    """The statements for a probe, which may take a message out."""
    made = ["if (*flag == 0) return call.in_vain(), result;"] if "flag" in function else []
    made.append("call.plain();")
    if "message" in function:
        made.append("matched_messages::remember(*message, {comm, seen->MPI_SOURCE, seen->MPI_TAG});")
    return made


def found_nothing(function: Function) -> str | None:
    """When a call that does not wait has found nothing, as C++; None: it does not ask for anything."""
    if function.blocking or function.records not in {"completion", "probe", "itself", "asking"}:
        return None
    if "flag" in function:
        return "*flag == 0"
    return "*outcount == 0" if "outcount" in function else None


SENDERS = {"message", "collective", "communicator", "one-sided", "itself", "call"}


def only_sends(function: Function) -> bool:
    """Whether a call that neither waits nor asks may send something, for which another rank may wait."""
    return function.records in SENDERS and not function.blocking and not found_nothing(function)


ENDED = {"MPI_Comm*": "communicator", "MPI_Win*": "window", "MPI_Request*": "request", "MPI_Datatype*": "type"}
BEFORE = {"MPI_Finalize": "before_finalize", "MPI_Abort": "before_abort"}
AFTER = {"MPI_Init": "after_init", "MPI_Init_thread": "after_init", "MPI_Finalize": "after_finalize"}

RECORDED: dict[str, Callable[[Function], list[str]]] = {
    "call": lambda _: ["call.plain();"],
    "asking": lambda of: [f"if ({found_nothing(of)}) return call.in_vain(), result;", "call.plain();"],
    "message": message,
    "probe": probe,
    "completion": completion,
    "collective": collective,
    "communicator": communicator,
    "window": lambda of: [
        "call.collective(members_of(call.thread(), comm), no_root, 0, 0);",
        "call.made_window(*win, comm);",
    ],
    "one-sided": one_sided,
    "itself": lambda of: [f"after_{of.name}(call, {_arguments(of)});"],
    "end": lambda _: ["ending.recorded_in(call);"],
    "setup": lambda _: ["call.plain();"],
}


def _arguments(function: Function) -> str:
    return ", ".join(parameter.name for parameter in function.parameters)


def before(function: Function) -> list[str]:
    """What must be known before the call: it forgets handles, or the program does not want a status."""
    made = []
    arguments = {parameter.name for parameter in function.parameters}
    if function.records == "end":
        handle = function.parameters[0]
        made.append(f"const ending<tools, ended::{ENDED[handle.type]}> ending(outermost, {handle.name});")
    if function.name in BEFORE:
        made.append(f"{BEFORE[function.name]}(call);")
    if function.records == "message" and "message" in function:
        made.append("const envelope matched = matched_messages::take(recording<tools>, message);")
    if function.records == "completion":
        number = next((name for name in ("count", "incount") if name in arguments), "1")
        requests = "request" if "request" in arguments else "array_of_requests"
        made.append(f"const requests<tools> asked(outermost, {number}, {requests});")
    if status := _status(function):
        number = next((name for name in ("count", "incount") if name in arguments and status.array), "1")
        made.append(f"statuses<tools> seen(outermost, {number}, {status.name});")
    return made


def _status(function: Function) -> Parameter | None:
    """The status that the call gives back, where it is looked at."""
    if function.records not in {"message", "completion"} and not (
        "message" in function and function.records == "probe"
    ):
        return None
    return next((p for p in function.parameters if p.type in {"MPI_Status", "MPI_Status*"}), None)


def wrapper(function: Function) -> str:
    """The wrapper of one function, for each set of tools."""
    status = _status(function)
    plain = _arguments(function)
    replaced = ", ".join("seen.get()" if p is status else p.name for p in function.parameters)
    comm = function.first("MPI_Comm")
    lines = [
        "template <unsigned tools>",
        f"int wrapped_{function.name}({', '.join(map(str, function.parameters))}) {{",
        f"  const auto real = real_function<decltype(::{function.name})>(function::{function.name});",
        "  outermost_call<tools> outermost;",
        f"  if (!outermost) return real({plain});",
    ]
    if function.blocking:
        lines.append(
            f'  const waiting<tools> scope("{function.name}", __builtin_return_address(0), '
            f"{f'bits_of({comm})' if comm else '0'}, {peer_for_waiting(function)}, {size_for_waiting(function)});"
        )
    if only_sends(function):
        lines.append("  [[maybe_unused]] const ringing<tools> rings{};")
    if found_nothing(function):
        lines.append(f'  const polling<tools> poll("{function.name}", __builtin_return_address(0));')
    lines.append(f"  recorded<tools> call(outermost, function::{function.name});")
    lines += [f"  {line}" for line in before(function)]
    lines += [f"  const int result = real({replaced});", "  call.returned(result);"]
    if nothing := found_nothing(function):
        lines.append(f"  poll.over(result == MPI_SUCCESS && {nothing});")
    lines.append("  if constexpr (recording<tools>) {")
    if function.records != "completion":
        lines.append("    if (result != MPI_SUCCESS) return call.failed();")
    lines += [f"    {line}" for line in RECORDED[function.records](function)]
    lines.append("  }")
    if function.name in AFTER:
        lines.append(f"  if (result == MPI_SUCCESS) {AFTER[function.name]}(call);")
    lines += ["  return result;", "}"]
    return "\n".join(lines)


def _matters_to_waiting(function: Function) -> bool:
    sets_up = function.name in BEFORE or function.name in AFTER
    return function.blocking or sets_up or only_sends(function) or found_nothing(function) is not None


def wrappers(interface: Interface, headers: list[Path]) -> str:
    """The source of a flavour: wrappers, and the table in which they are found by number."""
    known = declared(headers)
    text = "\n".join(path.read_text(encoding="utf-8") for path in headers)
    functions = [with_their_const(function, text) for function in interface.functions() if function.name in known]
    named = {function.name: function for function in functions}
    made = [MADE, '#include "mpi/wrapping.hpp"\n', "namespace lull::mpi {", "namespace {\n"]
    made += [f"{wrapper(function)}\n" for function in functions]
    for function in functions:
        made.append(
            f"static_assert(std::is_same_v<decltype(&wrapped_{function.name}<0>), decltype(&::{function.name})>);"
        )
    made += ["\n}  // namespace\n", "const wrapper_row wrappers[] = {"]
    for name in interface.names():
        if name not in named:
            made.append("    {},")
        elif _matters_to_waiting(named[name]):
            variants = ", ".join(f"wrapped_{name}<{tools}>" for tools in ("records", "waits", "records | waits"))
            made.append(f"    wrapped<{variants}>({'true' if only_sends(named[name]) else ''}),")
        else:
            made.append(f"    wrapped<wrapped_{name}<records>>(),")
    made += ["};", "", "}  // namespace lull::mpi", ""]
    return "\n".join(made)


def write(path: Path, text: str) -> None:
    """Write what differs from what is there."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main(into: Path, *of_flavour: str) -> None:
    """Write the lists, or the wrappers of one flavour."""
    interface = Interface()
    if not of_flavour:
        write(into / "functions.inc", function_list(interface))
        write(into / "mpi_functions.h", prototypes(interface))
        return
    flavour, *headers = of_flavour
    write(into / f"{flavour}_wrappers.cpp", wrappers(interface, [Path(header) for header in headers]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
