"""The names in the specification of OpenSHMEM 1.6, taken from it and from nothing of Lull.

The table from which the headers are generated, src/shmem/interface/openshmem.toml, is compared with this: a gap in it
would be one in header, library and documentation alike.
"""

import re

# How many names the specification has in each group of the table: functions, those with a context, type-generic names.
# The type-generic names that count their arguments are separate, and so is shmem_wait, which the specification does not
# have.
NAMES = {
    "Set-up and query": 12,
    "Set-up and query under old names": 3,
    "Threads": 2,
    "Profiling": 1,
    "The symmetric heap": 6,
    "The symmetric heap under old names": 4,
    "Teams": 7,
    "Communication contexts": 4,
    "Put and get": 122,
    "Single elements": 98,
    "Strided put and get": 118,
    "Blocks with a stride: put and get": 118,
    "Non-blocking put and get": 122,
    "Atomic fetch, set and swap": 87,
    "Atomic compare-and-swap, increment and add": 125,
    "Bitwise atomics": 90,
    "Non-blocking atomic fetch and swap": 58,
    "Non-blocking atomic compare-and-swap, increment and add": 75,
    "Non-blocking bitwise atomics": 45,
    "Fetch, set and swap under old names": 45,
    "Compare-and-swap, increment and add under old names": 65,
    "Put with signal": 122,
    "Signals without data": 4,
    "Signals": 2,
    "Sessions of a context": 2,
    "Barrier and synchronisation": 3,
    "Data over teams": 130,
    "Bitwise reductions over teams": 57,
    "Greatest and least over teams": 50,
    "Sum and product over teams": 54,
    "Prefix sums over teams": 54,
    "Collectives over active sets": 12,
    "Bitwise reductions over active sets": 12,
    "Greatest and least over active sets": 14,
    "Sum and product over active sets": 18,
    "Waiting for values in this PE's memory": 210,
    "Waiting until a variable is no longer cmp_value": 6,
    "Ordering": 6,
    "Locks": 3,
    "Cache": 6,
}
BY_NUMBER_OF_ARGUMENTS = ("shmem_sync", "shmem_signal_add", "shmem_signal_set")
GENERICS = 73  # these among them

# The names of types in each of its tables, after which the classes of the table are named.
SIGNED, UNSIGNED = {"short", "int", "long", "longlong"}, {"ushort", "uint", "ulong", "ulonglong"}
REAL, COMPLEX = {"float", "double"}, {"complexd", "complexf"}
EXACT = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
WIDE_EXACT = {name for name in EXACT if name.endswith(("32", "64"))}
RMA = REAL | {"longdouble", "char", "schar", "uchar", "size", "ptrdiff"} | SIGNED | UNSIGNED | EXACT
AMO = ((SIGNED | UNSIGNED) - {"short", "ushort"}) | WIDE_EXACT | {"size", "ptrdiff"}
CLASSES = {
    "rma": RMA,
    "amo": AMO,
    "extended_amo": AMO | REAL,
    "bitwise": (UNSIGNED - {"ushort"}) | WIDE_EXACT,
    "wait": AMO | {"short", "ushort"},
    "old_wait": SIGNED,
    "bitwise_reduce": SIGNED | UNSIGNED | EXACT | {"uchar", "size"},
    "compare_reduce": RMA,
    "arithmetic_reduce": RMA | COMPLEX,
    "bitwise_to_all": SIGNED,
    "compare_to_all": SIGNED | REAL | {"longdouble"},
    "arithmetic_to_all": SIGNED | REAL | {"longdouble"} | COMPLEX,
}

SPELLED_APART = {
    "longdouble": "long double",
    "longlong": "long long",
    "ulonglong": "unsigned long long",
    "schar": "signed char",
    "complexd": "double _Complex",
    "complexf": "float _Complex",
}


def c_type(name: str) -> str:
    """The type to which the specification refers by this name in function names: by its rule, or listed separately."""
    if name in SPELLED_APART:
        return SPELLED_APART[name]
    if re.fullmatch(r"u?int\d+|size|ptrdiff", name):
        return f"{name}_t"
    return f"unsigned {name[1:]}" if name.startswith("u") else name


CONSTANTS = (
    *(f"SHMEM_THREAD_{level}" for level in ("SINGLE", "FUNNELED", "SERIALIZED", "MULTIPLE")),
    "SHMEM_TEAM_NUM_CONTEXTS",
    *(f"SHMEM_CTX_{option}" for option in ("SERIALIZED", "PRIVATE", "NOSTORE")),
    "SHMEM_CTX_SESSION_BATCH",
    "SHMEM_CTX_SESSION_TOTAL_OPS",
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
