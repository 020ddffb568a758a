"""Products of a compiled program: those in loops and called computations counted as often as they run."""

import pytest

from lib.pilot.hlo import dot_flops

PRODUCT = """  %a = f32[4,8]{1,0} parameter(0)
  %b = bf16[8,2]{1,0} parameter(1)
  ROOT %c = f32[4,2]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="x"}
}"""
ONE = 2 * 4 * 2 * 8
LOOP = """HloModule jit_step, is_scheduled=true

%inner (a: f32[4,8], b: bf16[8,2]) -> f32[4,2] {
PRODUCT

%body (t: (s32[], f32[4,8], bf16[8,2])) -> (s32[], f32[4,8], bf16[8,2]) {
  %t = (s32[], f32[4,8]{1,0}, bf16[8,2]{1,0}) parameter(0)
  %x = f32[4,8]{1,0} get-tuple-element(%t), index=1
  %y = bf16[8,2]{1,0} get-tuple-element(%t), index=2
  %z = f32[4,2]{1,0} fusion(%x, %y), kind=kOutput, calls=%inner
  ROOT %u = (s32[], f32[4,8]{1,0}, bf16[8,2]{1,0}) tuple(%x)
}

%condition (t: (s32[], f32[4,8], bf16[8,2])) -> pred[] {
  %t = (s32[], f32[4,8]{1,0}, bf16[8,2]{1,0}) parameter(0)
  ROOT %less = pred[] constant(true)
}

ENTRY %main (p: (s32[], f32[4,8], bf16[8,2])) -> (s32[], f32[4,8], bf16[8,2]) {
  %p = (s32[], f32[4,8]{1,0}, bf16[8,2]{1,0}) parameter(0)
  %q = f32[4,8]{1,0} get-tuple-element(%p), index=1
  %r = bf16[8,2]{1,0} get-tuple-element(%p), index=2
  %again = f32[4,2]{1,0} fusion(%q, %r), kind=kOutput, calls=%inner
  ROOT %w = (s32[], f32[4,8]{1,0}, bf16[8,2]{1,0}) while(%p), condition=%condition, body=%bodyTRIPS
}
""".replace("PRODUCT", PRODUCT)
TRIPS = ', backend_config={"known_trip_count":{"n":"80"},"known_init_step":{"init":"0","step":"1"}}'


def test_a_product_costs_two_flops_for_each_result_and_term():
    assert dot_flops(f"ENTRY %main (a: f32[4,8], b: bf16[8,2]) -> f32[4,2] {{\n{PRODUCT}") == ONE


def test_a_product_with_two_batch_sides_and_two_contracted_ones():
    text = """ENTRY %main (a: f32[3,5,4,8], b: f32[3,5,4,8]) -> f32[3,5] {
  %a = f32[3,5,4,8]{3,2,1,0} parameter(0)
  ROOT %c = f32[3,5]{1,0} dot(f32[3,5,4,8]{3,2,1,0} %a, %a), lhs_batch_dims={0,1}, lhs_contracting_dims={2,3}
}"""
    assert dot_flops(text) == 2 * 15 * 32


def test_a_loops_products_count_as_often_as_it_runs():
    assert dot_flops(LOOP.replace("TRIPS", TRIPS)) == (80 + 1) * ONE


def test_a_loop_that_does_not_say_how_often_is_refused():
    with pytest.raises(ValueError, match="does not say how often it runs"):
        dot_flops(LOOP.replace("TRIPS", ""))


def test_text_without_an_entry_is_refused():
    with pytest.raises(ValueError, match=r"^text = 'nothing': a compiled HLO module"):
        dot_flops("nothing")
