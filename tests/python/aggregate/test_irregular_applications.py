"""The applications of many small messages: correct in every mode on every layout, and mistakes give one line."""

import json
import re
import subprocess
from collections.abc import Iterable

import numpy as np
import pytest

from bounds import TIMEOUT_S
from conftest import Lull
from lull.base.installed import applications, executable
from places import TOP

pytestmark = pytest.mark.in_turn(2)

MODES = ["direct", "per-pe", "per-node", "aggregated"]
LAYOUTS = [(1, 1), (2, 1), (3, 1), (4, 2), (8, 4)]  # PEs, nodes
SMALL = {
    "histogram": ["--updates", "2000", "--table", "100"],
    "index_gather": ["--requests", "1000", "--table", "100"],
    "radix_sort": ["--keys", "300", "--digit-bits", "11"],
    "triangles": ["--vertices", "30", "--degree", "6"],
}
KARATE = TOP / "apps" / "triangles" / "karate.mtx"


def launched(
    lull: Lull, pes: int, nodes: int, program: str, words: Iterable[object]
) -> subprocess.CompletedProcess[str]:
    """The application as `lull run` starts it, without Python's own start-up time."""
    path = applications()[program]
    return subprocess.run(
        [executable("lull-launch"), "-n", str(pes), "--nodes", str(nodes), "--", path, *map(str, words)],
        cwd=lull.folder,
        env=lull.environment(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def joined(edges: Iterable[tuple[int, int]], first: int = 0) -> str:
    return "".join(f"{u + first} {v + first}\n" for u, v in edges)


@pytest.mark.parametrize(("pes", "nodes"), LAYOUTS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", SMALL)
def test_the_result_is_right_in_every_mode(lull: Lull, program: str, mode: str, pes: int, nodes: int) -> None:
    done = launched(lull, pes, nodes, program, ["--mode", mode, *SMALL[program]])
    assert done.returncode == 0, done.stderr
    assert "result verified" in done.stdout
    assert f"{program}: {pes} PE" in done.stdout and f" {mode}, " in done.stdout
    assert ("aggregation: buffers of" in done.stdout) == (mode != "direct")
    if mode.startswith("per-"):
        assert f"bytes per {'node' if mode == 'per-node' else 'PE'}, " in done.stdout


@pytest.mark.parametrize(("pes", "nodes"), [(1, 1), (4, 2)])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", SMALL)
def test_threads_of_a_pe_share_its_work(lull: Lull, program: str, mode: str, pes: int, nodes: int) -> None:
    done = launched(lull, pes, nodes, program, ["--mode", mode, "--threads", 3, *SMALL[program]])
    assert done.returncode == 0, done.stderr
    assert "result verified" in done.stdout


@pytest.mark.parametrize("program", SMALL)
def test_passes_are_repeated_for_the_time_asked_for(lull: Lull, program: str) -> None:
    counts = []
    for seconds in ("0", "0.5"):
        done = launched(lull, 2, 1, program, [*SMALL[program], "--min-time", seconds])
        assert "result verified" in done.stdout
        items = re.search(r", (\d+) (updates|requests|keys|wedges) ", done.stdout)
        assert items
        counts.append(int(items[1]))
    once, repeated = counts
    assert repeated > once and repeated % once == 0


@pytest.mark.parametrize(
    ("program", "region"),
    [("histogram", "updates"), ("index_gather", "requests"), ("radix_sort", "sort"), ("triangles", "wedges")],
)
def test_the_record_has_the_regions_and_the_items(lull: Lull, program: str, region: str) -> None:
    job = [str(executable("lull-launch")), "-n", "2", "--", str(applications()[program]), *SMALL[program]]
    done = lull.run("measure", "--runs", "1", "--warmup", "0", "--out", "rec", "--", *job)
    assert done.returncode == 0, done.stderr
    repeat = json.loads((lull.folder / "rec" / "run.json").read_text())["repeats"][0]
    assert {"items", region} <= {entered["name"] for entered in repeat["regions"]}
    metrics = {name: metric["value"] for name, metric in repeat["metrics"].items()}
    assert metrics["items"] > 0
    assert metrics["items_per_second"] > 0
    assert metrics["cpu_ns_per_item"] > 0
    if program == "histogram":
        assert metrics["updates"] == metrics["items"]


def test_another_seed_is_other_work(lull: Lull) -> None:
    seen = set()
    for seed in (1, 1, 2):
        done = launched(lull, 2, 1, "triangles", [*SMALL["triangles"], "--seed", seed])
        assert "180 triangles" in done.stdout
        assert "result verified" in done.stdout
        seen.add(done.stdout.splitlines()[0])
    assert len(seen) == 2  # the wedges depend on the names of the vertices


def test_words_are_gathered_by_the_indices_of_a_file(lull: Lull) -> None:
    np.save(lull.folder / "indices.npy", np.random.default_rng(1).integers(0, 999, 5000))
    for mode in ("direct", "aggregated"):
        done = launched(lull, 3, 1, "index_gather", ["--input", "indices.npy", "--mode", mode])
        assert "5000 requests to 999 words" in done.stdout and "result verified" in done.stdout


@pytest.mark.parametrize(("pes", "nodes"), LAYOUTS)
def test_words_are_read_through_the_cache(lull: Lull, pes: int, nodes: int) -> None:
    done = launched(lull, pes, nodes, "index_gather", ["--cache", "--requests", "3000", "--table", "100"])
    assert "result verified" in done.stdout, done.stderr
    hits, asked = map(int, re.findall(r"; (\d+) of (\d+) requests to other nodes found in the cache", done.stdout)[0])
    assert (asked > 0) == (nodes > 1)
    assert hits > 0.9 * asked or nodes == 1  # so small a table is soon cached completely


@pytest.mark.parametrize(("key", "payload"), [(8, 8), (16, 8), (24, 8), (9, 0), (32, 5)])
def test_elements_of_every_form_are_sorted(lull: Lull, key: int, payload: int) -> None:
    words = ["--keys", "150", "--key-bytes", key, "--payload", payload, "--digit-bits", "13"]
    for mode in ("direct", "aggregated"):
        done = launched(lull, 3, 1, "radix_sort", [*words, "--mode", mode])
        assert f"elements of {key + payload} bytes sorted" in done.stdout and "result verified" in done.stdout


def test_elements_of_a_file_are_sorted_and_digits_they_share_are_skipped(lull: Lull) -> None:
    numbers = np.random.default_rng(2).integers(0, 1 << 20, 1001).astype("<u8")
    numbers.tofile(lull.folder / "few_digits.bin")
    done = launched(lull, 4, 2, "radix_sort", ["--input", "few_digits.bin", "--digit-bits", "8"])
    assert "1001 keys in elements of 8 bytes sorted, 3 of 8 passes" in done.stdout, done.stderr
    assert "result verified" in done.stdout


def test_fewer_elements_than_pes_are_sorted(lull: Lull) -> None:
    (lull.folder / "three.bin").write_bytes(bytes(range(24, 0, -1)))
    done = launched(lull, 8, 1, "radix_sort", ["--input", "three.bin", "--digit-bits", "8"])
    assert "3 keys" in done.stdout and "result verified" in done.stdout, done.stderr


@pytest.mark.parametrize("mode", ["direct", "aggregated"])
def test_the_karate_club_has_45_triangles(lull: Lull, mode: str) -> None:
    done = launched(lull, 3, 1, "triangles", ["--input", KARATE, "--expect", "45", "--mode", mode])
    assert "of 34 vertices and 78 edges" in done.stdout
    assert "45 triangles" in done.stdout and "result verified" in done.stdout


def test_another_number_of_triangles_than_expected_is_a_failure(lull: Lull) -> None:
    done = launched(lull, 2, 1, "triangles", ["--input", KARATE, "--expect", "44"])
    assert done.returncode == 1
    assert "result WRONG: 44 triangles were expected" in done.stdout


def test_triangles_are_those_of_the_matrix_cubed(lull: Lull) -> None:
    random = np.random.default_rng(3)
    vertices = 60
    pairs = [(int(u), int(v)) for u, v in random.integers(0, vertices, (500, 2))]  # including loops and duplicates
    matrix = np.zeros((vertices, vertices), dtype=np.int64)
    for u, v in pairs:
        matrix[u, v] = matrix[v, u] = u != v
    triangles = int(np.trace(matrix @ matrix @ matrix)) // 6
    (lull.folder / "graph.el").write_text("# random\n" + joined(pairs))
    head = f"%%MatrixMarket matrix coordinate {{}} general\n% random\n{vertices} {vertices} {len(pairs)}\n"
    (lull.folder / "pattern.mtx").write_text(head.format("pattern") + joined(pairs, first=1))
    weighted = joined(pairs, first=1).replace("\n", " -1.5e3\r\n")
    (lull.folder / "real.mtx").write_text(head.format("real") + weighted)
    for name in ("graph.el", "pattern.mtx", "real.mtx"):
        done = launched(lull, 4, 2, "triangles", ["--input", name, "--expect", triangles])
        assert "result verified" in done.stdout, done.stdout + done.stderr
        assert f"{np.count_nonzero(matrix) // 2} edges" in done.stdout


MATRIX = "%%MatrixMarket matrix coordinate pattern symmetric\n"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("list.txt", "0 1\n1 2\n2 zero\n", "line 3: a vertex 'zero' is not a whole number"),
        ("list.txt", "0 1\n\n1\n", "line 3: a vertex is missing"),
        ("list.txt", "0 1 7\n", "line 1: '7' is one word too many"),
        ("list.txt", "0 4294967295\n", "line 1: vertex 4294967295 is not in 0 to 4294967294"),
        ("list.txt", "# nothing\n", "it contains no vertex"),
        ("list.txt", "", "it is empty"),
        ("list.csv", "0,1\n", "its name must end in .mtx"),
        ("head.mtx", "0 1\n", "line 1: it is not '%%MatrixMarket matrix coordinate ...'"),
        ("array.mtx", "%%MatrixMarket matrix array real general\n", "line 1: it is not"),
        ("field.mtx", "%%MatrixMarket matrix coordinate text general\n", "line 1: the field 'text'"),
        ("sizes.mtx", MATRIX, "the line with the size of the matrix is missing"),
        ("oblong.mtx", MATRIX + "3 4 1\n1 1\n", "line 2: 3 rows and 4 columns"),
        ("beyond.mtx", MATRIX + "3 3 2\n2 1\n4 1\n", "line 4: vertex 4 is not in 1 to 3"),
        ("value.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1\n", "line 3: the value is missing"),
        ("cut.mtx", MATRIX + "3 3 2\n2 1\n", "its header announces 2 entries, but it has 1"),
    ],
)
def test_a_malformed_graph_is_one_line_with_its_place(lull: Lull, name: str, content: str, says: str) -> None:
    (lull.folder / name).write_text(content)
    done = launched(lull, 3, 1, "triangles", ["--input", name])
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith(f"triangles: read the graph in {name}: ") and says in done.stderr


@pytest.mark.parametrize(
    ("program", "words", "code", "says"),
    [
        ("index_gather", ["--mode", "per-core"], 2, "--mode"),
        ("index_gather", ["--requests", "0"], 2, "--requests"),
        ("index_gather", ["--cache", "--mode", "direct"], 2, "--cache with --mode direct"),
        ("index_gather", ["--cache", "--threads", "2"], 2, "--cache with --threads"),
        ("index_gather", ["--input", "nowhere.npy"], 1, "No such file"),
        ("index_gather", ["--table", "1000000000"], 1, "raise SHMEM_SYMMETRIC_SIZE"),
        ("radix_sort", ["--key-bytes", "7"], 2, "--key-bytes"),
        ("radix_sort", ["--digit-bits", "0"], 2, "--digit-bits"),
        ("radix_sort", ["--keys", "5", "--input", "odd.bin"], 2, "excludes"),
        ("radix_sort", ["--input", "odd.bin"], 1, "5 bytes are not a whole number of elements of 8"),
        ("radix_sort", ["--keys", "1000000000"], 1, "raise SHMEM_SYMMETRIC_SIZE"),
        ("triangles", ["--degree", "7"], 2, "give an even number"),
        ("triangles", ["--vertices", "2"], 2, "raise --vertices"),
        ("triangles", ["--expect", "3"], 2, "--input"),
        ("triangles", ["--quickly"], 2, "--quickly"),
    ],
)
def test_a_mistake_is_one_line(lull: Lull, program: str, words: list[str], code: int, says: str) -> None:
    (lull.folder / "odd.bin").write_bytes(b"12345")
    done = launched(lull, 3, 1, program, words)
    assert done.returncode == code
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith(f"{program}: ") and says in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("program", SMALL)
def test_help_names_every_mode(lull: Lull, program: str) -> None:
    done = launched(lull, 2, 1, program, ["--help"])
    assert done.returncode == 0
    assert "direct|per-pe|per-node|aggregated" in done.stdout
