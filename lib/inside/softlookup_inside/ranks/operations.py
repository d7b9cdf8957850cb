"""What ``dist`` does, with the arguments that torch.distributed has: arrays are looked at here, and ranks numbered."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from softlookup_inside.ranks import collectives
from softlookup_inside.ranks.collectives import Member
from softlookup_inside.ranks.groups import RankGroup
from softlookup_inside.ranks.names import EVERYTHING
from softlookup_inside.ranks.recording import PendingMessage, RankError, RankRecorder, rank_number
from softlookup_inside.ranks.reductions import ReduceOp, reduction
from softlookup_inside.ranks.returning import NoResult

_SUM = ReduceOp.SUM


class P2POp:
    """A message of ``batch_isend_irecv``; ``group_peer``, in place of ``peer``, is a number in the group."""

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Any,
        peer: int | None = None,
        group: RankGroup | None = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        name = getattr(op, "__name__", type(op).__name__)
        if name not in ("isend", "irecv"):
            raise RankError(f"P2POp takes dist.isend or dist.irecv first, the function itself; got {name}")
        if peer is None and group_peer is None:
            raise RankError("P2POp needs peer=, the number of the other rank")
        self.begin = lambda: op(tensor, peer, group, tag, group_peer)


class Operations:
    """What one rank does with messages."""

    ReduceOp, P2POp = ReduceOp, P2POp

    def __init__(self, recorder: RankRecorder) -> None:
        self._recorder = recorder

    def get_rank(self, group: RankGroup | None = None) -> int:
        """The rank's number, from 0; in a group its number there, or -1 outside of it."""
        return self._recorder.rank if group is None else _group("get_rank", group).place

    def get_world_size(self, group: RankGroup | None = None) -> int:
        """How many ranks there are, or belong to a group."""
        return self._recorder.world if group is None else _group("get_world_size", group).world

    def get_group_rank(self, group: RankGroup, global_rank: int) -> int:
        """The number in a group of a rank of the world."""
        return _group("get_group_rank", group).position("get_group_rank", global_rank)

    def get_global_rank(self, group: RankGroup, group_rank: int) -> int:
        """The number in the world of a rank of a group."""
        ranks = _group("get_global_rank", group).ranks
        return ranks[_within("get_global_rank", group, group_rank)]

    def get_process_group_ranks(self, group: RankGroup | None) -> list[int]:
        """The ranks of a group, or of the world."""
        return list(range(self._recorder.world)) if group is None else _group("get_process_group_ranks", group).ranks

    def new_group(
        self,
        ranks: Sequence[int] | None = None,
        timeout: Any = None,
        backend: Any = None,
        pg_options: Any = None,
        use_local_synchronization: bool = False,
        group_desc: Any = None,
        device_id: Any = None,
        sort_ranks: bool = True,
    ) -> RankGroup:
        """Make a group; all ranks of the world call it in the same order, and a rank that leaves it out is refused."""
        if use_local_synchronization or not sort_ranks:
            raise RankError("new_group is called by all ranks here, and numbers them in rising order")
        ranks = range(self._recorder.world) if ranks is None else ranks
        return RankGroup(self._recorder, *self._recorder.new_group(ranks))

    def send(
        self, tensor: Any, dst: int | None = None, group: RankGroup | None = None, tag: int = 0,
        group_dst: int | None = None,
    ) -> NoResult:  # fmt: skip
        """Send an array; ends when the other rank receives it."""
        self._recorder.send(as_array(tensor), self._peer("send", "dst", dst, group, tag, group_dst))
        return NoResult("send")

    def recv(
        self, tensor: Any, src: int | None = None, group: RankGroup | None = None, tag: int = 0,
        group_src: int | None = None,
    ) -> int:  # fmt: skip
        """Receive into an array, and say from which rank."""
        return self._recorder.recv(as_array(tensor), self._peer("recv", "src", src, group, tag, group_src))

    def isend(
        self, tensor: Any, dst: int | None = None, group: RankGroup | None = None, tag: int = 0,
        group_dst: int | None = None,
    ) -> PendingMessage:  # fmt: skip
        """Send an array, and go on; the array must stay as it is until ``wait``."""
        return self._recorder.isend(as_array(tensor), self._peer("isend", "dst", dst, group, tag, group_dst))

    def irecv(
        self, tensor: Any, src: int | None = None, group: RankGroup | None = None, tag: int = 0,
        group_src: int | None = None,
    ) -> PendingMessage:  # fmt: skip
        """Receive into an array, which is filled when ``wait`` ends."""
        return self._recorder.irecv(as_array(tensor), self._peer("irecv", "src", src, group, tag, group_src))

    def batch_isend_irecv(self, p2p_op_list: Sequence[Any]) -> list[PendingMessage]:
        """Begin several messages, and go on."""
        if not isinstance(p2p_op_list, list | tuple) or not all(isinstance(each, P2POp) for each in p2p_op_list):
            raise RankError("batch_isend_irecv takes a list of dist.P2POp(dist.isend or dist.irecv, array, peer)")
        return [each.begin() for each in p2p_op_list]

    def broadcast(
        self, tensor: Any, src: int | None = None, group: RankGroup | None = None, async_op: bool = False,
        group_src: int | None = None,
    ) -> NoResult | PendingMessage:  # fmt: skip
        """Fill the array of all ranks with that of ``src``."""
        member, array = self._member("broadcast", group), self._checked("what broadcast fills", tensor)
        root = _root("broadcast", "src", member, src, group_src)
        filled = [] if member.place == root else [array]
        return self._run("broadcast", async_op, filled, [array], collectives.broadcast, member, array, root)

    def reduce(
        self, tensor: Any, dst: int | None = None, op: Any = _SUM, group: RankGroup | None = None,
        async_op: bool = False, group_dst: int | None = None,
    ) -> NoResult | PendingMessage:  # fmt: skip
        """Combine the arrays of all ranks in that of ``dst``."""
        member, array = self._member("reduce", group), self._checked("what reduce sums", tensor)
        root, op = _root("reduce", "dst", member, dst, group_dst), reduction("reduce", op, array)
        return self._run("reduce", async_op, [array], [], collectives.reduce, member, array, root, op)

    def all_reduce(
        self, tensor: Any, op: Any = _SUM, group: RankGroup | None = None, async_op: bool = False
    ) -> NoResult | PendingMessage:
        """Replace the array of every rank by the sum of all, or what ``op`` makes of them."""
        member, array = self._member("all_reduce", group), self._checked("what all_reduce sums", tensor)
        op = reduction("all_reduce", op, array)
        return self._run("all_reduce", async_op, [array], [], collectives.all_reduce, member, array, op)

    def all_gather(
        self, tensor_list: Any, tensor: Any, group: RankGroup | None = None, async_op: bool = False
    ) -> NoResult | PendingMessage:
        """Put the arrays of all ranks into the list of every rank."""
        member = self._member("all_gather", group)
        words = "all_gather(tensor_list, tensor) fills the list from the arrays of all ranks"
        outputs, array = self._list(member, words, tensor_list), self._checked(words, tensor)
        _alike(words, [outputs[member.place]], [array])
        return self._run("all_gather", async_op, outputs, [array], collectives.all_gather, member, outputs, array)

    def gather(
        self, tensor: Any, gather_list: Any = None, dst: int | None = None, group: RankGroup | None = None,
        async_op: bool = False, group_dst: int | None = None,
    ) -> NoResult | PendingMessage:  # fmt: skip
        """Put the arrays of all ranks into the list of ``dst``."""
        member, words = self._member("gather", group), "gather(tensor, gather_list) fills the list of rank dst"
        root, array = _root("gather", "dst", member, dst, group_dst, 0), self._checked(words, tensor)
        outputs = self._list_of_root(member, words, gather_list, root)
        _alike(words, outputs, [array] * len(outputs))
        return self._run("gather", async_op, outputs, [array], collectives.gather, member, outputs, array, root)

    def scatter(
        self, tensor: Any, scatter_list: Any = None, src: int | None = None, group: RankGroup | None = None,
        async_op: bool = False, group_src: int | None = None,
    ) -> NoResult | PendingMessage:  # fmt: skip
        """Fill the array of each rank with its entry of the list of ``src``."""
        member, words = self._member("scatter", group), "scatter(tensor, scatter_list) fills the array of every rank"
        root, array = _root("scatter", "src", member, src, group_src, 0), self._checked(words, tensor)
        inputs = self._list_of_root(member, words, scatter_list, root)
        _alike(words, inputs, [array] * len(inputs))
        return self._run("scatter", async_op, [array], inputs, collectives.scatter, member, array, inputs, root)

    def reduce_scatter(
        self, output: Any, input_list: Any, op: Any = _SUM, group: RankGroup | None = None, async_op: bool = False
    ) -> NoResult | PendingMessage:
        """Combine the lists of all ranks, entry by entry, and fill the array of each rank with its entry."""
        member = self._member("reduce_scatter", group)
        words = "reduce_scatter(output, input_list) fills the array from the lists of all ranks"
        array, inputs = self._checked(words, output), self._list(member, words, input_list)
        _alike(words, [array], [inputs[member.place]])
        op = reduction("reduce_scatter", op, array)
        return self._run(
            "reduce_scatter", async_op, [array], inputs, collectives.reduce_scatter, member, array, inputs, op
        )

    def all_to_all(
        self, output_tensor_list: Any, input_tensor_list: Any, group: RankGroup | None = None, async_op: bool = False
    ) -> NoResult | PendingMessage:
        """Send entry j of the list to rank j, which has it as entry i."""
        member = self._member("all_to_all", group)
        words = "all_to_all(output_tensor_list, input_tensor_list) fills its first list"
        outputs, inputs = (self._list(member, words, each) for each in (output_tensor_list, input_tensor_list))
        _alike(words, [outputs[member.place]], [inputs[member.place]])
        return self._run("all_to_all", async_op, outputs, inputs, collectives.all_to_all, member, outputs, inputs)

    def all_gather_into_tensor(
        self, output_tensor: Any, input_tensor: Any, group: RankGroup | None = None, async_op: bool = False
    ) -> NoResult | PendingMessage:
        """Put the arrays of all ranks one after the other into the array of every rank."""
        return self._all_gather("all_gather_into_tensor", output_tensor, input_tensor, group, async_op)

    def all_gather_single(
        self, output_tensor: Any, input_tensor: Any, group: RankGroup | None = None, async_op: bool = False
    ) -> NoResult | PendingMessage:
        """The name that torch 2.13 gives ``all_gather_into_tensor``."""
        return self._all_gather("all_gather_single", output_tensor, input_tensor, group, async_op)

    def reduce_scatter_tensor(
        self, output: Any, input: Any, op: Any = _SUM, group: RankGroup | None = None, async_op: bool = False
    ) -> NoResult | PendingMessage:
        """Combine the arrays of all ranks, of which each rank gets its part."""
        return self._reduce_scatter("reduce_scatter_tensor", output, input, op, group, async_op)

    def reduce_scatter_single(
        self, output: Any, input: Any, op: Any = _SUM, group: RankGroup | None = None, async_op: bool = False
    ) -> NoResult | PendingMessage:
        """The name that torch 2.13 gives ``reduce_scatter_tensor``."""
        return self._reduce_scatter("reduce_scatter_single", output, input, op, group, async_op)

    def all_to_all_single(
        self, output: Any, input: Any, output_split_sizes: Sequence[int] | None = None,
        input_split_sizes: Sequence[int] | None = None, group: RankGroup | None = None, async_op: bool = False,
    ) -> NoResult | PendingMessage:  # fmt: skip
        """Send part j of the array to rank j, whose output has it as part i; parts are cut along the first axis."""
        member, words = self._member("all_to_all_single", group), "all_to_all_single(output, input) fills its first"
        to, into = self._checked(f"{words} array", input), self._checked(f"{words} array", output)
        outputs = _cut("output", into, member.world, output_split_sizes)
        inputs = _cut("input", to, member.world, input_split_sizes)
        _alike(f"{words} array", [outputs[member.place]], [inputs[member.place]])
        if output_split_sizes is None and input_split_sizes is None:
            _alike(f"{words} array", [into.reshape(-1)], [to.reshape(-1)])
        return self._run("all_to_all_single", async_op, [into], [to], collectives.all_to_all, member, outputs, inputs)

    def barrier(
        self, group: RankGroup | None = None, async_op: bool = False, device_ids: Any = None, timeout: Any = None
    ) -> NoResult | PendingMessage:
        """Wait until all ranks have come here."""
        member = self._member("barrier", group)
        return self._run("barrier", async_op, [], [], collectives.barrier, member)

    def _all_gather(
        self, name: str, output: Any, input: Any, group: RankGroup | None, async_op: bool
    ) -> NoResult | PendingMessage:
        member = self._member(name, group)
        words = f"{name}(output_tensor, input_tensor) fills its first array from the second ones of all ranks"
        whole, part = self._whole(member, words, output, input)
        outputs = np.split(whole.reshape(-1), member.world)
        return self._run(name, async_op, [whole], [part], collectives.all_gather, member, outputs, part.reshape(-1))

    def _reduce_scatter(
        self, name: str, output: Any, input: Any, op: Any, group: RankGroup | None, async_op: bool
    ) -> NoResult | PendingMessage:
        member = self._member(name, group)
        whole, part = self._whole(
            member, f"{name}(output, input) fills its first array from the second ones of all ranks", input, output
        )
        inputs, chosen = np.split(whole.reshape(-1), member.world), reduction(name, op, part)
        return self._run(
            name, async_op, [part], [whole], collectives.reduce_scatter, member, part.reshape(-1), inputs, chosen
        )

    def _run(
        self,
        name: str,
        async_op: bool,
        outputs: Sequence[np.ndarray],
        inputs: Sequence[np.ndarray],
        collective: Callable[..., None],
        member: Member,
        *args: Any,
    ) -> NoResult | PendingMessage:
        """Run a collective. With ``async_op`` its messages go at once, too, and its results are hidden until wait."""
        for output in outputs:
            if not output.flags.writeable:
                raise RankError(f"{name} fills an array, and this one cannot be written: hand it np.empty(…)")
        self._recorder.purpose = (_number(member), EVERYTHING.index(name))
        collective(member, *args)
        if not async_op:
            return NoResult(name, "its first argument" if outputs or inputs else "")
        apart = [each for each in inputs if not any(np.may_share_memory(each, output) for output in outputs)]
        return self._recorder.hide(name, outputs, apart)

    def _member(self, name: str, group: RankGroup | None) -> Member:
        """Those that a collective is for: all ranks, or those of a group, to which this rank must belong."""
        if group is None:
            return self._recorder
        if _group(name, group).place < 0:
            raise RankError(
                f"rank {self._recorder.rank} calls {name} for a group to which it does not belong: let the "
                "group's ranks alone call it"
            )
        return group

    def _peer(
        self, name: str, argument_name: str, rank: int | None, group: RankGroup | None, tag: int, group_rank: int | None
    ) -> int:
        """The number in the world of the other rank of a message."""
        if tag != 0:
            raise RankError(f"{name} has no tag= but 0 here: messages of two ranks are received in their order")
        member = self._member(name, group)
        if rank is None and group_rank is None and argument_name == "src":
            raise RankError(
                f"{name} needs src=, the rank that sends: who comes first is chance, and a program does the same "
                "each time here"
            )
        position = _root(name, argument_name, member, rank, group_rank)
        self._recorder.purpose = (_number(member), 0)
        return member.ranks[position] if isinstance(member, RankGroup) else position

    def _checked(self, what: str, value: Any) -> np.ndarray:
        array, (call, fills, _) = as_array(value), what.partition(" fills ")
        self._recorder.checked(f"an argument of {call}" if fills else what, array)
        return array

    def _list(self, member: Member, words: str, values: Any) -> list[np.ndarray]:
        """A list of arrays, one for each rank."""
        if not isinstance(values, list | tuple) or len(values) != member.world:
            what = f"a list of {len(values)}" if isinstance(values, list | tuple) else type(values).__name__
            raise RankError(f"{words}: a list has {member.world} arrays here, one for each rank; got {what}")
        return [self._checked(words, value) for value in values]

    def _list_of_root(self, member: Member, words: str, values: Any, root: int) -> list[np.ndarray]:
        """A list that one rank has alone."""
        if member.place == root:
            return self._list(member, words, values)
        if values is None or (isinstance(values, list | tuple) and not values):
            return []
        raise RankError(f"{words}, and only that rank has a list: the others pass None")

    def _whole(self, member: Member, words: str, whole: Any, part: Any) -> tuple[np.ndarray, np.ndarray]:
        """Two arrays, the first of which is as large as the second ones of all ranks together."""
        large, small = self._checked(words, whole), self._checked(words, part)
        if large.size != member.world * small.size or large.dtype != small.dtype:
            which = "first" if "all_gather" in words else "second"
            fits = small.size == member.world * large.size
            exchanged = ". Are they exchanged? The output comes first" if fits else ""
            raise RankError(
                f"{words}; the {which} holds {member.world} times the numbers of the other: got {large.size} of "
                f"{large.dtype} for {small.size} of {small.dtype}{exchanged}"
            )
        return large, small


def as_array(value: Any) -> Any:
    """A torch tensor as an array on the same memory, all else as it is."""
    if isinstance(value, np.ndarray) or not hasattr(value, "numpy"):
        return value
    try:
        return value.detach().numpy()
    except (TypeError, RuntimeError) as error:
        raise RankError(f"this tensor cannot be sent or filled here: {error}") from None


def _group(name: str, group: Any) -> RankGroup:
    if not isinstance(group, RankGroup):
        raise RankError(f"{name} needs a group that dist.new_group has made, got {type(group).__name__}")
    return group


def _number(member: Member) -> int:
    """The number of a group, 0 for all ranks."""
    return member.number if isinstance(member, RankGroup) else 0


def _within(name: str, member: Member, rank: Any) -> int:
    """A number that a rank has in a group, if there is one."""
    position = rank_number(name, rank)
    if not 0 <= position < member.world:
        raise RankError(f"{name} names rank {position} of {member.world}: there are 0 to {member.world - 1}")
    return position


def _root(
    name: str, argument_name: str, member: Member, rank: int | None, group_rank: int | None, default: int | None = None
) -> int:
    """The number among the members of the rank that a call names, by its number in the world or there."""
    if rank is not None and group_rank is not None:
        raise RankError(f"{name} takes {argument_name}= or group_{argument_name}=, not both")
    if group_rank is not None:
        return _within(name, member, group_rank)
    if rank is None and default is None:
        raise RankError(f"{name} needs {argument_name}=, the number of a rank")
    return default if rank is None and default is not None else member.position(name, rank)


def _alike(words: str, outputs: Sequence[np.ndarray], inputs: Sequence[np.ndarray]) -> None:
    """Look whether arrays that are filled are as those that are copied into them."""
    for output, array in zip(outputs, inputs, strict=True):
        if (output.shape, output.dtype) != (array.shape, array.dtype):
            raise RankError(
                f"{words}: both are of one shape and dtype; got {output.dtype} of shape {output.shape} to fill, from "
                f"{array.dtype} of shape {array.shape}"
            )


def _cut(what: str, array: np.ndarray, world: int, sizes: Sequence[int] | None) -> list[np.ndarray]:
    """Cut an array along its first axis, into equal parts or parts of some sizes."""
    length = array.shape[0] if array.ndim else 0
    if sizes is None:
        if not array.ndim or length % world:
            raise RankError(
                f"all_to_all_single cuts its {what} along the first axis into {world} equal parts, and this is "
                f"{length} long: give {what}_split_sizes"
            )
        sizes = [length // world] * world
    try:
        counts = [operator.index(size) for size in sizes]
    except TypeError:
        counts = []
    if len(counts) != world or min(counts) < 0 or sum(counts) != length:
        raise RankError(
            f"{what}_split_sizes are {world} numbers whose sum is the length of the {what}'s first axis, {length}; got "
            f"{sizes}"
        )
    return [part.reshape(-1) for part in np.split(array, np.cumsum(counts)[:-1])]
