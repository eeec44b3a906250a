from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars as pl
import pytest

from adrem.columns.kinds import Wishes, infer_kinds
from adrem.columns.values import as_numbers, with_numbers
from adrem.exceptions import ParameterError

N = 60


def frames(**columns: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    frame = pl.DataFrame({name: list(values) for name, values in columns.items()})
    return frame[: N // 2], frame[N // 2 :]


def test_roles_are_inferred_from_values() -> None:
    source, target = frames(
        price=[1.5 * k for k in range(N)],
        number=range(N),
        stars=[k % 5 for k in range(N)],
        sold=[k % 2 == 0 for k in range(N)],
        review=[f"this thing number {k} is quite good" for k in range(N)],
        city=[("Ghent", "Rome", "Bath")[k % 3] for k in range(N)],
        sku=[f"A-{k}" for k in range(N)],
        currency=["EUR"] * N,
        empty=[None] * N,
    )
    kinds = {column.name: column.kind for column in infer_kinds(source, target).shared}
    assert kinds == {
        "price": "number",
        "number": "identifier",
        "stars": "number",
        "sold": "number",
        "review": "text",
        "city": "category",
        "sku": "identifier",
        "currency": "constant",
        "empty": "constant",
    }


def test_roles_have_reasons_and_can_be_overridden() -> None:
    source, target = frames(sku=[f"A-{k}" for k in range(N)], n=range(0, 2 * N, 2))
    [sku, _] = infer_kinds(source, target).shared
    assert sku.reason == "60 distinct values in 60 rows"
    assert not sku.is_learnt
    [sku, _] = infer_kinds(source, target, Wishes(text=["sku"])).shared
    assert (sku.kind, sku.reason) == ("text", "as requested")
    with pytest.raises(ParameterError, match=r"Column 'title' is not in both files\. Columns of both: 'sku', 'n'"):
        infer_kinds(source, target, Wishes(text=["title"]))


def test_columns_of_one_file_only_are_listed() -> None:
    source, target = frames(n=range(0, 2 * N, 2))
    columns = infer_kinds(
        source.with_columns(label=pl.lit("a"), more=pl.lit(1)),
        target.with_columns(other=pl.lit(1)),
        Wishes(left_out=["label"]),
    )
    assert (columns.only_source, columns.only_target) == (["more"], ["other"])


@pytest.mark.parametrize(
    "values",
    [
        [datetime.date(2020, 1, 1 + k % 28) for k in range(N)],
        [f"2020-01-{1 + k % 28:02d}" for k in range(N)],
        [f"{1 + k % 28}/12/2021" for k in range(N)],
        [f"2020-01-{1 + k % 28:02d}T10:00:00Z" for k in range(N)],
        [f"1/{1 + k % 28}/21" for k in range(N)],
        [f"January {1 + k % 28}, 2006" for k in range(N)],
        [f"Tue, {1 + k % 28} Sep 2006 10:00" for k in range(N)],
        [f"{1 + k % 28}-Mar-99" for k in range(N)],
        [f"202103{1 + k % 28:02d}" for k in range(N)],
        [f"202103{1 + k % 28:02d}T101500Z" for k in range(N)],
        [f"{1 + k % 28:02d}MAR2021" for k in range(N)],
        [f"Mon Mar {1 + k % 28:2d} 10:15:00 2021" for k in range(N)],
    ],
)
def test_dates_are_left_out_or_become_days(values: Any) -> None:
    source, target = frames(when=values, n=range(0, 2 * N, 2))
    [when, _] = infer_kinds(source, target).shared
    assert (when.kind, when.is_learnt) == ("date", False)
    [when, _] = infer_kinds(source, target, Wishes(numeric=["when"])).shared
    assert when.kind == "number"
    days = when.numbers(source["when"]).to_numpy()
    assert np.isin(np.diff(days[:28]), [1.0]).all()


def test_tables_without_usable_columns_are_rejected() -> None:
    source, target = frames(currency=["EUR"] * N)
    with pytest.raises(ValueError, match=r"no column to learn from.*\n  'currency' is constant: one value\."):
        infer_kinds(source, target)
    source, target = frames(tags=[["a", "b"]] * N)
    with pytest.raises(ValueError, match=r"Column 'tags' holds List.*flatten it"):
        infer_kinds(source, target)


def test_mixed_number_and_string_column_is_a_category() -> None:
    source, target = pl.DataFrame({"x": [1, 2, 1]}), pl.DataFrame({"x": ["one", "two", "one"]})
    [column] = infer_kinds(source, target).shared
    assert column.kind == "category"


def test_numeric_strings_with_few_exceptions_are_numbers() -> None:
    written = [f"{k}.5" for k in range(N - 3)] + ["NA", " 7 ", "unknown"]
    source, target = frames(a=written, b=[str(k % 4) for k in range(N)])
    a, b = infer_kinds(source, target).shared
    assert (a.kind, a.reason) == ("number", "1 value(s) that are not numbers ('unknown')")
    assert (b.kind, b.reason) == ("number", "numbers")


@pytest.mark.parametrize(
    ("odd", "kind"),
    [
        (["pending"], "number"),
        (["low", "high", "pending"], "number"),
        (["a", "b", "c", "d"], "category"),
    ],
)
def test_numbers_and_a_few_words_are_numbers(odd: list[str], kind: str) -> None:
    written = [odd[k // 3 % len(odd)] if k % 3 == 0 else f"{k}.5" for k in range(2 * N)]
    [column, _] = infer_kinds(*frames(x=written[:N], n=range(0, 2 * N, 2))).shared
    assert column.kind == kind
    codes = [odd[0] if k % 3 == 0 else f"{k % 4}" for k in range(N)]  # few numbers and a word are codes
    [column, _] = infer_kinds(*frames(x=codes, n=range(0, 2 * N, 2))).shared
    assert column.kind == "category"


@pytest.mark.parametrize("written", [["TRUE", "FALSE"], ["true", "false"], ["True", "False"]])
def test_truth_values_are_one_and_zero_in_every_form(written: list[str]) -> None:
    source, _ = frames(smokes=written * (N // 2), n=range(0, 2 * N, 2))
    _, target = frames(smokes=[1, 0] * (N // 2), n=range(0, 2 * N, 2))
    [smokes, _] = infer_kinds(source, target).shared
    assert smokes.kind == "number"
    assert smokes.numbers(source["smokes"])[:2].to_list() == [1.0, 0.0]


def test_categories_of_parquet_files_are_read() -> None:
    source, target = frames(size=["L", "M"] * (N // 2), dose=["1", "2"] * (N // 2))
    source, target = (own.cast({"size": pl.Enum(["L", "M"]), "dose": pl.Categorical}) for own in (source, target))
    assert [column.kind for column in infer_kinds(source, target).shared] == ["category", "number"]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("2,5", 2.5),
        ("+2,50", 2.5),
        ("0,125", 0.125),
        ("-3,12345", -3.12345),
        ("1.234,5", 1234.5),
        ("1,234.5", 1234.5),
        ("1,234,567", 1_234_567.0),
        ("1 234,5", 1234.5),
        ("-12\N{NARROW NO-BREAK SPACE}345", -12_345.0),
        ("1'234'567.25", 1_234_567.25),
        ("12 34", None),
        ("1,234", None),
        ("2.5", 2.5),
    ],
)
def test_decimal_commas_and_marked_thousands_are_read(written: str, value: float | None) -> None:
    assert as_numbers(pl.Series([written, None, "x"])).to_list() == [value, None, None]


def test_multiline_strings_are_text() -> None:
    source, target = frames(review=[f"this\nthing\tnumber {k}\nis good" for k in range(N)], n=range(0, 2 * N, 2))
    assert infer_kinds(source, target).of_kind("text") == ["review"]


@pytest.mark.parametrize("form", ["{},500", "$ {}.30", "{} 000,0 €"])
def test_numbers_in_other_notation_get_a_hint(form: str) -> None:
    source, target = frames(price=[form.format(k) for k in range(N)], n=range(0, 2 * N, 2))
    [price] = [column for column in infer_kinds(source, target).shared if column.name == "price"]
    assert "if they are numbers, write them as 1234.5" in price.reason


@pytest.mark.parametrize(
    ("values", "doubt"),
    [
        ([f"€{k % 25}.5" for k in range(N)], "another notation"),
        ([f"{k % 25}.5 kg" for k in range(N)], "another notation"),
        (
            [f"{k % 5}.5 cm" if k < N // 2 else f"{k % 5}.5" for k in range(N)],
            "numbers in only one file",
        ),
        ([f"north {k % 3}" for k in range(N)], ""),
    ],
)
def test_ambiguous_categories_carry_a_doubt(values: list[str], doubt: str) -> None:
    source, target = frames(width=values, n=range(0, 2 * N, 2))
    [width] = [column for column in infer_kinds(source, target).shared if column.name == "width"]
    assert width.kind == "category"
    assert bool(width.doubt) == bool(doubt)
    assert doubt in width.doubt


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("customer_id", [7 * k % 61 for k in range(1, N + 1)], "identifier"),
        ("customerID", [7 * k % 61 for k in range(1, N + 1)], "identifier"),
        ("account", [100_000 + 13 * k for k in range(N)], "identifier"),
        ("salary", [20_000 + 7919 * k % 30_011 for k in range(N)], "number"),
        ("solid", [7 * k % 61 for k in range(1, N + 1)], "number"),
        ("minutes", range(0, 15 * N, 15), "number"),
    ],
)
def test_hidden_identifiers_are_found(name: str, values: list[int], kind: str) -> None:
    [column] = infer_kinds(*frames(**{name: values, "n": range(0, 2 * N, 2)})).shared[:1]
    assert column.kind == kind


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.random.RandomState(0).permutation(400), "identifier"),  # none repeats, where 400 draws of 800 would
        (np.random.RandomState(0).choice(900_000, 400, replace=False) + 100_000, "identifier"),
        (np.random.RandomState(0).choice(1_000_000, 400, replace=False), "identifier"),  # without leading zeros
        (np.random.RandomState(0).choice(60_000, 400, replace=False) + 20_000, "number"),
        (np.random.RandomState(0).normal(50_000, 9_000, 400).round(), "number"),
        (np.random.RandomState(0).randint(0, 800, 400), "number"),
    ],
)
def test_numbers_drawn_as_identifiers_are_found_under_any_name(values: Any, kind: str) -> None:
    frame = pl.DataFrame({"subject": values.astype(float), "n": np.random.RandomState(1).normal(size=400)})
    [column, _] = infer_kinds(frame[:200], frame[200:]).shared
    assert column.kind == kind


@pytest.mark.parametrize(
    ("values", "day"),
    [
        ([f"2020-{1 + k % 12:02d}" for k in range(N)], 31),
        ([f"{1 + k % 12}/2020" for k in range(N)], 31),
        ([f"{('Jan', 'Feb', 'March')[k % 3]} 2020" for k in range(N)], 31),
        ([f"{('Jan', 'Feb', 'March')[k % 3]}-20" for k in range(N)], 31),
        ([f"2020-Q{1 + k % 4}" for k in range(N)], 91),
        ([f"Q{1 + k % 4} 2020" for k in range(N)], 91),
    ],
)
def test_months_and_quarters_are_dates(values: list[str], day: int) -> None:
    source, target = frames(when=values, n=range(0, 2 * N, 2))
    assert infer_kinds(source, target).shared[0].kind == "date"
    [when, _] = infer_kinds(source, target, Wishes(numeric=["when"])).shared
    assert when.numbers(source["when"])[:2].diff()[1] == day


def test_dates_of_several_forms_and_weeks_are_no_categories() -> None:
    source, _ = frames(when=[f"2020-01-{1 + k % 28:02d}" for k in range(N)], n=range(0, 2 * N, 2))
    _, target = frames(when=[f"{1 + k % 28:02d}.01.2020" for k in range(N)], n=range(0, 2 * N, 2))
    weeks = frames(when=[f"2020-W{1 + k % 40:02d}" for k in range(N)], n=range(0, 2 * N, 2))
    times = frames(when=[f"{k % 24}:{k}" for k in range(10, 10 + N)], n=range(0, 2 * N, 2))
    german = frames(when=[f"{1 + k % 28}. März 2021" for k in range(N)], n=range(0, 2 * N, 2))
    for pair in ((source, target), weeks, times, german):
        assert infer_kinds(*pair).shared[0].kind == "date"
        with pytest.raises(ParameterError, match="write them as 2021-12-31"):
            infer_kinds(*pair, Wishes(numeric=["when"]))


def test_categories_without_common_values_are_identifiers() -> None:
    source = pl.DataFrame({"sku": [f"A{k // 2}" for k in range(200)], "n": range(0, 400, 2)})
    [sku, _] = infer_kinds(source, source.with_columns(sku=pl.col("sku").str.replace("A", "B"))).shared
    assert (sku.kind, sku.reason) == ("identifier", "none of its 200 values is common in both files")


@pytest.mark.parametrize(
    ("wishes", "kind"), [(Wishes(categorical=["n"]), "category"), (Wishes(numeric=["n"]), "number")]
)
def test_named_columns_are_what_they_were_named(wishes: Wishes, kind: str) -> None:
    [column] = infer_kinds(*frames(n=range(N)), wishes).shared
    assert column.kind == kind


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        (Wishes(numeric=["city"]), "Column 'city' has no numbers"),
        (Wishes(numeric=["n"], categorical=["n"]), "named as two kinds"),
        (Wishes(categorical=["town"]), r"'town' is not in both files\. Columns of both"),
        (Wishes(numeric=["ciy"]), r"Did you mean 'city'\?"),
    ],
)
def test_names_that_cannot_be_followed_are_refused(wishes: Wishes, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        infer_kinds(*frames(city=["Ghent", "Rome"] * (N // 2), n=range(0, 2 * N, 2)), wishes)


def test_names_of_one_file_are_no_text() -> None:
    source = pl.DataFrame({"product": [f"the little blue thing {k // 2}" for k in range(200)]})
    target = pl.DataFrame({"product": [f"a very sharp knife {k // 2}" for k in range(200)]})
    n = pl.Series("n", range(0, 400, 2))
    [product, _] = infer_kinds(source.with_columns(n), target.with_columns(n)).shared
    assert product.kind == "identifier"
    [product, _] = infer_kinds(
        source.with_columns(n), pl.concat([target, source[:1]]).with_columns(n.append(n[:1]))
    ).shared
    assert product.kind == "text"


def test_columns_of_numbers_are_converted_together_as_one_at_a_time() -> None:
    cells = {
        "plain": ["1.5", " 2 ", "-3e2", None],
        "marked": ["1", "NA", "", "nan"],
        "comma": ["1,5", "2,5", "3", "4"],
        "words": ["1", "x", "2", "3"],
        "infinite": ["1", "inf", "2", "3"],
        "truth": ["true", "false", "true", "1"],
    }
    frame = pl.DataFrame(cells)
    read = with_numbers(frame, frame.columns)
    assert [name for name in frame.columns if read[name].dtype == pl.Float64] == ["plain", "marked"]
    for name in frame.columns:
        assert as_numbers(read[name]).to_list() == as_numbers(frame[name]).to_list()
    assert with_numbers(frame, ["words"]).equals(frame)
