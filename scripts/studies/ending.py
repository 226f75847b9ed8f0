"""How every command of scripts/ ends: as cat where the reader of its output has gone, and with a status of its own on a full disk."""

import contextlib
import errno
import os
import signal
import sys
from collections.abc import Callable

NOT_WRITTEN = 3  # keel's exit status on a full disk, too
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def ended(command: Callable[[], int]) -> int:
    """The exit status of a command: its own, 3 where output could not be written, 2 where another file could not be used."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # half a surrogate pair in a record is no character
    try:
        try:
            return command()
        finally:
            if sys.stdout:
                sys.stdout.flush()
    except BrokenPipeError:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
        return 128 + signal.SIGPIPE  # a blocked signal ends nothing
    except OSError as error:
        full = error.errno in FULL
        if not full and error.filename is None:
            raise
        with contextlib.suppress(OSError):
            print(f"{error.filename or 'standard output'}: {error.strerror}", file=sys.stderr, flush=True)
        forget_output()
        return NOT_WRITTEN if full else 2


def forget_output() -> None:
    """Sends to nowhere what Python would try to write again at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
