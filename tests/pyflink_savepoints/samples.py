"""Types and values whose bytes PyFlink has written: expressions that mean the same in PyFlink and Penstock."""

from __future__ import annotations

_NUMBERS = {"BYTE": 7, "SHORT": 15, "INT": 31, "LONG": 63, "BIG_INT": 63}
_ROW = "Types.ROW_NAMED(['a', 'b', 'c'], [Types.INT(), Types.STRING(), Types.LIST(Types.LONG())])"
SAMPLES: dict[str, list[str]] = {
    **{
        f"Types.{name}()": [str(number) for number in (-(1 << bits), -1, 0, 1, (1 << bits) - 1)]
        for name, bits in _NUMBERS.items()
    },
    "Types.BOOLEAN()": ["True", "False"],
    "Types.FLOAT()": ["0.0", "-0.0", "1.5", "float('nan')", "float('inf')", "float('-inf')", "0.1", "3.4e38"],
    "Types.DOUBLE()": ["0.0", "-0.0", "0.1", "float('nan')", "float('inf')", "float('-inf')", "5e-324", "1.7e308"],
    "Types.STRING()": ["''", "'a'", r"'\x00\u017e\U0001f40e'", "'long ' * 100"],
    "Types.CHAR()": ["'a'", r"'\u017e'"],
    "Types.BIG_DEC()": [f"Decimal('{text}')" for text in ("0", "-0.00", "1E+3", "123456789.987654321", "-1E-30")],
    "Types.SQL_DATE()": ["date(1, 1, 1)", "date(1969, 12, 31)", "date(1970, 1, 1)", "date(9999, 12, 31)"],
    "Types.SQL_TIME()": ["time(0, 0)", "time(23, 59, 59, 999000)", "time(12, 30, 15, 123456)"],
    "Types.SQL_TIMESTAMP()": [
        f"datetime({text})"
        for text in ("1902, 1, 1", "1969, 12, 31, 23, 59, 59", "2026, 1, 31, 12, 0, 1, 123000", "2037, 12, 31")
    ],
    "Types.INSTANT()": ["Instant(0, 0)", "Instant(-1, 999999999)", "Instant(1 << 40, 1)"],
    "Types.PICKLED_BYTE_ARRAY()": ["None", "(1, [2.5, {'a': b'b'}])", "{1, 2}", "Row(1, None)", "Row(x=1)"],
    "Types.PRIMITIVE_ARRAY(Types.BYTE())": ["b''", r"b'\x00\xff'"],
    "Types.PRIMITIVE_ARRAY(Types.INT())": ["[]", "[1, -1]"],
    "Types.PRIMITIVE_ARRAY(Types.DOUBLE())": ["[0.5]"],
    "Types.BASIC_ARRAY(Types.STRING())": ["[]", "['a', None, '']"],
    "Types.BASIC_ARRAY(Types.BYTE())": ["[1, None, -1]"],
    "Types.OBJECT_ARRAY(Types.TUPLE([Types.INT(), Types.STRING()]))": ["[(1, 'a'), None]"],
    "Types.LIST(Types.LONG())": ["[]", "[1, None, 1 << 40]"],
    "Types.LIST(Types.BYTE())": ["[1, 2]"],
    "Types.LIST(Types.LIST(Types.BOOLEAN()))": ["[[True], [], None]"],
    "Types.MAP(Types.STRING(), Types.DOUBLE())": ["{}", "{'a': 0.5, 'b': None}"],
    "Types.MAP(Types.INT(), Types.MAP(Types.INT(), Types.PICKLED_BYTE_ARRAY()))": ["{1: {2: (3,)}, 4: None}"],
    "Types.TUPLE([Types.INT(), Types.TUPLE([Types.STRING()])])": ["(1, ('a',))"],
    _ROW: ["Row(a=1, b='x', c=[1, None])", "Row(a=None, b=None, c=None)", "Row(c=[], b='', a=0)"],
    f"Types.LIST({_ROW})": ["[Row(a=1, b=None, c=[2])]"],
    **{
        f"Types.ROW([Types.BYTE()] * {count})": [
            f"Row(**{{f'f{{i}}': i if i % {every} else None for i in range({count})}})" for every in (1, 2, 3, 99)
        ]
        for count in (1, 5, 6, 7, 13, 14, 15, 22, 30)
    },
    "Types.ROW([Types.INT()])": [
        f"Row.of_kind(RowKind.{kind}, f0={value})"
        for kind in ("INSERT", "UPDATE_BEFORE", "UPDATE_AFTER", "DELETE")
        for value in (1, None)
    ],
}
