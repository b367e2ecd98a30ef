"""Files on a machine of their own, where a job runs on several machines."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Collection, Iterable, Iterator
from ipaddress import ip_address

from penstock.errors import UnsupportedError
from penstock.storage.storage import is_local, local_path

_HERE = frozenset({"127.0.0.1", "::1"})
"""Where each machine finds itself. Other loopback addresses count as machines: by them several can be played on one."""


def refuse_local(
    locations: Iterable[tuple[str, str]], hosts: Collection[str], shared: Collection[str], *, more: bool = False
) -> None:
    """Refuse paths (name of the operator, path) that each host may have another file at."""
    private = next(private_paths(locations, shared), None)
    if private is None or (len(hosts) < 2 and not more):
        return
    names = machines(hosts)
    if len(names) < 2 and not more:
        return
    if more:
        several = "may at any time run on several, as executors come and go (spark.dynamicAllocation.enabled)"
    else:
        several = f"runs on several: {', '.join(sorted(names))}"
    raise UnsupportedError(
        f"Operator {private[0]!r} reads or writes {private[1]!r}, a path of each machine's own, and the job {several}. "
        "Use storage that all reach; if it is a mount, name the folder in the setting penstock.files.shared-folders."
    )


def private_paths(locations: Iterable[tuple[str, str]], shared: Collection[str]) -> Iterator[tuple[str, str]]:
    """Those of the locations that each host may have another file at."""
    return (location for location in locations if is_local(location[1]) and not _within(location[1], shared))


def machines(hosts: Iterable[str]) -> list[str]:
    """One name of each machine among hosts; this machine has several. A look-up of each name."""
    result: dict[str, str] = {}
    for host in sorted(hosts):
        result.setdefault(_machine(host), host)
    return list(result.values())


def _machine(host: str) -> str:
    try:
        addresses = {str(info[4][0]) for info in socket.getaddrinfo(host.strip("[]"), None)}
    except (OSError, UnicodeError):  # known to the executors only
        return host.lower()
    return "" if any(address in _HERE or _is_own(address) for address in addresses) else min(addresses)


def _is_own(address: str) -> bool:
    """Whether an address is one of this machine's, loopback ones aside."""
    if ip_address(address.partition("%")[0]).is_loopback:
        return False
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.bind((address, 0))
        return True
    return False


def _within(location: str, folders: Iterable[str]) -> bool:
    """Whether a path is in one of some folders, links followed on this machine or not."""
    path = local_path(location).absolute()
    return any(
        os.path.commonpath([folder, form]) == folder
        for folder in (os.path.normpath(local_path(folder).absolute()) for folder in folders)
        for form in (os.path.normpath(path), os.path.realpath(path))
    )
