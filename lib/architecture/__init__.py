"""The shape of a model and the exact number of parameters that follows from it.

A `Transformer` holds sizes; every count is a property. `model("llama-3-8b")` gives a released one from
`lib/data/models.toml`. Counts are of stored numbers: a tied table once, a padded vocabulary with its padding.
"""

from lib.architecture.counting import NORM_KINDS, QK_NORMS
from lib.architecture.parts import LatentAttention, MixtureOfExperts
from lib.architecture.released import FIGURES, MODELS, SYNONYMS, WORDS, model
from lib.architecture.transformer import Transformer

__all__ = [
    "FIGURES",
    "MODELS",
    "NORM_KINDS",
    "QK_NORMS",
    "SYNONYMS",
    "WORDS",
    "LatentAttention",
    "MixtureOfExperts",
    "Transformer",
    "model",
]
