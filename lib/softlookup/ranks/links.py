"""The time that a program's messages take on links of one kind."""

from dataclasses import dataclass

from softlookup.ranks.rendezvous import LinkTraffic


@dataclass(frozen=True)
class LinkSpeed:
    """A link between two ranks, the same for all pairs and in both directions.

    Attributes:
        latency_s: What each message takes, however short it is.
        bytes_per_s: What a link carries in one direction.

    Raises:
        ValueError: If a latency is negative, or a bandwidth not positive.
    """

    latency_s: float
    bytes_per_s: float

    def __post_init__(self) -> None:
        if self.latency_s < 0 or not self.bytes_per_s > 0:
            raise ValueError(
                f"a link has a latency of 0 s or more and a bandwidth above 0 bytes/s, "
                f"got {self.latency_s} s and {self.bytes_per_s} bytes/s"
            )

    def ends_s(self, traffic: LinkTraffic) -> list[float]:
        """When each message of some traffic ends.

        A message takes the latency and its bytes over the bandwidth. It begins when both ends have come to it. A rank
        sends one message and receives one at a time, both at once if need be; those of earlier steps go first.

        Args:
            traffic: What is sent.

        Returns:
            Seconds since the beginning, for each of ``traffic.messages``.
        """
        sends_from, receives_from = [0.0] * traffic.world, [0.0] * traffic.world
        ends: list[float] = []
        # When the first so many messages of a rank have ended: what is after them waits for the latest.
        latest = [[0.0] for _ in range(traffic.world)]
        for message in traffic.messages:
            begin = max(sends_from[message.src], receives_from[message.dst])
            for rank, count in zip((message.src, message.dst), message.after, strict=True):
                for at in traffic.completed[rank][len(latest[rank]) - 1 : count]:
                    latest[rank].append(max(latest[rank][-1], ends[at]))
                begin = max(begin, latest[rank][count])
            ends.append(begin + self.latency_s + message.n_bytes / self.bytes_per_s)
            sends_from[message.src] = receives_from[message.dst] = ends[-1]
        return ends

    def seconds(self, traffic: LinkTraffic) -> float:
        """How long some traffic takes, without any computing.

        Args:
            traffic: What is sent.
        """
        return max(self.ends_s(traffic), default=0.0)
