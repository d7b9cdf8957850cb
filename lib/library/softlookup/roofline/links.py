"""Links between processors: bandwidths from data sheets, latencies from NCCL's own model of time."""

from softlookup.ranks.links import LinkSpeed
from softlookup.roofline.hardware import Hardware

_NVLINK_S, _PCIE_S, _NETWORK_S = 3.4e-6, 5.7e-6, 14e-6
"""What a step of a ring takes however short its message is. No data sheet prints it.

Source: NVIDIA's NCCL, src/graph/tuning.cc, table hwLat: a ring with the protocol Simple, which long arrays take, on
NVLink, PCI and a network of any kind. The library chooses its plans by these numbers.
"""


def _pcie(generation: int, transfers: float) -> LinkSpeed:
    """16 lanes, of whose 130 bits 128 are data; headers of packets are not taken off."""
    source = f"PCI Express Base Specification {generation}.0: {transfers / 1e9:g} GT/s a lane, 128b/130b coding"
    return LinkSpeed(_PCIE_S, 16 * transfers * 128 / 130 / 8, f"PCIe {generation} x16", source)


_ALL = (
    LinkSpeed(_NVLINK_S, 300e9, "NVLink 3", "NVIDIA A100 Tensor Core GPU data sheet (2021), half of 600 GB/s"),
    LinkSpeed(_NVLINK_S, 450e9, "NVLink 4", "NVIDIA H100 Tensor Core GPU data sheet (2023), half of 900 GB/s"),
    LinkSpeed(_NVLINK_S, 900e9, "NVLink 5", "NVIDIA HGX B200 specifications (2025), half of 1.8 TB/s"),
    _pcie(4, 16e9),
    _pcie(5, 32e9),
    LinkSpeed(_NETWORK_S, 25e9, "InfiniBand HDR", "NVIDIA ConnectX-6 InfiniBand adapters, 200 Gbit/s a port"),
    LinkSpeed(_NETWORK_S, 50e9, "InfiniBand NDR", "NVIDIA ConnectX-7 user manual, 400 Gbit/s a port"),
    LinkSpeed(_NETWORK_S, 12.5e9, "Ethernet 100 Gbit/s", "IEEE 802.3, 100 Gbit/s of data"),
    LinkSpeed(_NETWORK_S, 50e9, "Ethernet 400 Gbit/s", "IEEE 802.3, 400 Gbit/s of data"),
)
LINKS: dict[str, LinkSpeed] = {link.name: link for link in _ALL}
"""Links by name, a port each; the source of a link is that of its bandwidth."""


def node_link(card: Hardware) -> LinkSpeed:
    """The fastest link that a card's data sheet names.

    Args:
        card: From ``hardware``.

    Returns:
        The link in one direction. Its latency is that of NVLink, also where it is another maker's, since NCCL has no
        number for those; that of PCIe for PCIe.

    Raises:
        ValueError: If the sheet names no link.

    >>> from softlookup.roofline import hardware
    >>> node_link(hardware("H100 SXM")).bytes_per_s / 1e9
    450.0
    """
    if not card.links_bytes_per_s:
        raise ValueError(f"{card.name} has no link on its data sheet; wanted a card with at least one")
    name = max(card.links_bytes_per_s, key=card.link_bytes_per_s)
    latency_s = _PCIE_S if name == "PCIe" else _NVLINK_S
    return LinkSpeed(latency_s, card.link_bytes_per_s(name), name, card.source)
