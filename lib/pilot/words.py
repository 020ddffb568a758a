"""Text whose entropy is known exactly: made-up words of four letters, each as frequent as its rank says.

    chance of the word of rank r:   r^-1.4 / sum over all ranks
    entropy:                        sum of -p ln p over the words, over the five tokens of a word

Words are drawn one after the other, whatever stood before, and a sequence begins with a whole one. So nothing but the
frequencies of words can be learnt, and no model gets below the entropy: it is the E of a scaling law, known. And as
in text that people wrote there is always a rarer word to learn, so that the loss falls as a power of compute.
"""

import math
import random
from functools import cache
from itertools import accumulate

from lib import check

N_WORDS = 10_000
EXPONENT = 1.4
LETTERS = " abcdefghijklmnop"  # token 0 stands behind each word and before the first
WORD_LEN = 5  # tokens of a word with the blank behind it
CORPUS = "generated words, lib.pilot.words"


@cache
def words():
    """All words, the most frequent first, each a tuple of tokens that ends with the blank.

    >>> len(words()), len(set(words())), words()[0]
    (10000, 10000, (9, 7, 2, 2, 0))
    """
    draw, found = random.Random(CORPUS), {}
    while len(found) < N_WORDS:
        found[(*(draw.randrange(1, len(LETTERS)) for _ in range(WORD_LEN - 1)), 0)] = None
    return tuple(found)


@cache
def chances():
    """The chance of each word, in their order."""
    weights = [rank**-EXPONENT for rank in range(1, N_WORDS + 1)]
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


def entropy():
    """What no model gets below: sum of -p ln p, over the tokens of a word  [nats per token].

    >>> f"{entropy():.4f}"
    '0.7237'
    """
    return math.fsum(-p * math.log(p) for p in chances()) / WORD_LEN


def word_batch(seed, position, sequences, seq_len):
    """Sequences from a position on, and what the source itself would lose on them.

    Args:
        seed: of the text, a whole number of at least 0.
        position: sequences read before, a whole number of at least 0.
        sequences: how many are read, a whole number of at least 1.
        seq_len: tokens of each, a multiple of a word's five.

    Returns:
        (tokens, targets, nats): lists of lists for `lib.pilot.model.loss`, and the mean of -ln p over these words, per
        token. A model's loss less these nats is free of the luck of the draw.

    Raises:
        TypeError, ValueError: for something else.

    >>> tokens, targets, nats = word_batch(0, 0, 1, 10)
    >>> tokens[0][1:] == targets[0][:-1], tokens[0][0], targets[0][4]
    (True, 0, 0)
    """
    check.natural(seed=seed, position=position)
    check.integer(sequences=sequences, seq_len=seq_len)
    if seq_len % WORD_LEN:
        raise ValueError(f"seq_len = {seq_len}: a multiple of {WORD_LEN}, the tokens of a word")
    ranks = [_ranks(seed, position + n, seq_len // WORD_LEN) for n in range(sequences)]
    targets = [[token for rank in row for token in words()[rank]] for row in ranks]
    nats = math.fsum(-math.log(chances()[rank]) for row in ranks for rank in row) / (sequences * seq_len)
    return [[0, *row[:-1]] for row in targets], targets, nats


@cache
def _totals():
    return tuple(accumulate(chances()))


def _ranks(seed, position, number):
    return random.Random(f"{seed} {position}").choices(range(N_WORDS), cum_weights=_totals(), k=number)
