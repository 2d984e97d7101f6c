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
