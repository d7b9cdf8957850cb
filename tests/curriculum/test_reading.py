"""Reading times are counted: words, visible code, figures; folds apart."""

from pathlib import Path

import pytest

from softlookup_course.curriculum.reading import Reading, reading
from softlookup_course.curriculum.takeaways import takeaway_list, takeaways

PAGE = """---
kernelspec: x
---
# One title

(label)=
Four words of {glue:text}`n` prose, $T^2 + 1$.

```{code-cell} python3
:tags: [hide-input]
from softlookup_course.widgets import Example, MaskBuilder
show(figures.one)
```

```{code-cell} python3
:tags: [remove-cell]
hidden = 1
```

```{code-cell} python3
a = 1

b = 2
```

```{code-cell} python3
:tags: [remove-input]
MaskBuilder()
```

````{dropdown} A fold
Three folded words.
````

```python
fenced = 1
```
"""


def test_prose_code_and_figures_are_counted_and_folds_apart():
    main, folded = reading(PAGE)
    assert main == Reading(words=2 + 6, code_lines=2, pictures=1, live=1)  # a number and a formula count as a word
    assert folded == Reading(words=3)


def test_minutes_are_rounded_up_to_steps_of_five():
    assert Reading(words=1000).minutes == 5
    assert Reading(words=1001).minutes == 10
    assert Reading(words=200, code_lines=24, pictures=2, live=1).minutes == 10
    assert (Reading(words=600) + Reading(words=400)).minutes == 5


def test_takeaways_are_collected_under_the_page_that_they_stand_on(tmp_path):
    box = "```{admonition} Takeaway\n:class: takeaway\nDivide by $\\sqrt{H}$,\nwhich is 8 at $H = 64$.\n```\n"
    (tmp_path / "04_one.md").write_text(f"# One head\n\nWords.\n\n{box}\nMore.\n\n{box}", encoding="utf-8")
    (tmp_path / "05_none.md").write_text("# Nothing to keep\n", encoding="utf-8")
    assert [takeaway.page for takeaway in takeaways(tmp_path)] == ["04_one", "04_one"]
    line = "- Divide by $\\sqrt{H}$, which is 8 at $H = 64$."
    assert takeaway_list(tmp_path).splitlines() == ["**[One head](04_one.md)**", "", line, line]


@pytest.mark.parametrize("kind", ["remove-cell", "remove-output"])
def test_what_is_removed_counts_for_nothing(kind):
    cell = f"```{{code-cell}} python3\n:tags: [{kind}, remove-input]\nshow(figures.one)\n```\n"
    assert reading(cell) == (Reading(), Reading())


def test_every_chapter_has_a_time():
    pages = sorted((Path(__file__).resolve().parents[2] / "book").glob("[01][0-9]_*.md"))
    assert len(pages) > 15
    assert all(reading(page.read_text(encoding="utf-8"))[0].minutes >= 5 for page in pages)
