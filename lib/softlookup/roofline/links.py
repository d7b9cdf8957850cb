"""Links between processors from their data sheets, and the time of collectives on them.

A ring of P ranks cuts an array into P parts and passes them on: each link carries (P - 1)/P of the bytes for a
reduce-scatter or an all-gather, and twice that for an all-reduce, which is the one after the other.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class LinkSheet:
    """What one processor can send over its link.

    Attributes:
        name: Such as "NVLink 4".
        bytes_per_s: Bytes a second in one direction. Data sheets of NVLink and PCIe print both directions together.
        kind: "node" for a link within a node, "network" for one between nodes.
        source: Where the numbers are from.
        latency_s: What a message takes however short it is; 0 where its maker prints none.

    Raises:
        ValueError: If the bandwidth is not above 0, the latency below 0, or the kind another.

    Book: 19_many_devices.html#many-devices-messages.
    """

    name: str
    bytes_per_s: float
    kind: str
    source: str
    latency_s: float = 0.0

    def __post_init__(self) -> None:
        if not self.bytes_per_s > 0 or not self.latency_s >= 0:
            raise ValueError(
                f"{self.name}: bytes_per_s is {self.bytes_per_s}, latency_s {self.latency_s}; wanted a bandwidth above "
                "0 and a latency of 0 or more"
            )
        if self.kind not in ("node", "network"):
            raise ValueError(f"{self.name}: kind is {self.kind!r}; wanted node or network")

    def point_to_point_s(self, n_bytes: float) -> float:
        """The time of one message.

        Args:
            n_bytes: Of the message.

        Returns:
            Seconds.

        >>> LinkSheet("wire", 1e9, "network", "made up", 1e-6).point_to_point_s(1e6)
        0.001001
        """
        return self.latency_s + n_bytes / self.bytes_per_s

    def all_gather_s(self, n_bytes: float, ranks: int) -> float:
        """The time of an all-gather by a ring.

        Args:
            n_bytes: Of the whole array, which every rank has afterwards.
            ranks: P.

        Returns:
            Seconds; 0 for one rank.
        """
        return (ranks - 1) * self.point_to_point_s(n_bytes / ranks)

    def reduce_scatter_s(self, n_bytes: float, ranks: int) -> float:
        """The time of a reduce-scatter by a ring.

        Args:
            n_bytes: Of the whole array, which every rank has before.
            ranks: P.

        Returns:
            Seconds; 0 for one rank. Adding is not counted.
        """
        return self.all_gather_s(n_bytes, ranks)

    def all_reduce_s(self, n_bytes: float, ranks: int) -> float:
        """The time of an all-reduce by a ring: a reduce-scatter, then an all-gather.

        Args:
            n_bytes: Of the array on each rank.
            ranks: P.

        Returns:
            Seconds; 0 for one rank. Adding is not counted.
        """
        return self.reduce_scatter_s(n_bytes, ranks) + self.all_gather_s(n_bytes, ranks)

    def broadcast_s(self, n_bytes: float, ranks: int) -> float:
        """The time of a broadcast by a binary tree, ceil(log2 P) whole messages one after the other.

        Args:
            n_bytes: Of the array.
            ranks: P.

        Returns:
            Seconds; 0 for one rank.
        """
        return (ranks - 1).bit_length() * self.point_to_point_s(n_bytes)


def _pcie(generation: int, transfers: float) -> LinkSheet:
    """16 lanes, of whose 130 bits 128 are data; headers of packets are not taken off."""
    source = f"PCI Express Base Specification {generation}.0: {transfers / 1e9:g} GT/s a lane, 128b/130b coding"
    return LinkSheet(f"PCIe {generation} x16", 16 * transfers * 128 / 130 / 8, "node", source)


_ALL = (
    LinkSheet("NVLink 3", 300e9, "node", "NVIDIA A100 Tensor Core GPU data sheet (2021), half of 600 GB/s"),
    LinkSheet("NVLink 4", 450e9, "node", "NVIDIA H100 Tensor Core GPU data sheet (2023), half of 900 GB/s"),
    LinkSheet("NVLink 5", 900e9, "node", "NVIDIA HGX B200 specifications (2025), half of 1.8 TB/s"),
    _pcie(4, 16e9),
    _pcie(5, 32e9),
    LinkSheet("InfiniBand HDR", 25e9, "network", "NVIDIA ConnectX-6 InfiniBand adapters, 200 Gbit/s a port"),
    LinkSheet("InfiniBand NDR", 50e9, "network", "NVIDIA ConnectX-7 user manual, 400 Gbit/s a port"),
    LinkSheet("Ethernet 100 Gbit/s", 12.5e9, "network", "IEEE 802.3, 100 Gbit/s of data"),
    LinkSheet("Ethernet 400 Gbit/s", 50e9, "network", "IEEE 802.3, 400 Gbit/s of data"),
)
LINKS: dict[str, LinkSheet] = {sheet.name: sheet for sheet in _ALL}
"""Links by name, a port each.

Book: 19_many_devices.html#many-devices-messages.
"""
