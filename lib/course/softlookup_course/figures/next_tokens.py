"""What a model expects next after several texts, as it was trained and with something taken from it."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def next_tokens(
    texts: Sequence[str],
    columns: Mapping[str, Sequence[Mapping[str, float]]],
    *,
    palette: Palette,
) -> Figure:
    """Draw the likeliest next tokens of each text, a row of panels, with a column of panels for each model.

    ``columns`` has for each of two models, by its name, the probabilities of its likeliest tokens after each text,
    sorted, all on one scale. A ValueError if there are not two models, or one has not a prediction for each text.
    """
    if len(columns) != 2 or any(len(predictions) != len(texts) for predictions in columns.values()):
        counts = [len(predictions) for predictions in columns.values()]
        raise ValueError(f"{len(texts)} texts with {counts} predictions; wanted two models, with one for each text")
    tokens = max(len(prediction) for predictions in columns.values() for prediction in predictions)
    figure = Figure(figsize=(4.9, 0.35 + len(texts) * (0.42 + 0.2 * tokens)))
    panels = figure.subplots(len(texts), 2, squeeze=False)
    most = max(share for predictions in columns.values() for row in predictions for share in row.values())
    described = []
    for i, ((model, predictions), color) in enumerate(zip(columns.items(), palette.series, strict=False)):
        for text, prediction, axes in zip(texts, predictions, panels[:, i], strict=True):
            axes.barh(range(len(prediction)), list(prediction.values()), color=color, height=0.7)
            for place, share in enumerate(prediction.values()):
                axes.text(share + 0.02 * most, place, f"{share:.2f}", va="center", size=8.5, color=palette.ink)
            axes.set_yticks(range(len(prediction)), list(prediction))
            axes.set(xlim=(0, 1.3 * most), ylim=(tokens - 0.4, -0.6), xticks=[])
            axes.set_title(f"{text} …", size=9.5, style="italic", weight="normal", loc="left")
            axes.tick_params(length=0, labelsize=9)
            axes.spines["bottom"].set_visible(False)
        above = {"ha": "left", "va": "baseline", "xycoords": "axes fraction"}
        write_beside(panels[0, i], model, (0, 1), (0, 22), color=color, size=10, **above)
        likeliest = (max(prediction, key=prediction.__getitem__) for prediction in predictions)
        described.append(
            f"{model}: " + ", ".join(f"{token} after '{text}'" for text, token in zip(texts, likeliest, strict=True))
        )
    figure.set_label(f"Bars of the likeliest next tokens, two columns of panels. {'; '.join(described)}.")
    return figure
