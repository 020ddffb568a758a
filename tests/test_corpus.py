"""Corpora: bytes are no tokens."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib import corpus
from lib.corpus import CORPORA, Corpus, expected_passes, tokens_in
from lib.units import GIB

sizes = st.floats(1e3, 1e15)
factors = st.floats(1e-3, 1e3)


def test_the_pile_is_825_gibibytes_of_text_which_are_886_gigabytes():
    pile = corpus.corpus("The Pile")
    assert pile.n_bytes / GIB == pytest.approx(825.18, abs=0.005)  # Gao et al. 2020, Table 1
    assert pile.n_bytes / 1e9 == pytest.approx(886.03, abs=0.005)


def test_the_pile_holds_about_260_billion_gpt2_tokens_and_395_in_a_weighted_pass():
    # 0.29335 GPT-2 tokens a byte: Gao et al. 2020, section 3.1
    assert corpus.corpus("The Pile").n_tokens == pytest.approx(260e9, rel=0.002)
    assert corpus.corpus("The Pile, weighted").n_tokens == pytest.approx(395e9, rel=0.002)


# GPT-2 small in Gao et al. 2020: bits a byte (Table 2) over bits a token (from the perplexity, Table 8).
@pytest.mark.parametrize(
    ("name", "bits_per_byte", "perplexity"), [("Books3", 1.1959, 28.3889), ("The Pile", 1.2253, 18.0878)]
)
def test_two_tables_of_the_pile_give_the_tokens_a_byte(name, bits_per_byte, perplexity):
    entry = corpus.corpus(name)
    assert entry.n_tokens / entry.n_bytes == pytest.approx(bits_per_byte / math.log2(perplexity), rel=2e-4)


def test_a_weighted_pass_over_the_pile_is_1254_gibibytes():
    assert corpus.corpus("The Pile, weighted").n_bytes / GIB == pytest.approx(1254.20, abs=0.005)  # Table 1


def test_the_a100_plan_passes_once_over_the_pile_not_a_third_of_it():
    n_tokens = 269_183_726_105.4  # the plan of seed document 000
    assert corpus.corpus("The Pile").passes(n_tokens) == pytest.approx(1.04, abs=0.005)
    assert corpus.corpus("The Pile, weighted").passes(n_tokens) == pytest.approx(0.68, abs=0.005)
    assert n_tokens / 825e9 == pytest.approx(0.3263, abs=5e-5)  # what the seed prints as 0.33: gibibytes read as tokens


def test_books3_is_101_gibibytes_and_27_billion_tokens():
    books = corpus.corpus("books3")
    assert books.n_bytes / GIB == pytest.approx(100.96, abs=0.005)  # Gao et al. 2020, Table 1
    assert books.n_tokens == pytest.approx(26.9e9, rel=0.01)  # 0.2477 tokens a byte, Table 7


@pytest.mark.parametrize(
    ("name", "n_tokens"), [("RedPajama", 1.2e12), ("FineWeb", 15e12), ("SlimPajama", 627e9), ("C4", 175e9)]
)
def test_printed_token_counts_are_kept_as_printed(name, n_tokens):
    assert corpus.corpus(name).n_tokens == n_tokens
    assert corpus.corpus(name).bytes_per_token is None  # no bytes of text are printed beside them


def test_every_corpus_names_its_tokenizer_and_its_source():
    for entry in CORPORA.values():
        assert entry.tokenizer
        assert entry.source
        assert entry.n_tokens > 1e9


def test_a_tenth_of_a_trillion_tokens_reads_20_billion_five_times():
    assert expected_passes(0.1, 1e12, 20e9) == 5.0  # seed document 004


@given(share=st.floats(0.01, 1), n_tokens=sizes, source=sizes, k=factors)
def test_passes_do_not_depend_on_the_unit_of_tokens(share, n_tokens, source, k):
    assert expected_passes(share, k * n_tokens, k * source) == pytest.approx(expected_passes(share, n_tokens, source))


@given(first=st.floats(0.01, 0.5), second=st.floats(0.01, 0.5), n_tokens=sizes, source=sizes)
def test_passes_over_one_source_add_up(first, second, n_tokens, source):
    parts = expected_passes(first, n_tokens, source) + expected_passes(second, n_tokens, source)
    assert parts == pytest.approx(expected_passes(first + second, n_tokens, source))


@given(n_bytes=sizes, bytes_per_token=st.floats(0.5, 10), k=factors)
def test_tokens_do_not_depend_on_the_unit_of_bytes(n_bytes, bytes_per_token, k):
    assert tokens_in(k * n_bytes, k * bytes_per_token) == pytest.approx(tokens_in(n_bytes, bytes_per_token))


def test_bytes_and_tokens_of_a_measured_corpus_agree():
    for entry in CORPORA.values():
        if entry.n_bytes is not None:
            assert tokens_in(entry.n_bytes, entry.bytes_per_token) == pytest.approx(entry.n_tokens)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "1", None, True, 10**400])
def test_what_is_no_amount_is_refused_by_name(bad):
    for arguments, name in (
        ((bad, 1e12, 20e9), "share"),
        ((0.1, bad, 20e9), "n_tokens"),
        ((0.1, 1e12, bad), "source_tokens"),
    ):
        with pytest.raises((TypeError, ValueError), match=f"{name} = "):
            expected_passes(*arguments)
    with pytest.raises((TypeError, ValueError), match="n_bytes = "):
        tokens_in(bad, 4.0)
    with pytest.raises((TypeError, ValueError), match="bytes_per_token = "):
        tokens_in(1e12, bad)


def test_a_share_in_percent_is_called_one():
    with pytest.raises(ValueError, match=r"10% is written 0\.1"):
        expected_passes(10, 1e12, 20e9)


def test_a_corpus_needs_tokens_or_the_means_to_count_them():
    with pytest.raises(ValueError, match="mine: printed_tokens, or n_bytes with tokens_per_byte"):
        Corpus(name="mine", tokenizer="GPT-2", n_bytes=1e12)


def test_a_misspelt_corpus_gets_the_nearest_name():
    with pytest.raises(ValueError, match="did you mean 'FineWeb'"):
        corpus.corpus("finweb")
