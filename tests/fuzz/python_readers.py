"""Gives damaged files to the readers of records and descriptions in Python; these may only raise an error of Lull.

    python_readers.py SECONDS [NAME...]   search: damage the files of corpus/NAME at random, keep what breaks
                                          the reader in build/fuzz/found, and exit with 1
    python_readers.py names               the readers

A file in corpus/NAME is a seed of the search, or a file that found a fault; `make test` passes each to its reader
(tests/python/tests/test_fuzz_corpus.py).
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lull.base.errors import LullError
from lull.model.machine import read_machine_file
from lull.record import files as record
from lull.simulation.account import SIMULATION_FILE, read_simulation
from lull.simulation.description import read_description, read_file
from lull.study.kinds import read_study

CORPUS = Path(__file__).parent / "corpus"
FOUND = Path(__file__).parents[2] / "build" / "fuzz" / "found"


def _described(path: Path) -> None:
    read_description(read_file(path), f"read {path}")


# By reader: the name of its file, and the function that reads the file in its folder. Each has a folder corpus/NAME.
READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "record": (record.RUN_FILE, lambda path: record.read(path.parent)),
    "samples": (record.SAMPLES_FILE, lambda path: record.read_samples(path.parent)),
    "simulation_record": (SIMULATION_FILE, lambda path: read_simulation(path.parent)),
    "simulation_file": ("net.toml", _described),
    "study": ("study.toml", read_study),
    "python_machine_file": ("machine.toml", lambda path: read_machine_file(path, f"read {path}")),
}

# Replacements for a value, or for a few bytes.
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**400, -1.5, 1e308, 1e-320, float("inf"), float("nan"), "", " ",
    "x" * 3000, "\0", "é\u202e", [], [[]], {}, {"": 0}, [None], [1, "a"],
]  # fmt: skip
TOKENS = [
    b"nan",
    b"inf",
    b"-1",
    b"9" * 5000,
    b"[[",
    b"]]",
    b"{",
    b"}",
    b'"',
    b"'''",
    b"=",
    b"\n",
    b"[" * 3000,
    b"\xff",
    b"\0",
]


def given(name: str, content: bytes, folder: Path) -> str | None:
    """The reader's reaction to the content: the first line of its error, or None."""
    file, reader = READERS[name]
    (folder / file).write_bytes(content)
    try:
        reader(folder / file)
    except LullError:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return None


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each container in a JSON value, with one of its keys or indices."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from places(value[key])


def damaged_value(content: bytes, draw: random.Random) -> bytes:
    """JSON with one or two values replaced, removed or duplicated; other bytes unchanged."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return content
    for _ in range(draw.randint(1, 2)):
        everywhere = list(places(value))
        if not everywhere:
            break
        container, key = draw.choice(everywhere)
        if draw.random() < 0.7:
            container[key] = draw.choice(VALUES)
        elif draw.random() < 0.5:
            del container[key]
        elif isinstance(container, list):
            container.append(container[key])
        else:
            container[f"{key}{draw.choice(['', '_', '2'])}"] = container[key]
    return json.dumps(value).encode()


def damaged_bytes(content: bytes, draw: random.Random) -> bytes:
    """The content with a few bytes flipped, cut out, duplicated or replaced by a token."""
    text = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        at, to = sorted(draw.randrange(len(text) + 1) for _ in range(2))
        to = min(to, at + draw.choice([1, 8, 64, 100_000]))
        match draw.randrange(4):
            case 0 if text:
                text[min(at, len(text) - 1)] ^= 1 << draw.randrange(8)
            case 1:
                del text[at:to]
            case 2:
                text[at:at] = text[at:to]
            case _:
                text[at : at + draw.choice([0, 0, 1, 4])] = draw.choice(TOKENS)
    return bytes(text)


def search(name: str, seconds: float, seed: int) -> int:
    """Search, and return the number of inputs passed to the reader; SystemExit if one broke it."""
    draw, end, count = random.Random(seed), time.monotonic() + seconds, 0
    seeds = [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]
    with tempfile.TemporaryDirectory(prefix="lull-fuzz-") as folder:
        while time.monotonic() < end:
            content = draw.choice(seeds)
            content = draw.choice([damaged_value, damaged_bytes])(content, draw)
            count += 1
            if (fault := given(name, content, Path(folder))) is not None:
                FOUND.mkdir(parents=True, exist_ok=True)
                kept = FOUND / f"{name}-{seed}-{count}"
                kept.write_bytes(content)
                raise SystemExit(f"lull: fuzz: {name}: {fault}; put {kept} into {CORPUS / name}")
    return count


def main() -> None:
    """Search according to the arguments."""
    if sys.argv[1:] == ["names"]:
        print(*READERS)
        return
    seconds, names = float(sys.argv[1]), sys.argv[2:] or list(READERS)
    for name in names:
        seed = random.SystemRandom().randrange(2**31)
        print(f"==> {name}, {seconds:g} s, seed {seed}")
        print(f"    {search(name, seconds, seed)} inputs")


if __name__ == "__main__":
    main()
