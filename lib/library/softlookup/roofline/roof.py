"""The roof: what a computation may at best do on a machine, by its operations for each byte.

Source: Williams, Waterman and Patterson, "Roofline" (2009).
"""

from softlookup.roofline.hardware import Hardware

AT_THE_RIDGE = 1e-9
"""How near, relatively, the two limits have to be to count as the same."""


def roof_bytes_per_s(machine: Hardware, link: str | None = None) -> float:
    """How many bytes a second reach the processor.

    Args:
        machine: The hardware.
        link: A link to another processor, one way, instead of the machine's own memory.

    Returns:
        Bytes a second.

    Raises:
        KeyError: If there is no such link.
    """
    return machine.bandwidth_bytes_per_s if link is None else machine.link_bytes_per_s(link)


def ridge(machine: Hardware, dtype: str, *, sparse: bool = False, link: str | None = None) -> float:
    """The intensity at which the two roofs meet: below it bytes are the limit, above it operations.

    Args:
        machine: The hardware.
        dtype: The kind of number, such as "bfloat16".
        sparse: Take the rate with 2:4 sparsity.
        link: Let operands come over this link instead of from memory.

    Returns:
        Operations for each byte.

    Raises:
        KeyError: If the machine has no such rate or link.

    >>> from softlookup.roofline import hardware
    >>> round(ridge(hardware("A100 80GB PCIe"), "bfloat16"))
    161
    """
    return machine.peak_flops_per_s(dtype, sparse=sparse) / roof_bytes_per_s(machine, link)


def attainable_flops_per_s(
    machine: Hardware, intensity: float, dtype: str, *, sparse: bool = False, link: str | None = None
) -> float:
    """The most operations a second that a computation of this intensity can reach.

    Args:
        machine: The hardware.
        intensity: Operations for each byte that is moved.
        dtype: The kind of number.
        sparse: Take the rate with 2:4 sparsity.
        link: Let operands come over this link instead of from memory.

    Returns:
        Operations a second: min(peak, bandwidth * intensity).

    Raises:
        KeyError: If the machine has no such rate or link.
        ValueError: If the intensity is below 0: "intensity is NUMBER, wanted 0 or more".
    """
    if not intensity >= 0:
        raise ValueError(f"intensity is {intensity}, wanted 0 or more")
    return min(machine.peak_flops_per_s(dtype, sparse=sparse), roof_bytes_per_s(machine, link) * intensity)


def predicted_time_s(
    machine: Hardware,
    flops: float,
    n_bytes: float,
    dtype: str,
    *,
    link_bytes: float = 0.0,
    link: str | None = None,
    launch_s: float = 0.0,
) -> float:
    """The least time of one computation, if operations, memory and the link work at the same time.

    Args:
        machine: The hardware.
        flops: Operations; a multiply-add is two.
        n_bytes: Bytes between memory and processor.
        dtype: The kind of number.
        link_bytes: Bytes over the link, one way.
        link: Which link; only looked at where there are bytes for it.
        launch_s: What it takes to start any operation on this machine (see fit_launch); no data sheet prints it.

    Returns:
        Seconds: the longest of the limits.

    Raises:
        KeyError: If the machine has no such rate or link.
        ValueError: If a count is below 0, or bytes are to go over a link that is not named.
    """
    for what, count in (("flops", flops), ("n_bytes", n_bytes), ("link_bytes", link_bytes), ("launch_s", launch_s)):
        if not count >= 0:
            raise ValueError(f"{what} is {count}, wanted 0 or more")
    if link_bytes and link is None:
        raise ValueError(f"{link_bytes} bytes go over a link; wanted its name")
    over_link = link_bytes / machine.link_bytes_per_s(link) if link is not None else 0.0
    return max(launch_s, flops / machine.peak_flops_per_s(dtype), n_bytes / machine.bandwidth_bytes_per_s, over_link)


def bound_by(machine: Hardware, intensity: float, dtype: str) -> str:
    """What limits a computation.

    Args:
        machine: The hardware.
        intensity: Operations for each byte.
        dtype: The kind of number.

    Returns:
        "memory", "compute", or at the ridge "both".

    Raises:
        KeyError: If the machine has no such rate.
    """
    edge = ridge(machine, dtype)
    if abs(intensity - edge) <= AT_THE_RIDGE * edge:
        return "both"
    return "memory" if intensity < edge else "compute"
