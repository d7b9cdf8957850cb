"""The names of torch.distributed: what there is here, and why the rest is not."""

MESSAGES = ("send", "recv", "isend", "irecv")  # what all else is made of

NEW_GROUP = "new_group"  # making a group of ranks, for collectives among them

EVERYTHING = (
    *MESSAGES,
    *("broadcast", "reduce", "all_reduce", "gather", "scatter", "barrier"),
    *("all_gather", "all_gather_into_tensor", "all_gather_single"),
    *("reduce_scatter", "reduce_scatter_tensor", "reduce_scatter_single"),
    *("all_to_all", "all_to_all_single"),
    NEW_GROUP,
)
"""All that a rank may be offered."""

ALWAYS = ("get_rank", "get_world_size")  # what every rank has

_MESSAGES_AT_ONCE, _NUMBERS = ("batch_isend_irecv", "P2POp"), ("get_group_rank", "get_global_rank")
_BESIDE = {
    "irecv": _MESSAGES_AT_ONCE,
    NEW_GROUP: (*_NUMBERS, "get_process_group_ranks"),
    "all_reduce": ("ReduceOp",),
    "reduce": ("ReduceOp",),
    "reduce_scatter_tensor": ("reduce_scatter", "reduce_scatter_single", "ReduceOp"),
    "all_gather_into_tensor": ("all_gather", "all_gather_single"),
    "all_to_all_single": ("all_to_all",),
}
"""What comes with an offer: another form of it, or what it is called with."""

_WHY_NOT = {
    "what it sends is pickled, so that its bytes say nothing of arrays: send arrays": (
        *("all_gather_object", "gather_object", "scatter_object_list", "broadcast_object_list"),
        *("send_object_list", "recv_object_list"),
    ),
    "torch has given it up: call the collective for each array, or for one array of all": (
        *("all_gather_coalesced", "all_reduce_coalesced", "AllreduceCoalescedOptions"),
    ),
    "the ranks are there when a program begins, and go when it ends: leave it out": (
        *("init_process_group", "destroy_process_group", "is_initialized", "is_torchelastic_launched"),
        *("get_node_local_rank", "get_pg_count", "rendezvous", "register_rendezvous_handler", "default_pg_timeout"),
        *("is_available", "GroupName"),
    ),
    "there is no backend to choose: arrays are numpy's, or tensors on the CPU": (
        *("Backend", "BackendConfig", "ProcessGroup", "ProcessGroupGloo", "get_backend", "get_backend_config"),
        *("get_default_backend_for_device", "is_backend_available", "is_gloo_available", "is_mpi_available"),
        *("is_nccl_available", "is_ucc_available", "is_xccl_available", "supports_complex"),
    ),
    "make groups of ranks with new_group, and leave group= out where all ranks are meant": (
        *("group", "GroupMember", "new_subgroups", "new_subgroups_by_enumeration", "split_group", "shrink_group"),
        *("DeviceMesh", "init_device_mesh"),
    ),
    "a rank learns of others by their messages alone": ("Store", "PrefixStore", "TCPStore", "FileStore", "HashStore"),
    "torch has renamed it: ReduceOp": ("reduce_op",),
    "barrier() waits for all ranks, and ranks that wait for ever are named": ("monitored_barrier",),
    "collectives take their options as arguments": (
        *("AllToAllOptions", "AllreduceOptions", "BarrierOptions", "BroadcastOptions", "GatherOptions"),
        *("ReduceOptions", "ReduceScatterOptions", "ScatterOptions"),
    ),
    "isend, irecv and async_op=True give an object with wait() and is_completed(); its class has no name here": (
        "Work",
    ),
    "all messages are recorded and counted anyway: run_here returns them": (
        *("record_comm", "DebugLevel", "get_debug_level", "set_debug_level", "set_debug_level_from_env"),
        "breakpoint",
    ),
}

NOT_HERE = {name: why for why, names in _WHY_NOT.items() for name in names}
"""What torch.distributed has besides, with the reason why it is not here."""


def offered(offers: tuple[str, ...]) -> tuple[str, ...]:
    """All names that a rank has to which these of EVERYTHING are offered."""
    names = [*ALWAYS, *offers]
    for offer in offers:
        if offer != "irecv" or "isend" in offers:
            names += _BESIDE.get(offer, ())
    return tuple(dict.fromkeys(names))
