"""A known mistake is an edit of the published solution: what does not fit in is refused."""

import pytest

from softlookup_judge import get_task
from softlookup_judge.data.published import NoEdit, mutant_source
from softlookup_judge.data.variant import variant_of


def test_mistakes_that_do_not_fit_in_together_are_refused():
    scale = get_task("04.scale")
    with pytest.raises(NoEdit, match="divided-by-width: .* which the solution does not hold"):
        mutant_source(variant_of(scale), ("no-sqrt", "divided-by-width"))
    with pytest.raises(NoEdit, match="together they are no Python"):
        mutant_source(variant_of(get_task("04.weights")), ("mask-renormalised", "nan-rows"))
