"""The time that a program's messages take on links of one kind."""

from dataclasses import dataclass
from itertools import groupby

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
