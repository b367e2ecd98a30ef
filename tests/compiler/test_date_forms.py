"""``strptime`` in native code reads as CPython does, or is in doubt; or it is refused."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock._native import Pipeline, Program
from penstock.compiler.functions import compile_function
from penstock.compiler.program import Compiled, Refusal
from tests.compiler.test_functions import shown
from tests.compiler.test_machine import DOUBT, on_machine

FORMS: list[Any] = [
    lambda x: datetime.strptime(x, "%Y-%m-%d %H:%M:%S"),
    lambda x: datetime.strptime(x, "%d/%m/%Y"),
    lambda x: datetime.strptime(x, "%Y%m%dT%H%M%S.%f"),
    lambda x: datetime.strptime(x, "%H:%M").hour,
    lambda x: datetime.strptime(x, "%Y %% %m").date(),
]
WRITTEN = st.builds(
    lambda at, form: at.strftime(form),
    st.datetimes(datetime(1000, 1, 1)),
    st.sampled_from(["%Y-%m-%d %H:%M:%S", "%d/%m/%Y", "%Y%m%dT%H%M%S.%f", "%H:%M", "%Y % %m", "%Y-%m-%d  %H:%M:%S"]),
)
ODD = st.sampled_from(
    [
        *("2024-2-9 1:2:3", "2024-02-30 00:00:00", "2024-02-29 24:00:00", "2024-02-29 23:59:60", " 29/02/2024"),
        *(
            "29/02/2024 ",
            "29/02/24",
            "2024022923595.9",
            "20240229T235959.1234567",
            "20240229t235959.12",
            "7:05",
            "07:5",
        ),
        *("2024 %% 02", "2024\N{NO-BREAK SPACE}% 02", "٢٠٢٤-02-29 00:00:00", "", "29/02/2024\n", "0000-01-01 00:00:00"),
        *("2024-02-29\t00:00:00", "2024-02-29 00:00:00+01:00", "20240229T235959.", "20240229T235959.5"),
    ]
)


@pytest.mark.parametrize("case", range(len(FORMS)))
@given(text=WRITTEN | ODD)
def test_texts_of_a_form_are_read_as_python_reads_them(case: int, text: str) -> None:
    function = FORMS[case]
    compiled = compile_function(function, "map")
    assert isinstance(compiled, Compiled), str(compiled)
    result = on_machine(Pipeline([("map", Program(compiled.program))]), "map", text)
    try:
        expected = shown(function(text))
    except ValueError:
        expected = DOUBT
    assert result in (expected, DOUBT)


def test_usual_texts_are_read_natively() -> None:
    texts = ["2024-02-29 23:59:01", "29/02/2024", "20240229T235901.123456", "23:59", "2024 % 02"]
    for function, text in zip(FORMS, texts, strict=True):
        compiled = compile_function(function, "map")
        assert isinstance(compiled, Compiled)
        assert on_machine(Pipeline([("map", Program(compiled.program))]), "map", text) == shown(function(text))


OTHER_FORMS: list[Any] = [
    lambda x: datetime.strptime(x, "%b %Y"),
    lambda x: datetime.strptime(x, "%Y-%j"),
    lambda x: datetime.strptime(x, "%Y %Y"),
    lambda x: datetime.strptime(x, "%d.%m."),
    lambda x: datetime.strptime(x, "%Y%"),
    lambda x: datetime.strptime(x, "%Y-%m-%d %z"),
    lambda x: datetime.strptime(x, x),
]


@pytest.mark.parametrize("case", range(len(OTHER_FORMS)))
def test_other_forms_stay_in_python(case: int) -> None:
    refusal = compile_function(OTHER_FORMS[case], "map")
    assert isinstance(refusal, Refusal)
    assert "strptime" in refusal.reason
