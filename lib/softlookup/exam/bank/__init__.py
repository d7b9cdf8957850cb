"""The bank: questions on every chapter, one module for each."""

from softlookup.exam.bank import (
    after_pretraining,
    beyond_text,
    counting,
    decoder_and_masks,
    encoder,
    inference,
    kernels,
    looking_inside,
    many_devices,
    many_heads,
    motivation,
    one_head,
    positions,
    roofline,
    serving,
    soft_lookup,
    tokens_and_embeddings,
    training,
    what_changed,
)
from softlookup.exam.question import ExamQuestion

QUESTIONS: tuple[ExamQuestion, ...] = (
    *motivation.QUESTIONS,
    *soft_lookup.QUESTIONS,
    *tokens_and_embeddings.QUESTIONS,
    *one_head.QUESTIONS,
    *many_heads.QUESTIONS,
    *positions.QUESTIONS,
    *encoder.QUESTIONS,
    *decoder_and_masks.QUESTIONS,
    *training.QUESTIONS,
    *inference.QUESTIONS,
    *roofline.QUESTIONS,
    *counting.QUESTIONS,
    *beyond_text.QUESTIONS,
    *what_changed.QUESTIONS,
    *serving.QUESTIONS,
    *looking_inside.QUESTIONS,
    *kernels.QUESTIONS,
    *many_devices.QUESTIONS,
    *after_pretraining.QUESTIONS,
)
"""All questions, by chapter."""
