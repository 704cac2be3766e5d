"""Ports of this machine."""

from random import sample
import socket

HOST = "127.0.0.1"

# Not those that systems hand out to whoever asks for any: a program that starts slowly would find its port taken.
_CANDIDATES = range(20_000, 30_000)


def free_port() -> int:
    """Return a port that nothing listens on."""
    return next(port for port in sample(_CANDIDATES, 100) if is_free(port))


def is_free(port: int) -> bool:
    """Return whether a program may listen on the port."""
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((HOST, port))
        except OSError:
            return False
    return True
