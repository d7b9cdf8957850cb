"""Work a figure with any engine and see after every step that its numbers changed and are the library's."""

import json
from typing import Any

from figure_ways import ORACLES, WAYS, Place

from benchmarks.site.engines import Engine


def root(name: str) -> str:
    return f".slf.{name}"


def read(engine: Engine, name: str) -> dict[str, Any]:
    """Read what a figure shows, once it has drawn all that it means to draw, and plays nothing."""
    engine.run(
        f"""async () => {{
              do for (let i = 0; i < 3; i += 1) await new Promise(requestAnimationFrame);
              while (document.querySelector({json.dumps(root(name))}).dataset.playing === "true");
              return true;
            }}"""
    )
    return engine.run(ORACLES[name].script())


def where(engine: Engine, name: str, place: Place) -> tuple[float, float]:
    """Bring a place of a figure into sight and give it in pixels of the window."""
    css, across, down = place if isinstance(place, tuple) else (place, 0.5, 0.5)
    point = engine.run(
        f"""async () => {{
              const one = document.querySelector({json.dumps(root(name))}).querySelector({json.dumps(css)});
              if (!one) return null;
              const inside = (box) => box.top > 120 && box.bottom < innerHeight - 60;
              const middle = {{ block: 'center', inline: 'center', behavior: 'instant' }};
              if (!inside(one.getBoundingClientRect())) one.scrollIntoView(middle);
              for (let i = 0; i < 2; i += 1) await new Promise(requestAnimationFrame);
              const box = one.getBoundingClientRect();
              return [box.x + {across} * box.width, box.y + {down} * box.height];
            }}"""
    )
    assert point is not None, f"{engine.name}: the figure {name} has no {css}"
    return point[0], point[1]


def check(engine: Engine, name: str, before: dict[str, Any], step: object) -> dict[str, Any]:
    """See that a step changed what is shown, and that the library gives the same numbers at the new setting."""
    after = read(engine, name)
    assert after != before, f"{engine.name}: {step} changes nothing that {name} shows"
    ORACLES[name].agrees(after)
    return after


def press_all(engine: Engine, name: str) -> None:
    """Press, or tap, one place after the other."""
    shown = read(engine, name)
    ORACLES[name].agrees(shown)
    for place in WAYS[name].press:
        engine.point(("move", *where(engine, name, place)), ("down",), ("up",))
        shown = check(engine, name, shown, f"a press on {place}")


def drag_all(engine: Engine, name: str) -> None:
    """Drag what can be dragged; the page must stay where it is."""
    shown = read(engine, name)
    for start, end in WAYS[name].drag:
        begin = where(engine, name, start)
        to = where(engine, name, end)
        scrolled = engine.run("() => scrollY")
        engine.point(("move", *begin), ("down",), ("move", *to), ("up",))
        shown = check(engine, name, shown, f"a drag from {start} to {end}")
        assert engine.run("() => scrollY") == scrolled, f"a drag on {start} of {name} scrolls the page"


def strike(engine: Engine, name: str, css: str, keys: str) -> None:
    """Give the focus to a control and press keys, parted by single spaces; an empty one is the space bar."""
    engine.focus(f"{root(name)} {css}")
    for key in keys.split(" ") if keys != " " else [" "]:
        engine.press(key or " ")


def strike_all(engine: Engine, name: str) -> None:
    """Work every control by its keys."""
    shown = read(engine, name)
    for css, keys in WAYS[name].keys:
        strike(engine, name, css, keys)
        shown = check(engine, name, shown, f"{keys!r} at {css}")
