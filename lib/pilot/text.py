"""Text to train on, made on the spot: English sentences about people with made-up names, a letter to a token.

Nothing is downloaded and nothing stored. The text of sequence k is a function of the seed and of k alone, so a position
in the data is one number: how many sequences have been read. Whoever resumes there reads on with the next one.

Names are as unequal as words in a language (Zipf): some come in every second sentence, most are rare. What a person
does and where follows from the name. So there is always more to learn, the rarer the slower, as in text that
people wrote.
"""

import random
import string
from collections.abc import Iterable
from functools import cache

from lib import check

VOCABULARY = "\n .,;:'-!?" + string.ascii_letters + "()"
_TOKENS = {letter: token for token, letter in enumerate(VOCABULARY)}
_PEOPLE = 4096
_SYLLABLES = [c + v for c in ("b", "d", "f", "k", "l", "m", "n", "r", "s", "t", "v", "z") for v in "aeiou"]
_TRADES = [
    "baker",
    "smith",
    "weaver",
    "sailor",
    "farmer",
    "teacher",
    "miller",
    "painter",
    "doctor",
    "hunter",
    "singer",
    "tailor",
]
_THINGS = ["bread", "iron", "cloth", "rope", "wheat", "paper", "flour", "colours", "herbs", "furs", "songs", "coats"]
_WORDS = {
    "verb": ["sells", "buys", "brings", "carries", "finds", "loses", "keeps", "hides", "wants", "forgets"],
    "place": ["by the river", "in the market", "on the hill", "at the harbour", "behind the mill", "under the bridge"],
    "time": ["in the morning", "at noon", "in the evening", "at night", "after the rain", "before the winter"],
}
_FORMS = (
    "{one} the {trade} {verb} {thing} {place}.",
    "{time} {one} {verb} {thing}.",
    "Who {verb} {thing} {time}? It is {one}, the {trade}.",
    "{one} lives {home}, and {other} {verb} {thing} there.",
    "{one} and {other} meet {place} {time}.",
)


def encode(text):
    """The tokens of a text, one for each letter.

    Args:
        text: of letters in `VOCABULARY`.

    Raises:
        TypeError: for no text.
        ValueError: for a letter that is none of them.

    >>> decode(encode("Bread, at noon."))
    'Bread, at noon.'
    """
    check.text(text=text)
    for letter in text:
        if letter not in _TOKENS:
            raise ValueError(f"text = {check.short(text)}: {letter!r} is no letter of the {len(VOCABULARY)} that are")
    return [_TOKENS[letter] for letter in text]


def decode(tokens):
    """The text of tokens.

    Args:
        tokens: an iterable of whole numbers from 0 to 63.

    Raises:
        TypeError, ValueError: for something else.

    >>> decode([1, 1])
    '  '
    """
    check.instance(Iterable, tokens=tokens)
    found = ""
    for token in tokens:
        check.natural(tokens=token)
        check.at_most(len(VOCABULARY) - 1, tokens=token)
        found += VOCABULARY[token]
    return found


def sequence(seed, position, n_tokens):
    """The tokens of one sequence: sentences from their beginning, as many as fill it.

    Args:
        seed: of the text, a whole number of at least 0.
        position: which sequence, counted from 0.
        n_tokens: how many tokens, a whole number of at least 1.

    Raises:
        TypeError, ValueError: for something else.

    >>> sequence(0, 5, 40) == sequence(0, 5, 80)[:40]
    True
    """
    check.natural(seed=seed, position=position)
    check.integer(n_tokens=n_tokens)
    draw, text = random.Random(f"{seed} {position}"), ""
    while len(text) < n_tokens:
        text += f"{_sentence(draw)} "
    return [_TOKENS[letter] for letter in text[:n_tokens]]


def batch(seed, position, sequences, seq_len):
    """The words and the next words of so many sequences from a position on; the position behind them is theirs plus it.

    Args:
        seed: of the text, a whole number of at least 0.
        position: sequences read before, a whole number of at least 0.
        sequences: how many are read, a whole number of at least 1.
        seq_len: words of each, likewise.

    Returns:
        (tokens, targets), each a list of lists: what `lib.pilot.model.loss` takes, made arrays of int32.

    Raises:
        TypeError, ValueError: for something else.

    >>> tokens, targets = batch(0, 8, 2, 16)
    >>> [row[1:] for row in tokens] == [row[:-1] for row in targets]
    True
    """
    check.integer(sequences=sequences, seq_len=seq_len)
    check.natural(position=position)
    rows = [sequence(seed, position + n, seq_len + 1) for n in range(sequences)]
    return [row[:-1] for row in rows], [row[1:] for row in rows]


def _sentence(draw):
    (one, other) = (_person(_rank(draw)) for _ in range(2))
    words = {kind: draw.choice(all_of) for kind, all_of in _WORDS.items()}
    trade = one[1] % len(_TRADES)
    words |= {"one": one[0], "other": other[0], "trade": _TRADES[trade], "thing": _THINGS[trade]}
    words["home"] = _WORDS["place"][one[1] % len(_WORDS["place"])]
    said = draw.choice(_FORMS).format(**words)
    return said[0].upper() + said[1:]


def _rank(draw):
    """A name's rank: for a chance that goes as one over the rank, the logarithm of the rank is even."""
    return int(_PEOPLE ** draw.random()) - 1


@cache
def _person(rank):
    """Name and number of a person, from which trade and home follow; the commoner a name, the shorter it is."""
    draw = random.Random(f"person {rank}")
    n_syllables = 2 if rank < 64 else 3
    return "".join(draw.choice(_SYLLABLES) for _ in range(n_syllables)).capitalize(), draw.randrange(10**6)
