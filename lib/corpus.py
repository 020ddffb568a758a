"""Corpora: bytes of text and tokens kept apart, and how often a run would pass over them.

A size in bytes is a property of the text; a number of tokens is one of text and tokenizer. The Pile's 825 is gibibytes.
"""

from dataclasses import dataclass

from lib import check, facts
from lib.units import show_bytes


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """A body of text, with its size in bytes or in tokens, whichever its makers print.

    Args:
        name: as in the table of corpora.
        tokenizer: whose tokens are counted.
        n_bytes: UTF-8 bytes of text, > 0; None where none are printed.
        printed_tokens: tokens as the makers count them, > 0; None where they print none.
        tokens_per_byte: of this tokenizer on this text, > 0; needed where no tokens are printed.
        source: of the size.

    Raises:
        ValueError: if neither tokens nor bytes with tokens per byte are given.

    >>> pile = corpus("The Pile")
    >>> f"{pile.n_bytes / 1e9:.0f} GB, {pile.n_tokens / 1e9:.0f}B {pile.tokenizer} tokens"
    '886 GB, 260B GPT-2 tokens'
    """

    name: str
    tokenizer: str
    n_bytes: float | None = None
    printed_tokens: float | None = None
    tokens_per_byte: float | None = None
    source: str = ""
    remark: str = ""

    def __post_init__(self):
        check.fields(self, positive="n_bytes printed_tokens tokens_per_byte", text="name tokenizer source remark")
        if self.printed_tokens is None and (self.n_bytes is None or self.tokens_per_byte is None):
            raise ValueError(f"{self.name}: printed_tokens, or n_bytes with tokens_per_byte")

    @property
    def n_tokens(self):
        """Tokens in one pass, as printed, else bytes x tokens per byte."""
        if self.printed_tokens is not None:
            return float(self.printed_tokens)
        return tokens_in(self.n_bytes, 1 / self.tokens_per_byte)

    @property
    def bytes_per_token(self):
        """Bytes of text behind one token, where both are known; else None.

        >>> round(corpus("The Pile").bytes_per_token, 2)
        3.41
        """
        return self.n_bytes / self.n_tokens if self.n_bytes is not None else None

    @property
    def counted(self):
        """How the number of tokens was come by.

        >>> corpus("The Pile").counted
        '886 GB of text x 0.29335 GPT-2 tokens a byte'
        """
        if self.printed_tokens is not None:
            return f"as its makers count them, {self.tokenizer} tokens"
        return f"{show_bytes(self.n_bytes)} of text x {self.tokens_per_byte:g} {self.tokenizer} tokens a byte"

    def passes(self, n_tokens):
        """How often a run over this corpus alone sees each token: D / tokens of the corpus.

        Args:
            n_tokens: tokens of the run, > 0; float or array.

        >>> round(corpus("The Pile").passes(269.18e9), 2), round(corpus("The Pile, weighted").passes(269.18e9), 2)
        (1.04, 0.68)
        """
        return expected_passes(1.0, n_tokens, self.n_tokens)


def tokens_in(n_bytes, bytes_per_token):
    """Tokens that a text makes: bytes / bytes per token.

    Bytes per token depend on tokenizer and text: 2.3 for code to 5.0 for English abstracts under GPT-2's (Gao et al.
    2020, Table 7). Where nobody measured them on this text, the result is an assumption and must be labelled as one.

    Args:
        n_bytes: UTF-8 bytes of text, > 0; float or array.
        bytes_per_token: > 0; float or array.

    Returns:
        Tokens, as a plain float.

    Raises:
        TypeError, ValueError: if either is no positive, finite number.

    >>> tokens_in(4e12, 4.0)
    1000000000000.0
    """
    check.positive(n_bytes=n_bytes, bytes_per_token=bytes_per_token)
    return check.positive_result(n_tokens=n_bytes / bytes_per_token)


def expected_passes(share, n_tokens, source_tokens):
    """Passes over one source of a mixture: p N / N_i.

    Args:
        share: of the mixture that this source fills, above 0, at most 1; float or array.
        n_tokens: tokens of the whole run, > 0; float or array.
        source_tokens: tokens that the source holds, under the same tokenizer, > 0; float or array.

    Returns:
        Passes, as a plain float. 1 is every token once, 4 every token four times.

    Raises:
        ValueError: if the share is no fraction or a number is not positive.

    Source: seed document 004, data mixture: "p_i N / N_i".

    >>> expected_passes(0.1, 1e12, 20e9)
    5.0
    """
    check.fraction(share=share)
    check.positive(n_tokens=n_tokens, source_tokens=source_tokens)
    return check.positive_result(passes=share * n_tokens / source_tokens)


_FIGURES = {"n_bytes": "bytes", "n_tokens": "tokens", "tokens_per_byte": "tokens/byte"}
FACTS = facts.load("corpora", _FIGURES, {"tokenizer": str}, labels=("aliases", "remark"))


def _corpus(entry):
    return Corpus(
        name=entry.name,
        tokenizer=entry["tokenizer"],
        n_bytes=entry.get("n_bytes"),
        printed_tokens=entry.get("n_tokens"),
        tokens_per_byte=entry.get("tokens_per_byte"),
        source="; ".join(dict.fromkeys(entry.sources.values())),
        remark=entry.get("remark", ""),
    )


CORPORA = {name: _corpus(entry) for name, entry in FACTS.items()}
_NAMES = CORPORA | {alias: CORPORA[name] for name, entry in FACTS.items() for alias in entry.get("aliases", ())}


def corpus(name):
    """A corpus by its name, whatever its case, spaces, hyphens and underscores.

    Raises:
        ValueError: if none has it; the nearest name is offered.

    >>> corpus("fineweb").n_tokens
    15000000000000.0
    """
    return check.lookup(_NAMES, corpus=name)
