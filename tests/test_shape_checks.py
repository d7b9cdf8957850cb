"""Checks of shapes that are made once for each combination refuse whatever checks at every call would."""

from dataclasses import dataclass
from functools import partial
from typing import Literal

import beartype
import jaxtyping
import pytest
import torch
from jaxtyping import Float, TypeCheckError
from shape_checks import checked_once
from torch import Tensor

checked = partial(checked_once, typechecker=beartype.beartype)


@checked
def product(a: Float[Tensor, "T D"], b: Float[Tensor, "D V"], spoiled: bool = False) -> Float[Tensor, "T V"]:
    return (a @ b).mT if spoiled else a @ b


@checked
def largest(x: Float[Tensor, " T"], k: int, order: Literal["up", "down"] = "up") -> Float[Tensor, " {k}"]:
    return x.topk(2).values


@checked
@dataclass
class Scores:
    values_TS: Float[Tensor, "T S"]


def test_arguments_that_do_not_fit_are_refused_before_and_after_right_ones():
    a, b = torch.ones(2, 3), torch.ones(3, 4)
    for _ in range(3):
        for wrong in ((b, b), (a, b.long()), (a, b[0])):
            with pytest.raises(TypeCheckError):
                product(*wrong)
        assert product(a, b).shape == (2, 4)


def test_a_result_of_another_shape_is_refused_where_the_arguments_look_alike():
    a, b = torch.ones(2, 3), torch.ones(3, 4)
    for spoiled in (False, True, False, True):
        if spoiled:
            with pytest.raises(TypeCheckError):
                product(a, b, spoiled)
        else:
            assert product(a, b, spoiled).shape == (2, 4)


def test_numbers_and_words_count_where_an_annotation_names_them():
    for _ in range(2):
        assert largest(torch.arange(3.0), 2).tolist() == [2, 1]
        with pytest.raises(TypeCheckError):
            largest(torch.arange(3.0), 3)
        with pytest.raises(TypeCheckError):
            largest(torch.arange(3.0), 2, "sideways")


def test_a_dataclass_is_checked_too():
    assert Scores(torch.ones(2, 3)) is not None
    with pytest.raises(TypeCheckError):
        Scores(torch.ones(3))


def test_nothing_is_remembered_of_calls_that_were_not_checked(unchecked):
    a, b = torch.ones(2, 3), torch.ones(3, 4)
    assert product(a, b, True).shape == (4, 2)
    jaxtyping.config.update("jaxtyping_disable", False)
    with pytest.raises(TypeCheckError):
        product(a, b, True)
