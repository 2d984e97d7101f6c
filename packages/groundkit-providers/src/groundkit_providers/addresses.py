"""Which addresses a request may reach."""

import ipaddress
from collections.abc import Set
from typing import Literal

__all__ = [
    "ANYWHERE",
    "LOOPBACK_ONLY",
    "NOT_PUBLIC",
    "PUBLIC_ONLY",
    "AddressClass",
    "address_class",
    "is_loopback",
    "literal_problem",
    "refusal",
]

AddressClass = Literal["loopback", "private", "public", "forbidden"]

LOOPBACK_ONLY: Set[AddressClass] = frozenset({"loopback"})
NOT_PUBLIC: Set[AddressClass] = frozenset({"loopback", "private"})
PUBLIC_ONLY: Set[AddressClass] = frozenset({"public"})
ANYWHERE: Set[AddressClass] = NOT_PUBLIC | PUBLIC_ONLY

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# What an office or a home uses; 100.64/10 is also where overlay networks live.
_PRIVATE = [
    ipaddress.ip_network(network)
    for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
]
# Reserved, yet global or private to some versions of `ipaddress`.
_FORBIDDEN = [ipaddress.ip_network(network) for network in ("192.0.0.0/24", "fec0::/10")]
_NAT64 = [ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48")]


def address_class(address: str) -> AddressClass:
    """The class of a numeric address; `forbidden` is never a destination (link-local, reserved)."""
    ip = _innermost(ipaddress.ip_address(address.partition("%")[0]))
    if ip.is_loopback:
        return "loopback"
    if ip.is_link_local or ip.is_multicast or ip.is_unspecified or ip.is_reserved:
        return "forbidden"
    if any(ip in network for network in _FORBIDDEN):
        return "forbidden"
    if any(ip in network for network in _PRIVATE):
        return "private"
    return "public" if ip.is_global else "forbidden"


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its very name: `localhost` or a loopback address."""
    try:
        return address_class(host) == "loopback"
    except ValueError:
        return host.rstrip(".").lower() == "localhost"


def literal_problem(host: str, reach: Set[AddressClass], permission: str) -> str:
    """Why a host may not be reached that is an address or `localhost`; empty where it may."""
    try:
        found = address_class(host)
    except ValueError:
        if not is_loopback(host):
            return ""  # a name: what it resolves to is checked at each request
        found = "loopback"
    return "" if found in reach else f"it is {refusal(found, reach, permission)}"


def refusal(found: AddressClass, reach: Set[AddressClass], permission: str) -> str:
    """Why an address of a class out of reach is refused, with how an operator may permit it."""
    if found == "forbidden":
        return "an address that is never used (link-local or reserved)"
    if found == "public":
        return "a public address, where a key is needed (api_key_env)"
    if "public" not in reach:
        return f"a {found} address, although its name means this machine"
    return f"a {found} address; {permission}"


def _innermost(ip: _Address) -> _Address:
    """The IPv4 address that an IPv6 address leads to, if it leads to one."""
    if isinstance(ip, ipaddress.IPv4Address):
        return ip
    if ip.ipv4_mapped or ip.sixtofour:
        return ip.ipv4_mapped or ip.sixtofour or ip
    if ip.teredo:
        return ip.teredo[1]
    if any(ip in network for network in _NAT64):
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip
