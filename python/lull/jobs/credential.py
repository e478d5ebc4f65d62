"""Credentials of the site's munge: messages that say who wrote them, and that one user alone can read.

munged gives the user id of the writer to the reader, compresses, encrypts, and refuses what was altered, repeated or is
older than five minutes. Every node of a cluster with Slurm runs it. libmunge is loaded when it is first needed, and
need not be installed otherwise.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, Final

from lull.base.errors import LullError
from lull.base.packages import this_system

MOST_BYTES: Final = 1_000_000  # of a message; munge's limit is 1 MiB
MOST_ENCODED: Final = 1_500_000

_ZIP_TYPE, _SOCKET, _UID_RESTRICTION = 2, 8, 9  # of munge_opt_t in munge.h
_NO_ZIP, _ZLIB = 0, 3  # of munge_zip_t
_BAD_ZIP = 12  # of munge_err_t: this munged was built without zlib
_NO_UID: Final = (1 << 32) - 1


class Munge:
    """The munged of this machine, at `socket`; "": at its usual place."""

    def __init__(self, socket: str = "") -> None:
        self._library = _library()
        self._socket = socket

    def encode(self, message: bytes, reader: int) -> bytes:
        """A credential of this message, which the user `reader` alone can decode.

        Raises:
            LullError: munged does not run, or refuses.
        """
        if len(message) > MOST_BYTES:
            raise LullError("encode a message for munge", f"it has {len(message)} bytes", f"at most {MOST_BYTES}")
        with _Context(self._library, self._socket) as context:
            context.set(_UID_RESTRICTION, ctypes.c_uint32(reader))
            credential = ctypes.c_void_p()
            for zip_type in (_ZLIB, _NO_ZIP):
                context.set(_ZIP_TYPE, ctypes.c_int(zip_type))
                error = self._library.munge_encode(
                    ctypes.byref(credential), context.handle, message, ctypes.c_int(len(message))
                )
                if error != _BAD_ZIP:
                    break
            if error:
                raise LullError("encode a message by munge", context.words(error), "see whether munged runs")
            try:
                return ctypes.string_at(credential)
            finally:
                _free()(credential)

    def decode(self, credential: bytes) -> tuple[bytes, int]:
        """The message in a credential, and the user who encoded it.

        Raises:
            LullError: It is not for this user, altered, repeated or too old, or munged does not run.
        """
        with _Context(self._library, self._socket) as context:
            buffer, length = ctypes.c_void_p(), ctypes.c_int()
            uid, gid = ctypes.c_uint32(_NO_UID), ctypes.c_uint32(_NO_UID)
            error = self._library.munge_decode(
                credential,
                context.handle,
                ctypes.byref(buffer),
                ctypes.byref(length),
                ctypes.byref(uid),
                ctypes.byref(gid),
            )
            try:
                if error:
                    raise LullError("decode a credential by munge", context.words(error))
                return ctypes.string_at(buffer, length.value) if length.value else b"", uid.value
            finally:
                _free()(buffer)


class _Context:
    """The parameters of one call of munge."""

    def __init__(self, library: Any, socket: str) -> None:
        self._library = library
        self.handle = ctypes.c_void_p(library.munge_ctx_create())
        if not self.handle:
            raise MemoryError
        if socket:
            self.set(_SOCKET, ctypes.c_char_p(socket.encode()))

    def set(self, option: int, value: Any) -> None:
        if error := self._library.munge_ctx_set(self.handle, ctypes.c_int(option), value):
            raise LullError("set an option of munge", self.words(error))

    def words(self, error: int) -> str:
        found = self._library.munge_ctx_strerror(self.handle) or self._library.munge_strerror(error)
        return str(found.decode(errors="replace"))

    def __enter__(self) -> _Context:
        return self

    def __exit__(self, *error: object) -> None:
        self._library.munge_ctx_destroy(self.handle)


@cache
def _library() -> Any:
    try:
        library = ctypes.CDLL("libmunge.so.2")
    except OSError as error:
        fix = f"{this_system().install('munge')}; or use a socket or a shared folder instead of HOST:PORT"
        raise LullError("use munge", "libmunge.so.2 is not installed", fix) from error
    library.munge_ctx_create.restype = ctypes.c_void_p
    for name in ("munge_ctx_strerror", "munge_strerror"):
        getattr(library, name).restype = ctypes.c_char_p
    library.munge_ctx_destroy.restype = None
    return library


@cache
def _free() -> Any:
    free = ctypes.CDLL(None).free
    free.argtypes, free.restype = [ctypes.c_void_p], None
    return free
