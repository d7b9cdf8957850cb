"""The sizes of the experiments of `softlookup bench inside`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class InsideSizes:
    """The sizes of the experiments; the defaults are those of the whole run."""

    published: bool = True
    block: int = 50
    rows: int = 4
    silenced: int = 8
    draws: int = 8
    pairs: int = 4
    written: int = 250
    texts: int = 40
    probe_seeds: tuple[int, ...] = (0, 1, 2)
    steps: int = 5000
    toy_seeds: tuple[int, ...] = (0, 1, 2)
    sparsities: tuple[float, ...] = (0.0, 0.5, 0.7, 0.9, 0.95, 0.99)
    states: int = 20_000
    latents: tuple[int, ...] = (10, 20, 40, 80)
    prices: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
    family_latents: tuple[int, ...] = (4, 8, 12, 24)


QUICK = InsideSizes(
    published=False,
    block=5,
    rows=1,
    silenced=1,
    draws=1,
    pairs=1,
    written=40,
    texts=3,
    probe_seeds=(0,),
    steps=20,
    toy_seeds=(0,),
    sparsities=(0.0, 0.9),
    states=200,
    latents=(20,),
    prices=(0.1,),
    family_latents=(8,),
)
