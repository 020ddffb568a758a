"""Who holds what: every slice has a holder, and ZeRO's stages shard one thing more each."""

from collections import Counter

import pytest

from lib.layout.slices import CUTS, SCHEMES, owners

NAMED = {scheme.name: scheme for scheme in SCHEMES}


@pytest.mark.parametrize("cut", [cut for cut in CUTS if cut != "whole"])
def test_every_gpu_holds_as_much_as_the_others(cut):
    held = Counter(gpu for row in owners(cut, 4) for gpu in row if gpu is not None)
    assert held == dict.fromkeys(range(4), 4)


def test_what_is_whole_lies_on_every_gpu():
    assert {gpu for row in owners("whole", 4) for gpu in row} == {None}


def test_each_stage_of_zero_shards_one_thing_more():
    # Rajbhandari et al. 2020, arXiv:1910.02054, figure 1: optimizer states, then gradients, then parameters.
    stages = [NAMED[name] for name in ("data parallel", "ZeRO-1", "ZeRO-2", "ZeRO-3, FSDP")]
    sharded = [(s.optimizer == "shards", s.gradients == "shards", s.weights == "shards") for s in stages]
    assert sharded == [(False,) * 3, (True, False, False), (True, True, False), (True,) * 3]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_every_scheme_splits_something(scheme):
    assert {scheme.weights, scheme.gradients, scheme.optimizer, scheme.tokens} != {"whole"}
