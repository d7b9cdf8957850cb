"""Pictures and texts in one space: two encoders, trained so that what belongs together is near."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from softlookup.model.parts._inputs import check_sizes
from softlookup.model.parts.initialise import xavier_
from softlookup.model.whole.objectives import contrastive_loss

MAX_SCALE = 100.0


class ImageTextPair(nn.Module):
    """An encoder of pictures beside one of texts, both projected into one space and scaled to length 1.

    Args:
        image_encoder: A module from pictures to vectors (B, D) whose width is its attribute d_model, such as a ViT
            without classes.
        text_encoder: A module from ids to vectors (B, D) whose width is its attribute d_model, such as a TextEncoder.
        d_joint: The width of the common space.

    Raises:
        ValueError: If d_joint is below 1.
        TypeError: If an encoder does not say how wide its vectors are.

    Source: Radford et al. 2021, figure 3 and section 2.5 (the temperature).
    """

    def __init__(self, image_encoder: nn.Module, text_encoder: nn.Module, d_joint: int) -> None:
        super().__init__()
        check_sizes(d_joint=d_joint)
        self.image_encoder, self.text_encoder = image_encoder, text_encoder
        self.w_image = nn.Parameter(torch.empty(_width(image_encoder), d_joint))
        self.w_text = nn.Parameter(torch.empty(_width(text_encoder), d_joint))
        self.log_scale = nn.Parameter(torch.empty(()))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the projections anew (Xavier), and let the temperature begin at 0.07."""
        xavier_(self.w_image)
        xavier_(self.w_text)
        nn.init.constant_(self.log_scale, -math.log(0.07))

    def scale(self) -> Float[Tensor, ""]:
        """Give what similarities are multiplied by: one over the temperature, learned, at most 100.

        The weight itself is held below the limit, so that it can learn to come back from it.

        Returns:
            The factor.
        """
        with torch.no_grad():
            self.log_scale.clamp_(max=math.log(MAX_SCALE))
        return self.log_scale.exp()

    def encode_images(self, images: Float[Tensor, "B C height width"]) -> Float[Tensor, "B M"]:
        """Give each picture its vector of length 1 in the common space.

        Args:
            images: What the image encoder takes.

        Returns:
            One vector for each picture.
        """
        return F.normalize(self.image_encoder(images) @ self.w_image, dim=-1)

    def encode_texts(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B M"]:
        """Give each text its vector of length 1 in the common space.

        Args:
            ids: What the text encoder takes.

        Returns:
            One vector for each text.
        """
        return F.normalize(self.text_encoder(ids) @ self.w_text, dim=-1)

    def forward(self, images: Float[Tensor, "I C height width"], ids: Int[Tensor, "J T"]) -> Float[Tensor, "I J"]:
        """Score every picture against every text.

        Args:
            images: Some pictures.
            ids: Some texts, of another number if need be.

        Returns:
            Cosine similarities over the temperature: logits of a choice among the texts (a row), or among the pictures
            (a column).

        Cost: 2*I*J*M operations beside those of the encoders.
        """
        return self.encode_images(images) @ self.encode_texts(ids).mT * self.scale()

    def loss(self, images: Float[Tensor, "B C height width"], ids: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
        """Compare a batch of pairs: every picture has to find its text among all, and every text its picture.

        Args:
            images: Pictures.
            ids: Their texts, in the same order.

        Returns:
            The contrastive loss in nats.

        Raises:
            ValueError: If there is not one text for each picture.
        """
        if len(images) != len(ids):
            raise ValueError(f"{len(images)} pictures beside {len(ids)} texts: give one text for each picture")
        log_temperature = -self.scale().log()
        return contrastive_loss(self.encode_images(images), self.encode_texts(ids), log_temperature)

    @torch.no_grad()
    def classify(
        self, images: Float[Tensor, "I C height width"], label_ids: Int[Tensor, "J T"]
    ) -> Float[Tensor, "I J"]:
        """Choose among labels that were never classes in training: each is a text like any other (zero-shot).

        Args:
            images: Pictures.
            label_ids: One text for each label.

        Returns:
            For each picture the probabilities of the labels.

        Source: Radford et al. 2021, section 3.1.2.
        """
        return self(images, label_ids).softmax(dim=-1)


def _width(encoder: nn.Module) -> int:
    width = getattr(encoder, "d_model", None)
    if not isinstance(width, int):
        raise TypeError(f"{type(encoder).__name__} has d_model {width!r}; wanted the width of its vectors, an int")
    return width
