"""Output files are written atomically; anything but a regular file is written through or rejected, never replaced."""

import os
import stat
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from bounds import TIMEOUT_S
from conftest import Lull, wait_until
from lull.base.errors import LullError
from lull.base.whole_file import write_whole
from records import run, write


def put(out: Path, content: bytes = b"new\n") -> None:
    write_whole(out, content, "report", "--to")


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    target = tmp_path / "folder" / "target"
    target.parent.mkdir()
    target.write_text("old")
    target.chmod(0o600)
    link, second, dangling = tmp_path / "link", tmp_path / "second", tmp_path / "dangling"
    link.symlink_to("folder/target")
    second.symlink_to(link)
    dangling.symlink_to("folder/later")
    for one in (second, dangling):
        put(one)
        assert one.is_symlink() and one.read_text() == "new\n"
    assert target.read_text() == "new\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600, "a file that is replaced keeps its mode"


def test_a_fifo_is_written_through_and_stays(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    reader.start()
    put(fifo)
    reader.join()
    assert read == [b"new\n"]
    assert stat.S_ISFIFO(fifo.lstat().st_mode)
    assert list(tmp_path.iterdir()) == [fifo]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make a device")
def test_a_device_is_never_replaced(tmp_path: Path) -> None:
    null, disk = tmp_path / "null", tmp_path / "disk"
    os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    os.mknod(disk, stat.S_IFBLK | 0o600, os.makedev(7, 255))
    put(null)
    assert stat.S_ISCHR(null.lstat().st_mode)
    with pytest.raises(LullError, match="it is a disk"):
        put(disk)
    assert stat.S_ISBLK(disk.lstat().st_mode)


def test_links_in_a_circle_and_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for out, found in ((tmp_path / "a", "circle"), (tmp_path, "it is a folder")):
        with pytest.raises(LullError, match=found):
            put(out)


def test_a_new_file_has_the_permissions_of_the_umask(tmp_path: Path) -> None:
    script = "import sys, pathlib; from lull.base.whole_file import write_whole; "
    script += "write_whole(pathlib.Path(sys.argv[1]), b'x', 'x', '')"
    shell = f"umask 077; exec '{sys.executable}' -c \"{script}\" out"
    subprocess.run(["sh", "-c", shell], cwd=tmp_path, check=True)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_standard_output_is_written_behind_what_is_in_it(lull: Lull, name: str) -> None:
    write(lull.folder / "r", run())
    (lull.folder / "link").symlink_to("/dev/stdout")
    printed = lull.folder / "printed"
    printed.write_text("before\n")
    inode = printed.stat().st_ino
    command = [*lull.argv("export", "--format", "csv", "--to", name, "r")]
    with printed.open("a") as file:
        done = subprocess.run(
            command, cwd=lull.folder, env=lull.environment(), stdout=file, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 0, done.stderr
    assert printed.stat().st_ino == inode
    assert printed.read_text().startswith("before\n") and "started" in printed.read_text()


def test_metrics_in_a_fifo_do_not_remove_it(lull: Lull) -> None:
    fifo = lull.folder / "metrics"
    os.mkfifo(fifo)
    lull.sources = "estimate"
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)  # so that no writer ever waits for one
    process = lull.start("export", "--textfile", "metrics", "--every", "1")
    read = b""

    def shows_metrics() -> bool:
        nonlocal read
        with suppress(BlockingIOError):
            read += os.read(reader, 1 << 16)
        return b"lull_up" in read

    assert wait_until(shows_metrics)
    process.terminate()
    process.communicate(timeout=TIMEOUT_S)
    os.close(reader)
    assert stat.S_ISFIFO(fifo.lstat().st_mode)
