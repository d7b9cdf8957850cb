"""The vision transformer: a picture cut into patches, each patch a token, and the encoder as it is."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from softlookup.model.parts._inputs import check_sizes, check_weights
from softlookup.model.parts.config import Config
from softlookup.model.parts.initialise import xavier_
from softlookup.model.parts.positions import LearnedPositions
from softlookup.model.parts.trace import Trace
from softlookup.model.whole.stack import Encoder

Pooling = Literal["class", "mean"]


def patchify(images: Float[Tensor, "B C height width"], patch: int) -> Float[Tensor, "B T M"]:
    """Cut pictures into square patches, and lay each out as one row of numbers: pictures become sentences.

    Args:
        images: Pictures of C channels.
        patch: P, the side of a patch; it has to divide height and width.

    Returns:
        T = (height / P) * (width / P) patches in reading order, each M = C*P*P numbers: channel by channel, in each
        row by row.

    Raises:
        ValueError: If there are not four axes, or the patch does not divide the sides; the message names the sizes.

    Source: Dosovitskiy et al. 2021, section 3.1.
    """
    check_sizes(patch=patch)
    if images.ndim != 4 or 0 in images.shape:
        raise ValueError(f"images have shape {tuple(images.shape)}; wanted (B, C, height, width), none empty")
    height, width = images.shape[2:]
    if height % patch or width % patch:
        raise ValueError(f"images of {height} x {width} cannot be cut into patches of {patch} x {patch}")
    # Each side becomes two axes: which patch, and where in it. Then the two "which" go in front.
    grid = images.unflatten(2, (height // patch, patch)).unflatten(4, (width // patch, patch))
    return grid.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


def unpatchify(
    patches: Float[Tensor, "B T M"], patch: int, height: int, width: int
) -> Float[Tensor, "B C {height} {width}"]:
    """Put patches together again: the way back from patchify.

    Args:
        patches: Patches in reading order.
        patch: P, the side of a patch.
        height: Of the pictures, in pixels.
        width: Of the pictures, in pixels.

    Returns:
        The pictures.

    Raises:
        ValueError: If number or width of the patches do not make such pictures; the message names the sizes.
    """
    check_sizes(patch=patch, height=height, width=width)
    down, across = height // patch, width // patch
    fits = patches.ndim == 3 and patches.shape[1] == down * across and not patches.shape[2] % patch**2
    if not fits or height % patch or width % patch:
        raise ValueError(
            f"patches have shape {tuple(patches.shape)}; pictures of {height} x {width} in patches of "
            f"{patch} x {patch} want (B, {down * across}, C * {patch**2})"
        )
    grid = patches.unflatten(2, (-1, patch, patch)).unflatten(1, (down, across))
    return grid.permute(0, 3, 1, 4, 2, 5).flatten(4, 5).flatten(2, 3)


class ViT(nn.Module):
    """A vision transformer. Once patches are tokens, nothing knows that they were a picture; the defaults are ViT-B/16.

    Args:
        image_size: Height and width of the pictures, in pixels.
        patch: P, the side of a patch, a divisor of the image size.
        n_classes: How many classes to tell apart; None makes an encoder of pictures, whose output is (B, D).
        channels: C.
        d_model: D.
        n_heads: N.
        n_layers: L.
        d_hidden: F.
        dropout: As in Config.
        norm_eps: What the norms add to the variance.
        pooling: What stands for the whole picture: a class token that is put in front and looks at all patches, or
            the mean of the patches.

    Raises:
        ValueError: If a size is below 1 or does not divide another, or the pooling is unknown.

    Source: Dosovitskiy et al. 2021, section 3.1 and table 1.
    """

    def __init__(
        self,
        image_size: int = 224,
        patch: int = 16,
        n_classes: int | None = 1000,
        *,
        channels: int = 3,
        d_model: int = 768,
        n_heads: int = 12,
        n_layers: int = 12,
        d_hidden: int = 3072,
        dropout: float = 0.1,
        norm_eps: float = 1e-6,
        pooling: Pooling = "class",
    ) -> None:
        super().__init__()
        check_sizes(
            image_size=image_size, patch=patch, channels=channels, n_classes=1 if n_classes is None else n_classes
        )
        if image_size % patch:
            raise ValueError(f"images of {image_size} x {image_size} cannot be cut into patches of {patch} x {patch}")
        if pooling not in ("class", "mean"):
            raise ValueError(f"pooling is {pooling!r}; wanted class or mean")
        self.image_size, self.patch, self.channels, self.d_model = image_size, patch, channels, d_model
        config = Config(
            vocab_size=1,  # there are no words, and the special ids mean nothing
            pad_id=0,
            start_id=0,
            end_id=0,
            d_model=d_model,
            n_heads=n_heads,
            n_layers=n_layers,
            d_hidden=d_hidden,
            positions="none",  # they are added below, before the encoder
            norm_eps=norm_eps,
            pre_norm=True,
            activation="gelu",
            attention_bias=True,
            dropout=dropout,
        )
        self.w_patch = nn.Parameter(torch.empty(channels * patch**2, d_model))
        self.b_patch = nn.Parameter(torch.empty(d_model))
        self.class_token = nn.Parameter(torch.empty(d_model)) if pooling == "class" else None
        n_patches = (image_size // patch) ** 2
        self.positions = LearnedPositions(n_patches + (pooling == "class"), d_model)
        self.dropout = nn.Dropout(dropout)
        self.encoder = Encoder(config)
        self.w_out = None if n_classes is None else nn.Parameter(torch.empty(d_model, n_classes))
        self.b_out = None if n_classes is None else nn.Parameter(torch.empty(n_classes))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the patches' projection anew (Xavier), the class token small, and let the head begin with zeros.

        With zeros in the head every class is as likely at first. The encoder and the positions have drawn their own.
        """
        xavier_(self.w_patch)
        nn.init.zeros_(self.b_patch)
        if self.class_token is not None:
            nn.init.normal_(self.class_token, std=0.02)
        for weight in (self.w_out, self.b_out):
            if weight is not None:
                nn.init.zeros_(weight)

    def forward(self, images: Float[Tensor, "B C height width"], *, trace: Trace | None = None) -> Float[Tensor, "B M"]:
        """Say what each picture shows, or, without classes, give its vector.

        Args:
            images: Pictures of the model's size and channels.
            trace: Where to leave states and attention weights.

        Returns:
            Logits, (B, classes); or vectors, (B, D).

        Raises:
            ValueError: If the pictures are of another size or on another device than the weights.
            TypeError: If they are not in the dtype of the weights.
        """
        states_BTD = self.states(images, trace=trace)
        pooled_BD = states_BTD.mean(dim=1) if self.class_token is None else states_BTD[:, 0]
        if self.w_out is None or self.b_out is None:
            return pooled_BD
        return pooled_BD @ self.w_out + self.b_out

    def states(
        self, images: Float[Tensor, "B C height width"], *, trace: Trace | None = None
    ) -> Float[Tensor, "B T D"]:
        """Run the encoder: one vector for each patch, behind that of the class token if there is one.

        Args:
            images: Pictures of the model's size and channels.
            trace: Where to leave states and attention weights.

        Returns:
            The encoder's output; T counts the class token too.

        Raises:
            ValueError: If the pictures are of another size or on another device than the weights.
            TypeError: If they are not in the dtype of the weights.
        """
        expected = (self.channels, self.image_size, self.image_size)
        if images.ndim != 4 or tuple(images.shape[1:]) != expected or images.shape[0] == 0:
            raise ValueError(f"images have shape {tuple(images.shape)}; wanted (B, {', '.join(map(str, expected))})")
        check_weights(images, self.w_patch, "images")
        x_BTD = patchify(images, self.patch) @ self.w_patch + self.b_patch
        if self.class_token is not None:
            first_B1D = self.class_token.to(x_BTD.dtype).expand(len(x_BTD), 1, -1)
            x_BTD = torch.cat((first_B1D, x_BTD), dim=1)
        return self.encoder(self.dropout(self.positions(x_BTD)), trace=trace)
