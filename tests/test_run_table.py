"""Tables as people write them: what is read, and for each slip one message with file, row and column."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.runs import of_law
from lib.runs.doubts import bits_for_nats
from lib.runs.table import NAMES, read_runs
from lib.scaling import law

ROWS = (
    (70_000_000, 1_000_000_000, 3.9),
    (160_000_000, 30_000_000_000, 2.9),
    (1.4e9, 2e9, 3.2),
    (1_400_000_000, 300e9, 2.3),
    (6.9e9, 140e9, 2.25),
    (12e9, 3e11, 2.15),
)


def write(folder, rows=ROWS, head="n_params,n_tokens,loss", name="runs.csv", delimiter=","):
    lines = [head, *(delimiter.join(map(str, row)) for row in rows)]
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def changed(row, column, value):
    rows = [list(r) for r in ROWS]
    rows[row - 1][column] = value
    return rows


def refusal(path, **given):
    with pytest.raises(ValueError, match=f"^{re.escape(path.name)}") as refused:
        read_runs(path, **given)
    message = str(refused.value)
    assert "\n" not in message
    return message


def test_a_table_is_read_with_its_places(tmp_path):
    runs, notes = read_runs(write(tmp_path))
    assert (runs.n_params, runs.n_tokens, runs.loss) == tuple(zip(*ROWS, strict=True))
    assert (runs.name, runs.places[2], notes) == ("runs.csv", "row 3 (line 4)", ())
    assert runs.group_names == ("runs.csv",)


@pytest.mark.parametrize("column", NAMES)
def test_every_usual_name_of_a_column_is_found_whatever_its_case(tmp_path, column):
    heads = {name: name for name in ("n_params", "n_tokens", "loss", "group", "warmup", "compute")}
    rows = [(*row, "C4", 0, 1e20) for row in ROWS]
    for name in NAMES[column].split():
        head = ",".join((heads | {column: name.upper().replace("_", " ")}).values())
        runs, _ = read_runs(write(tmp_path, rows, head))
        assert runs.n_params[0] == 7e7
        assert runs.groups[0] == "C4"
        assert runs.warmup_tokens[0] == 0


def test_tokens_follow_from_compute_where_a_file_has_no_column_of_them(tmp_path):
    rows = [(n, 6 * n * d, x) for n, d, x in ROWS]
    for head, flags in (("n_params,Training FLOP,loss", {}), ("n_params,budget,loss", {"compute": "budget"})):
        runs, _ = read_runs(write(tmp_path, rows, head), **flags)
        assert runs.n_tokens == pytest.approx([d for _, d, _ in ROWS])
    runs, _ = read_runs(write(tmp_path, [(*row, 1) for row in ROWS], "n_params,n_tokens,loss,flops"))
    assert runs.n_tokens[0] == 1e9


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_commas_semicolons_and_tabs_part_cells(tmp_path, delimiter):
    runs, _ = read_runs(write(tmp_path, head=delimiter.join(("n_params", "n_tokens", "loss")), delimiter=delimiter))
    assert runs.loss == tuple(row[2] for row in ROWS)


def test_blank_lines_a_byte_order_mark_and_quotes_do_no_harm(tmp_path):
    path = tmp_path / "runs.csv"
    text = '\ufeff"n_params","n_tokens","loss"\r\n\r\n' + "".join(f'"{n}", "{d}" ,{x}\r\n\r\n' for n, d, x in ROWS)
    path.write_text(text.replace(', "', ',"').replace('" ,', '",'), encoding="utf-8")
    runs, _ = read_runs(path)
    assert len(runs) == len(ROWS)
    assert runs.places[1] == "row 2 (line 5)"


def test_named_columns_and_other_units_are_taken(tmp_path):
    rows = [(n / 1e6, d / 1e9, x / math.log(2), x + 1) for n, d, x in ROWS]
    path = write(tmp_path, rows, "N (M),D (B),c4 bits,other loss")
    given = {"n_params": "n (m)", "n_tokens": "D (B)", "loss": "C4-bits"}
    runs, notes = read_runs(path, params_in="millions", tokens_in="Billions", loss_in="bits", **given)
    assert runs.n_params == pytest.approx([row[0] for row in ROWS])
    assert runs.n_tokens == pytest.approx([row[1] for row in ROWS])
    assert runs.loss == pytest.approx([row[2] for row in ROWS])
    assert notes == ()


def test_warmup_is_a_share_where_no_value_is_above_one(tmp_path):
    rows = [(*row, share) for row, share in zip(ROWS, (1, 0.5, 0.1, 0, 0, 0.01), strict=True)]
    runs, _ = read_runs(write(tmp_path, rows, "n_params,n_tokens,loss,warmup_share"))
    assert runs.in_warmup() == (0,)
    assert runs.in_warmup(0.5) == (0, 1)
    rows = [(*row, 1e9) for row in ROWS]
    runs, _ = read_runs(write(tmp_path, rows, "n_params,n_tokens,loss,warmup_tokens"))
    assert runs.in_warmup(0.5) == (0, 2)


# Refusals: one message that names the file, the row and the column.


@pytest.mark.parametrize(
    ("row", "column", "cell", "said"),
    [
        (3, 2, -3.2, "runs.csv, row 3 (line 4), column loss = '-3.2': a number above 0"),
        (3, 2, 0, "row 3 (line 4), column loss = '0': a number above 0"),
        (1, 2, "n/a", "row 1 (line 2), column loss = 'n/a': a plain number"),
        (2, 1, "", "row 2 (line 3), column n_tokens = '': a plain number"),
        (2, 1, "nan", "row 2 (line 3), column n_tokens = 'nan': a plain number"),
        (2, 1, "inf", "column n_tokens = 'inf': a plain number"),
        (4, 0, "1.4B", "row 4 (line 5), column n_params = '1.4B': a plain number, such as 1300000000 or 1.3e9; "
         "write 1.4e9"),
        (4, 0, '"1,400,000,000"', "column n_params = '1,400,000,000': a plain number, such as 1300000000 or 1.3e9; "
         "without thousands separators: 1400000000"),
        (4, 0, "1 400 000 000", "without thousands separators: 1400000000"),
        (4, 0, "1_400_000_000", "without thousands separators: 1400000000"),
        (4, 0, "1'400'000'000", "without thousands separators: 1400000000"),
        (4, 2, '"2,3"', "column loss = '2,3': a plain number, such as 1300000000 or 1.3e9; a decimal point is written "
         "2.3"),
        (4, 0, "1,400,000,000", "row 4 (line 5): 6 cells, the head has 3; is there a comma inside a number?"),
        (5, 1, 140, "row 5 (line 6), column n_tokens = 140: the other rows lie between 1e+09 and 3e+11; are thou"),
        (5, 1, 140_000, "row 5 (line 6), column n_tokens = 140000: the other rows lie between"),
        (6, 0, 12, "row 6 (line 7), column n_params = 12: the other rows lie between 7e+07 and 6.9e+09"),
        (6, 0, 12_000, "row 6 (line 7), column n_params = 12000: the other rows"),
        (6, 0, 1e17, "row 6 (line 7), column n_params = 1e+17: more than any run has; is it written in full already?"),
        (4, 0, "1.400.000.000", "without thousands separators: 1400000000"),
        (4, 2, '"2,345"', "column loss = '2,345': a plain number, such as 1300000000 or 1.3e9; a decimal point is "
         "written 2.345, a thousand 2345"),
        (4, 2, "\uff12.\uff13", "row 4 (line 5), column loss = '\uff12.\uff13': a plain number"),
        (4, 2, "\u0663", "row 4 (line 5), column loss = '\u0663': a plain number"),
        (4, 2, 18.2, "row 4 (line 5), column loss = 18.2: guessing among a million tokens costs 13.8 nats; is it a "
         "perplexity"),
    ],
)  # fmt: skip
def test_a_slip_in_one_cell_is_named_with_file_row_and_column(tmp_path, row, column, cell, said):
    assert said in refusal(write(tmp_path, changed(row, column, cell)))


@pytest.mark.parametrize("most", ["nats", "bits"])
def test_a_loss_in_another_unit_than_the_rest_is_named(tmp_path, most):
    rows = [(n, d, law("besiroglu").loss(n, d) / (math.log(2) if most == "bits" else 1)) for n, d, _ in ROWS]
    rows[3] = (*rows[3][:2], rows[3][2] * (math.log(2) if most == "bits" else 1 / math.log(2)))
    said = refusal(write(tmp_path, rows))
    assert said.startswith(f"runs.csv, row 4 (line 5), column loss = {rows[3][2]:g}: ")
    assert f"and they in {most}; --loss-in nats says that it is right" in said
    assert len(read_runs(write(tmp_path, rows), loss_in="nats")[0]) == len(ROWS)


def test_a_missing_column_is_named_with_the_columns_that_could_be_it(tmp_path):
    path = write(tmp_path, head="n_params,n_tokens,loss_c4")
    assert refusal(path) == "runs.csv: no column for loss; name it with --loss COLUMN, such as one of: loss_c4"
    assert "no column 'los_c4'; did you mean 'loss_c4'?" in refusal(path, loss="los_c4")
    assert len(read_runs(path, loss="Loss C4")[0]) == len(ROWS)


def test_two_columns_that_may_be_the_same_thing_are_named(tmp_path):
    path = write(tmp_path, [(*row, 1) for row in ROWS], "params,n_tokens,loss,n_params")
    assert (
        refusal(path)
        == "runs.csv: the columns params and n_params may both be n_params; name one with --n-params COLUMN"
    )


def test_one_column_cannot_be_two_things(tmp_path):
    assert "column n_params: taken for n_params and for loss" in refusal(write(tmp_path), loss="n_params")


def test_of_columns_spelled_alike_the_one_that_is_named_exactly_is_read(tmp_path):
    path = write(tmp_path, [(*row, row[2] + 0.1) for row in ROWS], "n_params,n_tokens,loss,Loss")
    assert read_runs(path, loss="loss")[0].loss[0] == 3.9
    assert read_runs(path, loss="Loss")[0].loss[0] == 4.0


@pytest.mark.parametrize("called", ["", "  "])
def test_a_column_without_a_name_is_refused(tmp_path, called):
    with pytest.raises(ValueError, match=r"^loss = '.*': the name of a column"):
        read_runs(write(tmp_path), loss=called)
    with pytest.raises(TypeError, match=r"^loss = 5"):
        read_runs(write(tmp_path), loss=5)


def test_a_column_of_warmup_that_is_not_read_is_said(tmp_path):
    path = write(tmp_path, [(*row, 2000) for row in ROWS], "n_params,n_tokens,loss,warmup_steps")
    assert read_runs(path)[1] == (
        "runs.csv, column warmup_steps: not read; --warmup takes a column of tokens, or of shares of the run",
    )


def test_sizes_in_full_that_are_called_billions_are_refused(tmp_path):
    said = refusal(write(tmp_path), params_in="billions", tokens_in="billions")
    assert "column n_params = 7e+16: more than any run has" in said


def test_a_repeated_row_is_named_with_its_first(tmp_path):
    said = refusal(write(tmp_path, [*ROWS, ROWS[1]]))
    assert said.startswith("runs.csv, row 7 (line 8): repeats row 2 (line 3)")


def test_the_same_run_in_two_corpora_or_with_another_loss_is_no_repetition(tmp_path):
    twice = [*((*row, "C4") for row in ROWS), *((*row, "Pile") for row in ROWS)]
    runs, _ = read_runs(write(tmp_path, twice, "n_params,n_tokens,loss,corpus"))
    assert {name: len(part) for name, part in runs.by_group().items()} == {"C4": 6, "Pile": 6}
    assert len(read_runs(write(tmp_path, [*ROWS, (*ROWS[1][:2], 2.91)]))[0]) == 7


def test_a_table_in_billions_as_a_whole_is_refused_until_it_is_said(tmp_path):
    path = write(tmp_path, [(n / 1e9, d / 1e9, x) for n, d, x in ROWS])
    assert "column n_params = 0.07 to 12: too few to be a count" in refusal(path)
    runs, _ = read_runs(path, params_in="billions", tokens_in="billions")
    assert runs.n_tokens[0] == 1e9


def test_tokens_in_billions_beside_sizes_in_full_are_refused(tmp_path):
    assert "column n_tokens = 1 to 300: too few" in refusal(write(tmp_path, [(n, d / 1e9, x) for n, d, x in ROWS]))
    few = write(tmp_path, [(n / 1e4, d * 1e4, x) for n, d, x in ROWS])
    assert "columns n_params and n_tokens: 2.3e+09 tokens a parameter" in refusal(few)


def test_losses_in_bits_are_suspected_and_said(tmp_path):
    rows = [(n, d, law("besiroglu").loss(n, d) / math.log(2)) for n, d, _ in ROWS]
    _, (note,) = read_runs(write(tmp_path, rows))
    assert note.startswith("runs.csv, column loss: the losses are 1.44 times what Besiroglu 2024 gives")
    assert read_runs(write(tmp_path, rows, "n_params,n_tokens,loss_nats"), loss="loss_nats")[1] == ()
    runs, notes = read_runs(write(tmp_path, rows), loss_in="bits")
    assert runs.loss[0] == pytest.approx(law("besiroglu").loss(*ROWS[0][:2]))
    assert notes == read_runs(write(tmp_path, rows), loss_in="nats")[1] == ()


def test_a_column_that_calls_itself_bits_is_refused_until_the_unit_is_said(tmp_path):
    path = write(tmp_path, head="n_params,n_tokens,val_bits")
    assert "column val_bits: nats a token are meant" in refusal(path, loss="val_bits")


@given(st.sampled_from(["Hoffmann 2022", "Muennighoff 2023", "Besiroglu 2024"]), st.floats(0.8, 1.25))
def test_losses_in_nats_are_not_suspected(name, factor):
    runs = of_law(law(name), [n for n, _, _ in ROWS], [d for _, d, _ in ROWS])
    scaled = type(runs)(n_params=runs.n_params, n_tokens=runs.n_tokens, loss=[factor * x for x in runs.loss])
    assert bits_for_nats(scaled, "loss") == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty; a head and a row for each run"),
        ("n_params,n_tokens,loss\n", "a head without a row"),
        ('n_params,n_tokens,loss\n1e9,2e10,"2.5\n', "runs.csv, line 2: no CSV"),
        (f"n_params,n_tokens,loss\n1e9,2e10,{'9' * 140_000}\n", "runs.csv, line 2: no CSV: field larger"),
        ("# my runs\nn_params,n_tokens,loss\n", "row 1 (line 2): 3 cells, the head, '# my runs', has 1"),
        ("n_params,n_tokens,loss,loss\n1e9,2e10,2.5,3\n", "columns loss and loss may both be loss; give one another"),
        ("n_params,n_tokens,loss,corpus\n1e9,2e10,2.5,C4\n1e9,4e10,2.4,c4\n",
         "row 2 (line 3), column corpus = 'c4': 'C4' in row 1 (line 2); one spelling"),
        ("n_params,n_tokens,loss,warmup_share\n1e9,2e10,2.5,1.5\n",
         "row 1 (line 2), column warmup_share = 1.5: a share of the run, at most 1"),
        ("n_params,n_tokens,loss,warmup_tokens\n1e9,2e10,2.5,0.05\n",
         "row 1 (line 2), column warmup_tokens = 0.05: tokens, as the rest of the column"),
        ("n_params,n_tokens,loss,warmup\n1e9,2e10,2.5,1e8\n1e9,4e10,2.4,0.1\n",
         "row 2 (line 3), column warmup = 0.1: tokens, as the rest of the column"),
        ("n_params,n_tokens,loss,warmup\n1e9,2e10,2.5,5%\n", "column warmup = '5%': a plain number, such as "
         "1300000000 or 1.3e9; a share, such as 0.05 for 5%"),
        ("n_params,n_tokens,loss,corpus\n1e9,2e10,2.5,\n", "row 1 (line 2), column corpus: empty"),
        ("n_params,n_tokens,loss,warmup\n1e9,2e10,2.5,-1\n", "column warmup = '-1': a number of 0 or more"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_table_of_runs_is_refused(tmp_path, text, said):
    path = tmp_path / "runs.csv"
    path.write_text(text, encoding="utf-8")
    assert said in refusal(path)


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "binary.csv").write_bytes(b"n_params,n_tokens\xff\xfe\x00")
    assert "binary.csv, line 1: no text in UTF-8" in refusal(tmp_path / "binary.csv")
    with pytest.raises(ValueError, match=r"missing\.csv: cannot be read: No such file or directory"):
        read_runs(tmp_path / "missing.csv")
    with pytest.raises(ValueError, match="cannot be read: Is a directory"):
        read_runs(tmp_path)


@pytest.mark.parametrize("path", [None, 5, True, ["runs.csv"], b"runs.csv"], ids=repr)
def test_what_is_no_path_is_refused(path):
    with pytest.raises(TypeError, match=r"^path = .*: the path of a CSV file"):
        read_runs(path)


@pytest.mark.parametrize("path", ["", "runs\0.csv"])
def test_a_path_that_no_file_can_have_is_refused(path):
    with pytest.raises(ValueError, match=r"^path = .*: the path of a CSV file"):
        read_runs(path)


def test_a_file_too_large_for_a_table_of_runs_is_not_read(tmp_path):
    with (tmp_path / "runs.csv").open("wb") as file:
        file.truncate(50_000_000)
    assert "runs.csv: more than 20 MB" in refusal(tmp_path / "runs.csv")


def test_more_runs_than_a_fit_can_take_are_refused(tmp_path):
    assert "10,001 rows: at most 10,000" in refusal(write(tmp_path, [(1e9, 2e10 + k, 2.5) for k in range(10_001)]))


@pytest.mark.parametrize("name", ["params_in", "tokens_in", "loss_in"])
def test_units_that_are_no_text_are_refused(tmp_path, name):
    with pytest.raises(TypeError, match=f"^{name} = 5"):
        read_runs(write(tmp_path), **{name: 5})


@pytest.mark.parametrize("given", [{"params_in": "dozens"}, {"tokens_in": "dozens"}, {"loss_in": "dits"}])
def test_units_that_are_none_are_refused_by_name(tmp_path, given):
    (name,) = given
    with pytest.raises(ValueError, match=f"^{name} = "):
        read_runs(write(tmp_path), **given)


def test_a_column_that_nobody_reads_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"^column = 'n_param': one of n_params"):
        read_runs(write(tmp_path), n_param="n_params")
