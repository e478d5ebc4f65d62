"""Every name of OpenSHMEM 1.5 with its prototype, derived from the tables of types in the specification.

Nothing of Lull is read here: this is what its header and its library are compared with. The numbers of tables are those
of the specification's chapter on the library interface.
"""

from dataclasses import dataclass
from itertools import product

# Names of types in the names of functions, and what they are in C.
SIGNED = {"short": "short", "int": "int", "long": "long", "longlong": "long long"}
UNSIGNED = {
    "ushort": "unsigned short",
    "uint": "unsigned int",
    "ulong": "unsigned long",
    "ulonglong": "unsigned long long",
}
CHARACTERS = {"char": "char", "schar": "signed char"}
BYTE = {"uchar": "unsigned char"}
REAL = {"float": "float", "double": "double"}
LONG_REAL = {"longdouble": "long double"}
COMPLEX = {"complexd": "double _Complex", "complexf": "float _Complex"}
EXACT = {f"{sign}int{bits}": f"{sign}int{bits}_t" for sign, bits in product(("", "u"), (8, 16, 32, 64))}
WIDE_EXACT = {name: c for name, c in EXACT.items() if name.endswith(("32", "64"))}
SIZE, DIFFERENCE = {"size": "size_t"}, {"ptrdiff": "ptrdiff_t"}

STANDARD_RMA = REAL | LONG_REAL | CHARACTERS | SIGNED | BYTE | UNSIGNED | EXACT | SIZE | DIFFERENCE
AMO_BASE = {name: c for name, c in (SIGNED | UNSIGNED).items() if not name.endswith("short")}
STANDARD_AMO = AMO_BASE | WIDE_EXACT | SIZE | DIFFERENCE
EXTENDED_AMO = STANDARD_AMO | REAL
BITWISE_AMO = {name: c for name, c in UNSIGNED.items() if name != "ushort"} | WIDE_EXACT
POINT_TO_POINT = STANDARD_AMO | {"short": "short", "ushort": "unsigned short"}
OLD_WAIT = SIGNED
BITWISE_REDUCE = SIGNED | BYTE | UNSIGNED | EXACT | SIZE
COMPARE_REDUCE = STANDARD_RMA
ARITHMETIC_REDUCE = STANDARD_RMA | COMPLEX
BITWISE_TO_ALL = SIGNED
COMPARE_TO_ALL = SIGNED | REAL | LONG_REAL
ARITHMETIC_TO_ALL = COMPARE_TO_ALL | COMPLEX
SIZES = (8, 16, 32, 64, 128)

# One C type has several names; a type-generic call may go to any of them (x86-64 and AArch64, Linux).
SAME_TYPE = {
    "int8_t": "signed char",
    "int16_t": "short",
    "int32_t": "int",
    "int64_t": "long",
    "uint8_t": "unsigned char",
    "uint16_t": "unsigned short",
    "uint32_t": "unsigned int",
    "uint64_t": "unsigned long",
    "size_t": "unsigned long",
    "ptrdiff_t": "long",
}

CONSTANTS = (
    *(f"SHMEM_THREAD_{level}" for level in ("SINGLE", "FUNNELED", "SERIALIZED", "MULTIPLE")),
    "SHMEM_TEAM_NUM_CONTEXTS",
    *(f"SHMEM_CTX_{option}" for option in ("SERIALIZED", "PRIVATE", "NOSTORE")),
    "SHMEM_SIGNAL_SET",
    "SHMEM_SIGNAL_ADD",
    "SHMEM_MALLOC_ATOMICS_REMOTE",
    "SHMEM_MALLOC_SIGNAL_REMOTE",
    "SHMEM_SYNC_VALUE",
    "SHMEM_SYNC_SIZE",
    *(f"SHMEM_{what}_SYNC_SIZE" for what in ("BCAST", "REDUCE", "BARRIER", "COLLECT", "ALLTOALL", "ALLTOALLS")),
    "SHMEM_REDUCE_MIN_WRKDATA_SIZE",
    "SHMEM_MAJOR_VERSION",
    "SHMEM_MINOR_VERSION",
    "SHMEM_MAX_NAME_LEN",
    *(f"SHMEM_CMP_{comparison}" for comparison in ("EQ", "NE", "GT", "GE", "LT", "LE")),
)
OLD_CONSTANTS = (
    "_SHMEM_SYNC_VALUE",
    *(f"_SHMEM_{what}_SYNC_SIZE" for what in ("BCAST", "REDUCE", "BARRIER", "COLLECT")),
    "_SHMEM_REDUCE_MIN_WRKDATA_SIZE",
    "_SHMEM_MAJOR_VERSION",
    "_SHMEM_MINOR_VERSION",
    "_SHMEM_MAX_NAME_LEN",
    *(f"_SHMEM_CMP_{comparison}" for comparison in ("EQ", "NE", "GT", "GE", "LT", "LE")),
)
STRINGS = ("SHMEM_VENDOR_STRING", "_SHMEM_VENDOR_STRING")
HANDLES = {
    "SHMEM_CTX_INVALID": "shmem_ctx_t",
    "SHMEM_CTX_DEFAULT": "shmem_ctx_t",
    "SHMEM_TEAM_INVALID": "shmem_team_t",
    "SHMEM_TEAM_WORLD": "shmem_team_t",
    "SHMEM_TEAM_SHARED": "shmem_team_t",
}


@dataclass(frozen=True)
class Function:
    """A function and its types in C."""

    name: str
    result: str
    parameters: str
    group: str


@dataclass(frozen=True)
class Generic:
    """A type-generic name: NAME chooses shmem_TYPE_SUFFIX; {T} in the arguments is the type."""

    name: str
    suffix: str
    types: tuple[tuple[str, str], ...]
    arguments: str
    context: bool
    group: str


def _typed(suffix: str, types: dict[str, str], result: str, parameters: str, group: str) -> list[Function]:
    return [
        Function(f"shmem_{name}_{suffix}", result.format(T=c), parameters.format(T=c), group)
        for name, c in types.items()
    ]


def _with_contexts(functions: list[Function]) -> list[Function]:
    """Each of them, and the same with a context in front."""
    contexts = [
        Function(f.name.replace("shmem_", "shmem_ctx_", 1), f.result, f"shmem_ctx_t, {f.parameters}", f.group)
        for f in functions
    ]
    return functions + contexts


def _blocks(word: str, group: str, parameters: str) -> list[Function]:
    """A transfer of every type, of every size, and of bytes: `word` is put or get, with an ending."""
    verb, _, ending = word.partition("_")
    ending = f"_{ending}" if ending else ""
    made = _typed(word, STANDARD_RMA, "void", parameters, group)
    for size in (*SIZES, "mem"):
        made.append(Function(f"shmem_{verb}{size}{ending}", "void", parameters.format(T="void"), group))
    return made


def _rma() -> list[Function]:
    block = "{T} *, const {T} *, size_t, int"
    strided = "{T} *, const {T} *, ptrdiff_t, ptrdiff_t, size_t, int"
    signal = "{T} *, const {T} *, size_t, uint64_t *, uint64_t, int, int"
    made: list[Function] = []
    for verb in ("put", "get"):
        made += _blocks(verb, "put/get", block)
        made += _blocks(f"{verb}_nbi", "put/get nbi", block)
        made += [f for f in _blocks(f"i{verb}", "iput/iget", strided) if f.name != f"shmem_i{verb}mem"]
    made += _typed("p", STANDARD_RMA, "void", "{T} *, {T}, int", "p/g")
    made += _typed("g", STANDARD_RMA, "{T}", "const {T} *, int", "p/g")
    made += _blocks("put_signal", "signals", signal)
    made += _blocks("put_signal_nbi", "signals", signal)
    made = _with_contexts(made)
    made.append(Function("shmem_signal_fetch", "uint64_t", "const uint64_t *", "signals"))
    made.append(Function("shmem_signal_wait_until", "uint64_t", "uint64_t *, int, uint64_t", "signals"))
    return made


# suffix → (types, result, parameters); what is returned comes through a pointer in the nbi forms.
ATOMICS = {
    "fetch": (EXTENDED_AMO, "{T}", "const {T} *, int"),
    "set": (EXTENDED_AMO, "void", "{T} *, {T}, int"),
    "swap": (EXTENDED_AMO, "{T}", "{T} *, {T}, int"),
    "compare_swap": (STANDARD_AMO, "{T}", "{T} *, {T}, {T}, int"),
    "fetch_inc": (STANDARD_AMO, "{T}", "{T} *, int"),
    "inc": (STANDARD_AMO, "void", "{T} *, int"),
    "fetch_add": (STANDARD_AMO, "{T}", "{T} *, {T}, int"),
    "add": (STANDARD_AMO, "void", "{T} *, {T}, int"),
    **{f"fetch_{op}": (BITWISE_AMO, "{T}", "{T} *, {T}, int") for op in ("and", "or", "xor")},
    **{op: (BITWISE_AMO, "void", "{T} *, {T}, int") for op in ("and", "or", "xor")},
}
OLD_ATOMICS = {
    "fetch": "fetch",
    "set": "set",
    "swap": "swap",
    "cswap": "compare_swap",
    "finc": "fetch_inc",
    "inc": "inc",
    "fadd": "fetch_add",
    "add": "add",
}


def _amo() -> list[Function]:
    made: list[Function] = []
    for word, (types, result, parameters) in ATOMICS.items():
        made += _typed(f"atomic_{word}", types, result, parameters, "AMO")
        if result != "void":
            made += _typed(f"atomic_{word}_nbi", types, "void", "{T} *, " + parameters, "AMO nbi")
    made = _with_contexts(made)
    for old, word in OLD_ATOMICS.items():
        types, result, parameters = ATOMICS[word]
        made += _typed(old, types, result, parameters, "deprecated atomics")
    return made


# ending → (result, parameters before the comparison, whether there is one value for each variable)
SEVERAL = {
    "all": ("int", "{T} *, size_t, const int *"),
    "any": ("size_t", "{T} *, size_t, const int *"),
    "some": ("size_t", "{T} *, size_t, size_t *, const int *"),
}


def _waits() -> list[Function]:
    group = "wait/test"
    made = _typed("wait_until", POINT_TO_POINT, "void", "{T} *, int, {T}", group)
    made += _typed("test", POINT_TO_POINT, "int", "{T} *, int, {T}", group)
    for which, (result, parameters) in SEVERAL.items():
        waited = "void" if which == "all" else result
        for ending, value in (("", "{T}"), ("_vector", "{T} *")):
            made += _typed(f"wait_until_{which}{ending}", POINT_TO_POINT, waited, f"{parameters}, int, {value}", group)
            made += _typed(f"test_{which}{ending}", POINT_TO_POINT, result, f"{parameters}, int, {value}", group)
    made += _typed("wait", OLD_WAIT, "void", "{T} *, {T}", group)
    made.append(Function("shmem_wait", "void", "long *, long", group))
    made.append(Function("shmem_wait_until", "void", "long *, int, long", group))
    return made


REDUCTIONS = {
    **dict.fromkeys(("and", "or", "xor"), (BITWISE_REDUCE, BITWISE_TO_ALL)),
    **dict.fromkeys(("max", "min"), (COMPARE_REDUCE, COMPARE_TO_ALL)),
    **dict.fromkeys(("sum", "prod"), (ARITHMETIC_REDUCE, ARITHMETIC_TO_ALL)),
}
DATA_COLLECTIVES = {
    "broadcast": "size_t, int",
    "collect": "size_t",
    "fcollect": "size_t",
    "alltoall": "size_t",
    "alltoalls": "ptrdiff_t, ptrdiff_t, size_t",
}


def _collectives() -> list[Function]:
    group = "collectives"
    old = "int, int, int"
    made = [Function(f"shmem_{name}", "void", "void", group) for name in ("barrier_all", "sync_all")]
    made.append(Function("shmem_team_sync", "int", "shmem_team_t", group))
    made += [Function(f"shmem_{name}", "void", f"{old}, long *", group) for name in ("barrier", "sync")]
    for word, parameters in DATA_COLLECTIVES.items():
        full = "shmem_team_t, {T} *, const {T} *, " + parameters
        made += _typed(word, STANDARD_RMA, "int", full, group)
        made.append(Function(f"shmem_{word}mem", "int", full.format(T="void"), group))
        for bits in (32, 64):
            active_set = f"void *, const void *, {parameters}, {old}, long *"
            made.append(Function(f"shmem_{word}{bits}", "void", active_set, group))
    for op, (types, old_types) in REDUCTIONS.items():
        made += _typed(f"{op}_reduce", types, "int", "shmem_team_t, {T} *, const {T} *, size_t", group)
        to_all = f"{{T}} *, const {{T}} *, int, {old}, {{T}} *, long *"
        made += _typed(f"{op}_to_all", old_types, "void", to_all, group)
    return made


def _the_rest() -> list[Function]:
    config = "const shmem_team_config_t *, long"
    rows = {
        "teams": (
            "int shmem_team_my_pe(shmem_team_t)",
            "int shmem_team_n_pes(shmem_team_t)",
            "int shmem_team_get_config(shmem_team_t, long, shmem_team_config_t *)",
            "int shmem_team_translate_pe(shmem_team_t, int, shmem_team_t)",
            f"int shmem_team_split_strided(shmem_team_t, int, int, int, {config}, shmem_team_t *)",
            f"int shmem_team_split_2d(shmem_team_t, int, {config}, shmem_team_t *, {config}, shmem_team_t *)",
            "void shmem_team_destroy(shmem_team_t)",
            "int shmem_team_create_ctx(shmem_team_t, long, shmem_ctx_t *)",
            "int shmem_ctx_get_team(shmem_ctx_t, shmem_team_t *)",
        ),
        "contexts, fence, quiet": (
            "int shmem_ctx_create(long, shmem_ctx_t *)",
            "void shmem_ctx_destroy(shmem_ctx_t)",
            "void shmem_fence(void)",
            "void shmem_quiet(void)",
            "void shmem_ctx_fence(shmem_ctx_t)",
            "void shmem_ctx_quiet(shmem_ctx_t)",
        ),
        "heap": (
            "void *shmem_malloc(size_t)",
            "void *shmem_malloc_with_hints(size_t, long)",
            "void *shmem_calloc(size_t, size_t)",
            "void *shmem_align(size_t, size_t)",
            "void *shmem_realloc(void *, size_t)",
            "void shmem_free(void *)",
        ),
        "locks": (
            "void shmem_set_lock(long *)",
            "void shmem_clear_lock(long *)",
            "int shmem_test_lock(long *)",
        ),
        "set-up and query": (
            "void shmem_init(void)",
            "int shmem_init_thread(int, int *)",
            "void shmem_query_thread(int *)",
            "void shmem_finalize(void)",
            "void shmem_global_exit(int)",
            "int shmem_my_pe(void)",
            "int shmem_n_pes(void)",
            "int shmem_pe_accessible(int)",
            "int shmem_addr_accessible(const void *, int)",
            "void *shmem_ptr(const void *, int)",
            "void shmem_info_get_version(int *, int *)",
            "void shmem_info_get_name(char *)",
            "void shmem_pcontrol(int, ...)",
            "void start_pes(int)",
        ),
        "deprecated": (
            "int _my_pe(void)",
            "int _num_pes(void)",
            "void *shmalloc(size_t)",
            "void *shmemalign(size_t, size_t)",
            "void *shrealloc(void *, size_t)",
            "void shfree(void *)",
            "void shmem_set_cache_inv(void)",
            "void shmem_clear_cache_inv(void)",
            "void shmem_set_cache_line_inv(void *)",
            "void shmem_clear_cache_line_inv(void *)",
            "void shmem_udcflush(void)",
            "void shmem_udcflush_line(void *)",
        ),
    }
    made = []
    for group, prototypes in rows.items():
        for prototype in prototypes:
            head, _, parameters = prototype.partition("(")
            result, _, name = head.rpartition(" ")
            stars = len(name) - len(name.lstrip("*"))
            made.append(Function(name.lstrip("*"), result + " *" * stars, parameters.removesuffix(")"), group))
    return made


def functions() -> list[Function]:
    """All functions of the C interface."""
    return _rma() + _amo() + _waits() + _collectives() + _the_rest()


def _one_each(types: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(types.items())


def generics() -> list[Generic]:
    """All type-generic names of the C11 interface. `x` is a {T} *, `v` a {T}, `pe` an int, and so on."""
    rma, made = _one_each(STANDARD_RMA), []
    block, strided, signal = "x, x, 1, pe", "x, x, 1, 1, 1, pe", "x, x, 1, word, 1, SHMEM_SIGNAL_SET, pe"
    for verb in ("put", "get"):
        made.append(Generic(f"shmem_{verb}", verb, rma, block, True, "put/get"))
        made.append(Generic(f"shmem_{verb}_nbi", f"{verb}_nbi", rma, block, True, "put/get nbi"))
        made.append(Generic(f"shmem_i{verb}", f"i{verb}", rma, strided, True, "iput/iget"))
    made.append(Generic("shmem_p", "p", rma, "x, v, pe", True, "p/g"))
    made.append(Generic("shmem_g", "g", rma, "x, pe", True, "p/g"))
    for word in ("put_signal", "put_signal_nbi"):
        made.append(Generic(f"shmem_{word}", word, rma, signal, True, "signals"))
    for word, (types, result, parameters) in ATOMICS.items():
        arguments = ", ".join("x" if "*" in p else "pe" if p == "int" else "v" for p in parameters.split(", "))
        made.append(Generic(f"shmem_atomic_{word}", f"atomic_{word}", _one_each(types), arguments, True, "AMO"))
        if result != "void":
            word_nbi = f"atomic_{word}_nbi"
            made.append(Generic(f"shmem_{word_nbi}", word_nbi, _one_each(types), f"x, {arguments}", True, "AMO nbi"))
    for old, word in OLD_ATOMICS.items():
        types, _, parameters = ATOMICS[word]
        arguments = ", ".join("x" if "*" in p else "pe" if p == "int" else "v" for p in parameters.split(", "))
        made.append(Generic(f"shmem_{old}", old, _one_each(types), arguments, False, "deprecated atomics"))
    point_to_point, group = _one_each(POINT_TO_POINT), "wait/test"
    for verb in ("wait_until", "test"):
        made.append(Generic(f"shmem_{verb}", verb, point_to_point, "x, SHMEM_CMP_EQ, v", False, group))
        for which in SEVERAL:
            indices = "indices, " if which == "some" else ""
            for ending, value in (("", "v"), ("_vector", "x")):
                word = f"{verb}_{which}{ending}"
                arguments = f"x, 1, {indices}status, SHMEM_CMP_EQ, {value}"
                made.append(Generic(f"shmem_{word}", word, point_to_point, arguments, False, group))
    for word, parameters in DATA_COLLECTIVES.items():
        rest = parameters.replace("size_t", "1").replace("ptrdiff_t", "1").replace("int", "0")
        made.append(Generic(f"shmem_{word}", word, rma, f"team, x, x, {rest}", False, "collectives"))
    for op, (types, _) in REDUCTIONS.items():
        made.append(
            Generic(f"shmem_{op}_reduce", f"{op}_reduce", _one_each(types), "team, x, x, 1", False, "collectives")
        )
    made.append(Generic("shmem_sync", "team_sync", (), "team", False, "collectives"))
    return made
