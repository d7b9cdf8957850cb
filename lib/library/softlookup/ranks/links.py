"""The time of messages on links of one kind: of any program, and of collectives by formulas.

A message takes a latency and its bytes over the bandwidth (the alpha-beta model). A ring of P ranks cuts an array into
P parts and passes them on: P - 1 steps of a part each for a reduce-scatter or an all-gather, and twice as many for an
all-reduce, which is the one after the other.

Source: Hockney 1994 for the model; Patarasuk & Yuan 2009 for rings.
"""

from dataclasses import dataclass
from itertools import groupby

from softlookup.ranks.rendezvous import LinkTraffic


@dataclass(frozen=True)
class LinkSpeed:
    """A link between two ranks, the same for all pairs and in both directions.

    Attributes:
        latency_s: What each message takes, however short it is.
        bytes_per_s: What a link carries in one direction. Data sheets of NVLink and PCIe print both together.
        name: Such as "NVLink 4".
        source: Where the numbers are from.

    Raises:
        ValueError: If a latency is negative, or a bandwidth not positive.
    """

    latency_s: float
    bytes_per_s: float
    name: str = "link"
    source: str = ""

    def __post_init__(self) -> None:
        if self.latency_s < 0 or not self.bytes_per_s > 0:
            raise ValueError(
                f"a link has a latency of 0 s or more and a bandwidth above 0 bytes/s, "
                f"got {self.latency_s} s and {self.bytes_per_s} bytes/s"
            )

    def ends_s(self, traffic: LinkTraffic) -> list[float]:
        """When each message of some traffic ends.

        A message takes the latency and its bytes over the bandwidth. It begins when both ends have come to it. A rank
        sends one message and receives one at a time, both at once if need be; those of earlier steps go first, and in a
        step those that can begin first.

        Args:
            traffic: What is sent.

        Returns:
            Seconds since the beginning, for each of ``traffic.messages``.
        """
        sends_from, receives_from = [0.0] * traffic.world, [0.0] * traffic.world
        ends = [0.0] * len(traffic.messages)
        # When the first so many messages of a rank have ended: what is after them waits for the latest.
        latest = [[0.0] for _ in range(traffic.world)]
        for _, group in groupby(range(len(ends)), key=lambda at: traffic.messages[at].step):
            ready = dict.fromkeys(group, 0.0)
            for at in ready:
                message = traffic.messages[at]
                for rank, count in zip((message.src, message.dst), message.after, strict=True):
                    for earlier in traffic.completed[rank][len(latest[rank]) - 1 : count]:
                        latest[rank].append(max(latest[rank][-1], ends[earlier]))
                    ready[at] = max(ready[at], latest[rank][count])
            # Those of a step do not wait for each other: the one that can begin first goes first.
            while ready:
                begins = {
                    at: max(when, sends_from[traffic.messages[at].src], receives_from[traffic.messages[at].dst])
                    for at, when in ready.items()
                }
                first = min(begins, key=lambda at: begins[at])
                message = traffic.messages[first]
                ends[first] = begins[first] + self.latency_s + message.n_bytes / self.bytes_per_s
                sends_from[message.src] = receives_from[message.dst] = ends[first]
                del ready[first]
        return ends

    def seconds(self, traffic: LinkTraffic) -> float:
        """How long some traffic takes, without any computing.

        Args:
            traffic: What is sent.
        """
        return max(self.ends_s(traffic), default=0.0)

    def point_to_point_s(self, n_bytes: float) -> float:
        """The time of one message.

        Args:
            n_bytes: Of the message.

        Returns:
            Seconds.

        >>> LinkSpeed(1e-6, 1e9).point_to_point_s(1e6)
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

    def all_to_all_s(self, n_bytes: float, ranks: int) -> float:
        """The time of an all-to-all: a rank sends each other rank a part, one after the other.

        Args:
            n_bytes: Of the array on each rank, the part that stays there among them.
            ranks: P.

        Returns:
            Seconds; 0 for one rank.
        """
        return self.all_gather_s(n_bytes, ranks)
