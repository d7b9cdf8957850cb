"""Write book/measured/glance.json: what one config of each architecture that is counted comes to.

The config is a released one where book/measured/released_configs.json or ``QUOTED`` has it, and the row has that
model's name; elsewhere it is made of the defaults that transformers has in its code, and the row has no name. Run it
with a new version of transformers:

    for v in 4.25.1 4.36.2 4.47.1 4.57.3 5.0.0rc1 5.23.0; do
        .venv/bin/pip download --no-deps -d WHEELS transformers==$v
    done
    .venv/bin/python scripts/build_glance.py WHEELS

WHEELS holds the last wheels of each year and the installed version's: an architecture is of the year of the first of
them that has its code.
"""

import json
import logging
import re
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from softlookup.describing.read_layers import DECODERS
from softlookup.roofline.config_json import QUOTED
from softlookup.roofline.glance import formulas, glance

MEASURED = Path(__file__).parents[1] / "book" / "measured"
FILE = MEASURED / "glance.json"
QUOTED_NAMES = ("Llama 2 7B", "Mistral 7B", "Gemma 3 1B", "SmolLM3 3B")
"""Of the models that the library quotes, those that stand for their architecture."""


def released_configs() -> dict[str, tuple[str, dict[str, Any]]]:
    """The released configs that are on file: under each model_type the model's name and its config."""
    rows = json.loads((MEASURED / "released_configs.json").read_text(encoding="utf-8"))
    quoted = {QUOTED[name]["model_type"]: (name, QUOTED[name]) for name in QUOTED_NAMES}
    return quoted | {model_type: (row["name"], row["config"]) for model_type, row in rows.items()}


def default_config(model_type: str) -> dict[str, Any]:
    """The config of defaults that transformers has for an architecture, as it would write it into a config.json."""
    from transformers import CONFIG_MAPPING

    config: dict[str, Any] = json.loads(json.dumps(CONFIG_MAPPING[model_type]().to_dict()))
    return config


def row(config: dict[str, Any], name: str | None, year: int) -> dict[str, Any]:
    """Count a config of a released model, or, without a name, one that is made of defaults.

    The counts of ``softlookup.roofline.glance`` and their formulas, each kind of part with how many layers have it, the
    name and the year, in which transformers first had the architecture.
    """
    counted = glance(config)
    shown = counted.as_json()
    kinds: dict[str, int] = {}
    for group in shown.pop("layers"):
        for part in group["parts"]:
            kinds[part["words"]] = kinds.get(part["words"], 0) + len(group["places"])
    return {**shown, "kinds": kinds, "year": year, "name": name, "formulas": formulas(counted)}


def first_years(wheels: Path, model_types: Iterable[str]) -> dict[str, int]:
    """Find the year of the first wheel of transformers, that of the files in it, that knows each architecture.

    ValueError if an architecture is in none of the wheels of the folder.
    """
    known: dict[int, str] = {}
    for file in wheels.glob("transformers-*.whl"):
        with zipfile.ZipFile(file) as wheel:
            year = max(entry.date_time[0] for entry in wheel.infolist())
            tables = [name for name in wheel.namelist() if re.fullmatch(r"transformers/models/auto/\w+\.py", name)]
            known[year] = known.get(year, "") + "".join(wheel.read(name).decode() for name in tables)
    years = {}
    for model_type in model_types:
        having = [year for year, text in known.items() if f'"{model_type}"' in text]
        if not having:
            raise ValueError(f"no wheel in {wheels} has {model_type!r}; put the installed version's wheel there")
        years[model_type] = min(having)
    return years


def main(wheels: Path, file: Path = FILE) -> None:
    """Write the file, from a folder with wheels of transformers."""
    import transformers

    logging.disable(logging.WARNING)
    years, released = first_years(wheels, DECODERS), released_configs()
    rows, left_out = [], {}
    for model_type in DECODERS:
        try:
            name, config = released.get(model_type) or (None, default_config(model_type))
            rows.append(row(config, name, years[model_type]))
        except (TypeError, ValueError) as error:  # an architecture without complete defaults
            left_out[model_type] = str(error)
    lines = ",\n".join(f"  {json.dumps(entry, ensure_ascii=False)}" for entry in rows)
    version, without = json.dumps(transformers.__version__), json.dumps(left_out)
    file.write_text(f'{{"transformers": {version}, "left_out": {without}, "rows": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
