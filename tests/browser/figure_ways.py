"""How each interactive figure is worked: what can be pressed or tapped, what can be dragged, what the keys do.

Every step has to change what the figure shows. A place is a selector inside the figure and, where the middle will not
do, how far from its left edge and from its top.
"""

from dataclasses import dataclass, field

from oracles import ATTENTION, Oracle
from oracles_machines import MACHINES

Place = tuple[str, float, float] | str
ORACLES: dict[str, Oracle] = {oracle.name: oracle for oracle in [*ATTENTION, *MACHINES]}


@dataclass(frozen=True)
class Ways:
    """Ways to work a figure."""

    press: list[Place]
    keys: list[tuple[str, str]]
    drag: list[tuple[Place, Place]] = field(default_factory=list)
    beside: str = ""
    """Where a finger's swipe up scrolls the page and leaves the figure as it is; else over its words."""


def slider(css: str, begin: float = 0.2, end: float = 0.8) -> tuple[Place, Place]:
    """Drag a slider's handle along, from where the track was pressed."""
    return (css, begin, 0.5), (css, end, 0.5)


CELL = "td[data-grid][tabindex='0']"
LIST = ("select", "ArrowDown")

WAYS = {
    "fst": Ways(
        [".fst-word:nth-of-type(1)", ".fst-word:nth-of-type(3)", (".fst-turn input", 0.9, 0.5)],
        [(".fst-word:nth-of-type(4)", "Enter"), (".fst-word:nth-of-type(2)", " "), (".fst-turn input", "ArrowRight")],
        [slider(".fst-turn input")],
        beside=".fst-answers",
    ),
    "slw": Ways(
        ["[role=tab]:nth-child(3)", "[role=tab]:nth-child(1)", "td[data-grid=scores][data-row='1']", ".slw-next"]
        + ["input[type=checkbox]"],
        [("[role=tab][tabindex='0']", "ArrowRight"), (CELL, "ArrowDown"), (CELL, "ArrowRight"), (".slw-next", "Enter")]
        + [("input[type=checkbox]", " "), LIST],
        beside=".slw-explain",
    ),
    "ens": Ways(
        [".ens-box[data-box=n1]", "td[data-grid=n1][data-row='1']", ".ens-next", "input[type=radio]:not(:checked)"],
        [(".ens-box[tabindex='0']", "ArrowDown"), (CELL, "ArrowRight"), (".ens-next", " "), (".ens-back", "Enter")]
        + [("input[type=radio]:checked", "ArrowDown ArrowUp ArrowDown"), LIST],
    ),
    "hsh": Ways(
        [
            ".hsh-card[data-part=q]",
            "button[aria-label='key-value heads: fewer']",
            "button[aria-label='query heads: more']",
        ]
        + ["input[type=checkbox]"],
        [(".hsh-card[data-part=y]", "Enter"), (".hsh-card[data-part=a]", " "), ("input[data-letter=T]", "ArrowUp Tab")]
        + [("button[aria-label='model width: more']", "Enter"), ("input[type=checkbox]", " "), ("select", "ArrowUp")],
    ),
    "slp": Ways(
        [".slp-preset:nth-of-type(2)", (".slp-frame svg", 0.25, 0.2), (".slp-heat input", 0.9, 0.5)]
        + ["input[type=radio]:not(:checked)"],
        [(".slp-handle", "ArrowRight ArrowUp"), (".slp-handle", "Home ArrowLeft"), (".slp-preset", "Enter")]
        + [("input[type=radio]:checked", "ArrowDown"), (".slp-heat input", "ArrowLeft")],
        [(".slp-handle .slp-query", (".slp-frame svg", 0.3, 0.3)), slider(".slp-heat input")],
        beside=".slp-frame svg",
    ),
    "msk": Ways(
        [
            "td[data-grid=mask][data-row='0'][data-column='2']",
            "button[data-mask=window]",
            "button[data-mask=everything]",
        ]
        + ["td[data-grid=weights][data-row='2'][data-column='1']"],
        [(CELL, "ArrowRight Enter"), (CELL, "ArrowDown "), ("button[data-mask=causal]", "Enter"), LIST],
        [],
        "td[data-grid=mask][data-row='1']",
    ),
    "pse": Ways(
        [("input[data-slider=query]", 0.7, 0.5), ("input[data-slider=key]", 0.45, 0.5), "button[data-step='1']"]
        + ["input[value=rotary]", "button[data-step='-1']"],
        [("input[data-slider=query]", "ArrowRight"), ("input[data-slider=key]", "Home ArrowRight ArrowRight")]
        + [("select", "ArrowUp"), ("button[data-step='1']", "Enter"), ("input[type=radio]:checked", "ArrowDown")],
        [slider("input[data-slider=query]"), slider("input[data-slider=key]", 0.8, 0.3)],
    ),
    "spr": Ways(
        [
            ("input[data-of=a0]", 0.95, 0.5),
            ".spr-turn[data-of=b]",
            "td[data-grid=a][data-row='1']",
            ".spr-turn[data-of=b]",
        ],
        [("input[data-of=b1]", "ArrowRight"), (CELL, "ArrowDown"), (".spr-turn[data-of=a]", "Enter")]
        + [(".spr-turn[data-of=a]", " "), ("input[data-of=a0]", "End")],
        [slider("input[data-of=a0]", 0.9, 0.1)],
    ),
    "slm": Ways(
        ["[data-slug=cross-attention]", "button[aria-label='Layer 1']", "button[aria-label='next word']"]
        + ["[data-slug=distribution]", "button[aria-label='previous word']", "[data-slug=self-attention]"],
        [
            (".slm-part[tabindex='0']", "End"),
            (".slm-part[tabindex='0']", "ArrowLeft"),
            (".slm-part[tabindex='0']", "ArrowDown"),
        ]
        + [(".slm-next", "Enter"), (".slm-part[tabindex='0']", "Home"), (".slm-next", " "), LIST],
        beside=".slm-live",
    ),
    "pat": Ways(
        ["td[data-grid=picture][data-row='1']", "td[data-grid=map][data-row='2'][data-column='2']"],
        [(CELL, "ArrowRight"), (CELL, "ArrowDown"), LIST, (".pat-bar label + label select", "ArrowDown")],
        beside=".pat-about",
    ),
    "bat": Ways(
        [("input[data-ask=batch]", 0.6, 0.5), ("input[data-ask=length]", 0.9, 0.5)],
        [(f"select[data-ask={name}]", "ArrowDown") for name in ("model", "machine", "stage")]
        + [("input[data-ask=batch]", "End"), ("input[data-ask=length]", "ArrowLeft")],
        [slider("input[data-ask=batch]"), slider("input[data-ask=length]", 0.9, 0.1)],
    ),
    "mem": Ways(
        [("input[data-ask=batch]", 0.6, 0.5), ("input[data-ask=length]", 0.9, 0.5)],
        [(f"select[data-ask={name}]", "ArrowDown") for name in ("model", "machine", "numbers", "use", "recipe")]
        + [("input[data-ask=batch]", "End"), ("input[data-ask=length]", "ArrowLeft")]
        + [(f"input[data-ask={name}]", " ") for name in ("fused", "recompute")],
        [slider("input[data-ask=batch]"), slider("input[data-ask=length]", 0.9, 0.1)],
        beside=".mem-verdict",
    ),
    "cav": Ways(
        ["button[data-pick=softmax]", ("input[data-ask=tokens]", 0.3, 0.5), "input[data-ask=fused]"],
        [("input[data-ask=tokens]", "ArrowLeft"), ("select[data-ask=model]", "ArrowDown")]
        + [
            ("select[data-ask=machine]", "ArrowDown"),
            ("input[data-ask=fused]", " "),
            ("button[data-pick=up]", "Enter"),
        ],
        [slider("input[data-ask=tokens]", 0.9, 0.1)],
    ),
    "cfg": Ways(
        [("input[data-ask=length]", 0.2, 0.5), ("input[data-ask=length]", 0.9, 0.5)],
        [("select[data-ask=model]", "ArrowDown"), ("input[data-ask=length]", "ArrowLeft")]
        + [("select[data-ask=each]", "ArrowDown"), ("input[data-ask=length]", "Home")],
        [slider("input[data-ask=length]", 0.9, 0.1)],
    ),
    "csw": Ways(
        ["button[data-change=heads]", "button[data-change=windows]", "button[data-change=latent]", ".csw-reset"],
        [("button[data-change=bits]", "Enter"), ("button[data-change=experts]", " ")]
        + [("input[data-ask=length]", "ArrowLeft"), ("input[data-ask=length]", "Home")],
        [slider("input[data-ask=length]", 0.9, 0.1)],
    ),
    "lyc": Ways(
        ["button[data-model^=GLM]", "button[data-model^=Llama]", "button[data-model^=Qwen]"],
        [("button[data-model^=Llama]", "Enter"), ("button[data-model^=gpt]", " ")],
    ),
    "mdt": Ways(
        [f".mdt-point[data-type={name}]" for name in ("llama", "deepseek_v4", "mamba2")],
        [("select", "ArrowDown"), (".mdt-point[tabindex='0']", "ArrowRight"), (".mdt-point[tabindex='0']", "ArrowUp")]
        + [(".mdt-point[tabindex='0']", "End")],
    ),
    "bmt": Ways(
        [
            ".bmt-bar + .bmt-bar button:nth-child(2)",
            "button[data-beams='1']",
            ".bmt-bar + .bmt-bar button:nth-child(3)",
        ],
        [("button[data-beams='3']", "Enter"), (".bmt-bar + .bmt-bar button:nth-child(2)", " ")]
        + [(".bmt-bar + .bmt-bar button:nth-child(3)", "Enter"), ("select", "ArrowUp")],
    ),
    "kvc": Ways(
        [".kvc-sizes + .kvc-bar button:nth-child(2)", "button[data-cached=false]", ".kvc-play"],
        [(f"select[data-size={name}]", "ArrowUp") for name in ("layers", "heads", "width")]
        + [("select[data-size=each]", "ArrowDown"), (".kvc-sizes + .kvc-bar button:nth-child(2)", "Enter")]
        + [("button[data-cached=false]", " ")],
    ),
    "smp": Ways(
        [("input[data-slider=tau]", 0.7, 0.5), ("input[data-slider=k]", 0.4, 0.5), ("input[data-slider=p]", 0.6, 0.5)]
        + [("input[data-slider=u]", 0.9, 0.5), ".smp-buttons button:nth-child(2)"],
        [(f"input[data-slider={name}]", "ArrowLeft") for name in ("tau", "k", "p", "u")]
        + [(".smp-buttons button:nth-child(2)", "Enter"), LIST],
        [slider("input[data-slider=tau]"), slider("input[data-slider=u]", 0.9, 0.1)],
    ),
    "lrx": Ways(
        [("input[type=range]", 0.7, 0.5), ".lrx-peaks button:last-child", ".lrx-peaks button:nth-child(2)"],
        [("input[type=range]", "ArrowRight"), (".lrx-peaks button:nth-child(3)", "Enter"), LIST]
        + [("label + label select", "ArrowUp"), (".lrx-peaks button:last-child", " ")],
        [slider("input[type=range]")],
    ),
    "dtv": Ways(
        ["button[data-suspect=no-mask]", "button[data-suspect=not-shifted]", "button[data-case='3']"],
        [("button[data-suspect=dropout-on]", "Enter"), ("button[data-case='1']", " ")]
        + [("button[data-suspect=dropout-on]", " ")],
        beside=".dtv-clues",
    ),
    "sdt": Ways(
        ["td[data-grid=copy0][data-row='0'][data-column='1']", "td[data-grid=copy0][data-row='3'][data-column='0']"]
        + ["button[data-all]", "button[data-all]", "td[data-grid=copy0][data-row='1'][data-column='2']"],
        [(CELL, "Enter"), (CELL, "ArrowRight Enter"), (CELL, "ArrowDown "), ("button[data-all]", "Enter")]
        + [("button[data-all]", " "), (CELL, "End Enter")],
    ),
    "svt": Ways(
        ["button[data-way=continuous]", ("input[type=range]", 0.4, 0.5), "button[data-way=chunked]"]
        + ["button[data-way=static]", ("input[type=range]", 0.2, 0.5)],
        [("button[data-way=chunked]", "Enter"), ("select[data-ask=budget]", "ArrowDown")]
        + [("select[data-ask=slots]", "ArrowUp"), ("select[data-ask=guest]", "ArrowDown")]
        + [("button[data-way=continuous]", " "), ("input[type=range]", "Home"), (".svt-play", "Enter")],
        [slider("input[type=range]")],
    ),
    "kpl": Ways(
        [".kpl-on", ".kpl-back", ("input[id$=step]", 0.6, 0.5), ("input[id$=tile]", 0.9, 0.5)],
        [("input[id$=step]", "ArrowRight"), ("input[id$=tile]", "ArrowLeft"), (".kpl-on", "Enter"), LIST]
        + [("select", "ArrowDown"), ("input[id$=step]", "End"), (".kpl-back", " "), (".kpl-play", "Enter")],
        [slider("input[id$=step]"), slider("input[id$=tile]", 0.9, 0.1)],
    ),
    "rpl": Ways(
        # The first of them changes what is shown also while it plays by itself, and ends that.
        [("input[id$=world]", 0.95, 0.5), ".rpl-on", ".rpl-back", ("input[id$=step]", 0.6, 0.5)]
        + [("input[id$=size]", 0.95, 0.5)],
        # Where it has played to its end, the button for a step is no Tab stop until the slider goes back.
        [("input[id$=world]", "ArrowLeft"), ("input[id$=step]", "ArrowLeft"), ("input[id$=size]", "Home")]
        + [(".rpl-on", "Enter"), LIST, (".rpl-choice + .rpl-choice select", "ArrowDown"), ("input[id$=step]", "Home")]
        + [(".rpl-play", "Enter")],
        [slider("input[id$=step]"), slider("input[id$=size]", 0.9, 0.1)],
    ),
    "shm": Ways(
        ["button[data-stage='2']", ("input[id$=world]", 0.95, 0.5), "button[data-stage='3']"],
        [("button[data-stage='1']", "Enter"), ("input[id$=world]", "ArrowRight"), ("button[data-stage='0']", " ")],
        [slider("input[id$=world]")],
    ),
    "tpc": Ways(
        ["input[id$=in-rows]", "input[id$=out-columns]", "label[for$=in-columns]"],
        [("input[id$=in-columns]", "ArrowDown"), ("input[id$=out-rows]", "ArrowUp")]
        + [("input[type=radio]:checked", "ArrowUp")],
    ),
    "ans": Ways(
        ["button[data-reward='1']", ("input[id$=at]", 0.95, 0.5), "button[data-mode=steps]"]
        + [("input[id$=at]", 0.4, 0.5), "button[data-reward='0']"],
        [("button[data-reward='1']", "Enter"), ("input[id$=at]", "ArrowRight"), ("button[data-mode=steps]", " ")]
        + [("input[id$=at]", "End")],
        [slider("input[id$=at]")],
    ),
    "bml": Ways(
        ["button[data-way='0']", ("input[id$=at]", 0.9, 0.5), "button[data-gain='2']", ("input[id$=at]", 0.1, 0.5)],
        [("button[data-gain='1']", "Enter"), ("input[id$=at]", "ArrowRight"), ("button[data-way='0']", " ")]
        + [("input[id$=at]", "Home")],
        [slider("input[id$=at]")],
    ),
    "ptg": Ways(
        ["td[data-grid=patch][data-row='4'][data-column='26']", "button[data-mode=head]", ".ptg-all"]
        + ["td[data-grid=lens][data-row='1'][data-column='20']", ("input[id$=layer]", 0.8, 0.5)],
        [("td[data-grid=patch][tabindex='0']", "ArrowRight"), ("td[data-grid=patch][tabindex='0']", "ArrowDown"), LIST]
        + [("button[data-mode=head]", " "), (".ptg-all", "Enter"), ("input[id$=layer]", "End")]
        + [("select[id$=from]", "ArrowDown")],
        [slider("input[id$=layer]")],
    ),
    "trw": Ways(
        [("input[id$=at]", 0.7, 0.5), ".trw-end", ("input[id$=at]", 0.3, 0.5)],
        [("input[id$=at]", "ArrowRight"), (".trw-end", "Enter"), ("input[id$=at]", "Home")],
        [slider("input[id$=at]")],
    ),
    "xpr": Ways(
        [".xpr-token:nth-child(2)", ".xpr-back", "button[data-router='1']", ("input[id$=batch]", 0.9, 0.5)]
        + [("input[id$=step]", 0.5, 0.5), ".xpr-next", "button[data-router='0']"],
        [(".xpr-token[tabindex='0']", "ArrowRight"), (".xpr-back", "Enter"), ("button[data-router='1']", " ")]
        + [("input[id$=batch]", "ArrowRight"), ("input[id$=step]", "Home"), (".xpr-next", " ")],
        [slider("input[id$=batch]"), slider("input[id$=step]", 0.9, 0.1)],
    ),
    "scs": Ways(
        [("input", 0.3, 0.5), ("input", 0.9, 0.5)],
        [("input", "ArrowRight"), ("input", "End"), ("input", "ArrowLeft"), ("input", "Home")],
        [slider("input")],
    ),
    "whp": Ways(
        [("input[id$=at]", 0.6, 0.5), ("input[id$=weight]", 0.9, 0.5), ("input[id$=children]", 0.95, 0.5)],
        [("input[id$=at]", "ArrowRight"), ("input[id$=weight]", "ArrowLeft"), ("input[id$=children]", "ArrowRight")]
        + [("input[id$=at]", "ArrowLeft"), (".whp-play", "Enter")],
        [slider("input[id$=at]"), slider("input[id$=weight]", 0.9, 0.1)],
    ),
    "ppl": Ways(
        [("input[id$=time]", 0.3, 0.5), ("input[id$=stages]", 0.95, 0.5), ("input[id$=micro]", 0.05, 0.5)],
        [("input[id$=time]", "ArrowLeft"), ("input[id$=micro]", "ArrowRight"), ("select", "ArrowUp")]
        + [("input[id$=stages]", "Home"), ("input[id$=time]", "Home"), (".ppl-play", "Enter")],
        [slider("input[id$=time]"), slider("input[id$=micro]", 0.9, 0.1)],
    ),
    "rfl": Ways(
        ["button[data-phase=decode]", ("input[data-letter=S]", 0.9, 0.5), ("input[data-letter=B]", 0.6, 0.5)]
        + ["circle[data-name=down]", "button[data-phase=prefill]"],
        [("input[data-letter=B]", "ArrowRight"), ("input[data-letter=H]", "ArrowLeft"), LIST]
        + [
            ("label + label select", "ArrowDown"),
            ("button[data-phase=decode]", "Enter"),
            ("button[data-phase=prefill]", " "),
        ],
        [slider("input[data-letter=S]"), slider("input[data-letter=N]", 0.9, 0.2)],
    ),
    "wab": Ways(
        [("input", 0.6, 0.5), "button[data-double=moving]", "button[data-double=computing]"],
        [("input", "ArrowRight"), ("button[data-double=computing]", "Enter"), ("button[data-double=moving]", " ")]
        + [("input", "End"), ("button[data-double=moving]", "Enter")],
        [slider("input")],
    ),
    "slt": Ways(
        ["li:nth-child(2) .slt-token", "label.slt-way:nth-of-type(1)", ".slt-token", "label.slt-way:nth-of-type(3)"]
        + [(".slt-merges input", 0.3, 0.5)],
        [("textarea", "End a b Enter c"), (".slt-merges input", "Home"), (".slt-token[tabindex='0']", "ArrowRight")]
        + [("input[type=radio]:checked", "ArrowUp"), LIST, (".slt-row select:last-of-type", "ArrowDown")],
        [slider(".slt-merges input")],
        beside=".slt-about",
    ),
}
"""By the figures' classes in the page; `test_figure_ways_name_every_figure` holds that none is missing."""
