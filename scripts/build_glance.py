"""Write book/measured/glance.json: what the configs of defaults that transformers ships come to, family by family.

Run it with a new version of transformers: .venv/bin/python scripts/build_glance.py
"""

import inspect
import json
import logging
import re
from pathlib import Path
from typing import Any

from softlookup.describing.read_layers import DECODERS
from softlookup.roofline.glance import formulas, glance

FILE = Path(__file__).parents[1] / "book" / "measured" / "glance.json"


def row(model_type: str) -> dict[str, Any]:
    """What the config of defaults of a family comes to.

    Args:
        model_type: Of the family.

    Returns:
        The counts of ``softlookup.roofline.glance`` and their formulas, each kind of part with how many layers have it,
        under "year" the first year that the licences of the family's code name, and under "like" the published model
        that the defaults are like, where the package says so.
    """
    from transformers import CONFIG_MAPPING

    config = CONFIG_MAPPING[model_type]()
    counted = glance(json.loads(json.dumps(config.to_dict())))
    shown = counted.as_json()
    kinds: dict[str, int] = {}
    for group in shown.pop("layers"):
        for part in group["parts"]:
            kinds[part["words"]] = kinds.get(part["words"], 0) + len(group["places"])
    like = re.search(r"configuration to that of the \[([^\]]+)\]", type(config).__doc__ or "")
    named = {"year": first_year(type(config)), "like": like[1] if like and "tiny" not in like[1] else None}
    return {**shown, "kinds": kinds, **named, "formulas": formulas(counted)}


def first_year(config: type) -> int:
    """The first year that the licence lines of a family's code name.

    Args:
        config: The class of its config, beside whose file the model's code lies.

    Returns:
        The year.
    """
    files = Path(inspect.getfile(config)).parent.glob("*.py")
    code = [file for file in files if file.name.startswith(("configuration_", "modeling_", "modular_"))]
    heads = "".join(file.read_text("utf-8")[:3000] for file in code)
    return min(map(int, re.findall(r"Copyright\D{0,40}(20\d\d)", heads)))


def main(file: Path = FILE) -> None:
    """Write the file.

    Args:
        file: Where to.
    """
    import transformers

    logging.disable(logging.WARNING)
    rows, left_out = [], {}
    for model_type in DECODERS:
        try:
            rows.append(row(model_type))
        except (TypeError, ValueError) as error:  # a family without complete defaults
            left_out[model_type] = str(error)
    lines = ",\n".join(f"  {json.dumps(entry, ensure_ascii=False)}" for entry in rows)
    version, without = json.dumps(transformers.__version__), json.dumps(left_out)
    file.write_text(f'{{"transformers": {version}, "left_out": {without}, "rows": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
