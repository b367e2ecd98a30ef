"""Random functions as a user would write them, and records with extremes: for the compiler and for the machine.

A record is a tuple ``(whole number, number, text, whole numbers, words)``; sometimes a field is something else, so that
every way in which Python raises is taken too. Functions are texts, and so easy to shrink and to read.
"""

from __future__ import annotations

import linecache
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

Draw = Callable[[Any], Any]

EXTREME_INTS = [0, 1, -1, 2, 7, -8, 255, 2**31, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**62]
EXTREME_FLOATS = [0.0, -0.0, 0.1, 1.5, 2.5, -2.5, 1e16, 1e22, 1e-7, 5e-324, 1.7976931348623157e308, float(2**53)]
NOT_NUMBERS = [float("nan"), float("inf"), float("-inf")]
TEXTS = [
    "2024-02-29",
    "2024-02-29T23:59:59.999+05:30",
    "",
    "a",
    "Ab cD",
    " x,y ; z ",
    "12",
    "-7",
    "3.5",
    "ß",
    "ǆ",
    "İ",
    "é",
    "a\tb\nc",
    "0",
    "%d",
    "{}",
    "日本",
    "aaa",
]
SURROGATE = "\ud800"
WORDS = ["the", "fox", "a", "A", "", "12", "zz", "é"]

ints = st.one_of(st.integers(-9, 9), st.sampled_from(EXTREME_INTS), st.integers(-(2**63), 2**63 - 1))
floats = st.one_of(st.sampled_from(EXTREME_FLOATS), st.sampled_from(NOT_NUMBERS), st.floats())
texts = st.one_of(st.sampled_from(TEXTS), st.text("ab ,;-.1é ", max_size=8), st.text(max_size=4))
int_lists = st.lists(st.integers(-3, 9), max_size=5)
word_lists = st.lists(st.sampled_from(WORDS), max_size=5)
odd_values = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([2**63, -(2**63) - 1, SURROGATE, b"ab", b"", (), (1, "a"), {}, {"a": 1}, [], [None], "x" * 300]),
    ints,
    floats,
    texts,
)


CONSTANTS: dict[str, Any] = {
    "TABLE": {1: 10, "a": 20, 2.5: 30, (1, "a"): 40, None: 50, b"ab": 60, (0.0,): 70, -1.0: 80},
    "KINDS": {"", 0, 1.5, "x,", (2, "b"), 2.0**62, b"", None},
    "NUMBERS": {number: number for number in range(-9, 300)},
    "EPOCH": datetime(1970, 1, 1, tzinfo=timezone.utc),
    "INDIA": timezone(timedelta(hours=5, minutes=30)),
}
"""Constants that functions look into."""
DATES = {cls.__name__: cls for cls in (date, datetime, timedelta, timezone)}
"""Classes that functions call."""
_NUMBERS = [st.integers(0, most) for most in range(48)]


@dataclass(frozen=True)
class Function:
    """A function as a text that defines ``f``, and the kind of operator it is for."""

    source: str
    kind: str

    def load(self) -> Any:
        """The function, with a source that can be looked up."""
        name = f"<random {hash(self.source)}>"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(keepends=True), name)
        variables: dict[str, Any] = {"__name__": "random_functions", "math": math, "re": re, **CONSTANTS, **DATES}
        exec(compile(self.source, name, "exec"), variables)
        return variables["f"]


@st.composite
def records(draw: Draw) -> tuple[Any, ...]:
    """A record, with an odd field now and then."""
    fields = [draw(ints), draw(st.one_of(floats, ints)), draw(texts), draw(int_lists), draw(word_lists)]
    if draw(st.integers(0, 7)) == 0:
        fields[draw(st.integers(0, 4))] = draw(odd_values)
    return tuple(fields)


_FORMS: dict[str, list[str]] = {
    "int": [
        "(«int» ‹+ - * // % & | ^› «int»)",
        "(«int» ‹<< >>› ‹0 1 3 5 62 64›)",
        "«int» ** ‹0 1 2 3›",
        "(-«int»)",
        "(~«int»)",
        "abs(«int»)",
        "len(«seq»)",
        "int(«text»)",
        "int(«float»)",
        "int(«text», ‹10 16 base=8›)",
        "round(«float»)",
        "sum(«ints»)",
        "‹min max›(«int», «int»)",
        "‹min max›(«ints», default=«int»)",
        "«ints»[‹0 -1 1 x[0]›]",
        "«text».‹find count index rfind›(«letter»)",
        "ord(«text»)",
        "sum(i * 2 for i in «ints» if i > ‹0 1 2›)",
        "{'a': «int», 'b': 2}.get(«letter», «int»)",
        "bool(«any»)",
        "max(«words», key=len).count('a')",
        "min(«ints», key=lambda i: ‹-i i%3 (i>1,i) x[1] 1/i›)",
        "‹min max›(«ints», key=‹abs None lambda_i:-i lambda_i:«number»›, default=«int»)",
        "‹min max›(«int», «int», key=lambda i: ‹-i i%3 (x[1],i)›)",
        "math.‹comb perm›(«int», «int»)",
        "len(«dict»)",
        "«dict»[‹'a' 'b' x[2] 0›]",
        "TABLE[«any»]",
        "TABLE.get(«any», «int»)",
        "NUMBERS.get(«number», 0)",
        "«time».‹year month day hour minute second microsecond weekday() isoweekday() toordinal() date().day›",
        "«span».‹days seconds microseconds›",
        "(«span» // timedelta(hours=1))",
    ],
    "float": [
        "(«float» ‹+ - * / // %› «number»)",
        "(«int» / «number»)",
        "float(«text»)",
        "float(«int»)",
        "round(«float», ‹0 1 2 -1 ndigits=3 None›)",
        "abs(«float»)",
        "(-«float»)",
        "«float» ** ‹2 -1 0.5 0›",
        "max(«float», «number»)",
        "divmod(«float», «number»)[‹0 1›]",
        "math.modf(«number»)[‹0 1›]",
        "max([«float», «number»], key=lambda i: ‹-i abs(i) i›)",
        "sorted([«float», «number», «float»], ‹reverse=True key=lambda_i:-i›)[‹0 -1›]",
        "«time».timestamp()",
        "«span».total_seconds()",
        "(«span» / timedelta(minutes=1))",
    ],
    "time": [
        "datetime.fromtimestamp(«number», ‹timezone.utc INDIA tz=timezone.utc timezone(timedelta(hours=-3))›)",
        "datetime.fromisoformat(«text»)",
        "datetime(«int», ‹1 2 12›, ‹1 29 31›, ‹0 23›, tzinfo=‹timezone.utc INDIA None›)",
        "(«time» ‹+ -› «span»)",
        "«time».astimezone(‹timezone.utc INDIA›)",
        "«time».replace(‹day=31 hour=0,minute=0 microsecond=x[0] year=x[0] tzinfo=timezone.utc tzinfo=None›)",
        "‹min max›(«time», «time»)",
    ],
    "span": [
        "(«time» - «time»)",
        "timedelta(‹0 1 -1›, ‹seconds hours milliseconds weeks›=«int»)",
        "(«span» ‹+ -› «span»)",
        "(«span» * «int»)",
        "‹abs -›(«span»)",
    ],
    "text": [
        "(«text» + «text»)",
        "«text» * ‹0 1 2 3›",
        "‹str repr›(«number»)",
        "‹str repr›(«seq»)",
        "«text».‹lower upper strip title swapcase capitalize lstrip casefold›()",
        "«text».replace(«letter», «text»)",
        "«text».replace('a', «text», 1)",
        "«text»[‹0 -1 1: :-1 ::-1 ::2 2:0 :3 -3:›]",
        "«text».‹strip rstrip removeprefix removesuffix›(«letter»)",
        "«text».‹zfill ljust rjust center›(‹0 3 6›)",
        "‹',' '' ';'›.join(«words»)",
        "', '.join(str(i) for i in «ints»)",
        "''.join(reversed(«words»))",
        'f"<{«plain»:‹>6 <4 ^5 05 + .2f , x .3 e % .1% >+8.2f s d _ #x b g .0f 08.3f n›}>"',
        'f"{«plain»!r}/{«plain»}{«plain»!s:>4}"',
        "'‹%s %r %5s %-4s| %d %05d %.2f %+d %e %g %x›' % («number»,)",
        "'‹%s %r %5s %-4s| %.2s›' % («seq»,)",
        "'‹{} {:>5} {!r} {0}{0} {:d} {:.1f}›'.format(«number»)",
        "«text».partition(«letter»)[‹0 1 2›]",
        "«words»[‹0 -1›]",
        "chr(«int»)",
        "re.sub(r'«pattern»', «letter», «text»)",
        "str(‹«time» «span» «time».date()›)",
        "«time».isoformat(‹'_' 'T','seconds' timespec='milliseconds' 'x','hours'›)",
        "«time».strftime(‹'%Y-%m-%d' '%H:%M:%S.%f' '%j|%z|%Z' '%y%%' '%d/%m'›)",
        "f'{«time»:‹%Y %H:%M %F›}'",
    ],
    "ints": [
        "[i ‹+ * - // %› «int» for i in «ints»]",
        "[i for i in «ints» if i % 2 == ‹0 1›]",
        "[i + j for i in «ints» for j in range(‹0 1 3›) if j != i]",
        "[i for i, w in enumerate(«words», start=‹0 1›) if w]",
        "[a * b for a, b in zip(«ints», «ints»)]",
        "sorted(«ints»)",
        "sorted(«ints», ‹reverse=True key=abs key=lambda_i:-i key=lambda_i:(i%2,i),reverse=True›)",
        "sorted(«ints», reverse=‹«test» 1 0 x[0] x[1]›)",
        "sorted(«ints», key=‹None lambda_i:str(i) lambda_i:x[2] lambda_i:[i,x[0]]›, reverse=‹«test» 2›)",
        "list(«ints»)",
        "«ints»[‹1: :-1 ::-1 ::2 -2: :0›]",
        "list(map(‹abs int str lambda_i:i*2›, «ints»))",
        "[*«ints», «int»]",
        "[len(w) for w in «words»]",
        "list(filter(lambda i: i > ‹0 1›, «ints»))",
        "list(range(‹0 1 2›, ‹3 len(x[3]) -2,-1›))",
        "list({i: i * 2 for i in «ints»}.‹values keys›())",
    ],
    "words": [
        "«text».split(‹None ',' 'a' ',',1 maxsplit=1 None,1 sep='a'›)",
        "«text».split()",
        "«text».rsplit(‹',' ',',1 None,1›)",
        "«text».splitlines()",
        "[w.‹lower upper strip›() for w in «words» if w not in ('a', 'the')]",
        "sorted(«words»)",
        "sorted(«words», ‹key=len key=str.lower reverse=True›)",
        "sorted(«dict»)",
        "[k for k, v in sorted(«dict».items(), key=lambda p: (‹p[1],p[0] -p[1],p[0] p[0],›))]",
        "[max(«words», key=‹len str.upper lambda_w:w[1:]›, default='')]",
        "list(«text»)",
        "(«words» + [«text»])",
        "[str(i) for i in «ints»]",
        "[w for w in «words» if «test»]",
        "re.‹findall split›(r'«pattern»', «text»)",
    ],
    "dict": [
        "{«text»: «int», ‹'a' 'b' x[2]›: «int»}",
        "«dict» | «dict»",
        "{**«dict», 'b': «int»}",
        "{w: len(w) for w in «words»}",
        "dict(zip(«words», «ints»))",
    ],
    "any": [
        "«seq»",
        "«dict»",
        "bytes(«ints»)",
        "«number»",
        "(«number», «seq»)",
        "[«any», «seq»]",
        "{'k': «any», «text»: «number»}",
        "x[‹0 1 2 3 4 5›]",
        "re.‹match search fullmatch›(r'«pattern»', «text»)[0]",
        "re.‹match search›(r'‹([ab]+)(b)? (\\w)\\W*(\\w) (.)(,)?b?›', «text»).‹groups() group(1) group(0,2)›",
        "(«test»)",
        "(«number», *«ints»)",
        "{**{'a': «any»}, 'b': «number»}",
    ],
    "test": [
        "«number» ‹< <= > >= == !=› «number»",
        "«seq» ‹< <= > >= == !=› «seq»",
        "«text» ‹< == != >=› «text»",
        "«number» < «number» ‹< == != >› «number»",
        "«any» ‹is is_not› ‹None True›",
        "«int» ‹in not_in› «ints»",
        "«number» in ‹(1,2,0.5) {1,2} {1,True,2.5} [None,1]›",
        "not «any»",
        "«int» ‹< != >=› «int» ‹in not_in› {‹1,2 0,True,2.5 1,None›}",
        "«number» in «ints» in {True, 1}",
        "«text» ‹in not_in› «dict»",
        "«any» ‹in not_in› ‹TABLE KINDS NUMBERS›",
        "re.‹match search fullmatch›(r'«pattern»', «text») is ‹not_None None›",
        "not re.match(r'«pattern»', «text»)",
        "isinstance(«any», ‹str int float (int,str) bool list (tuple,dict)›)",
        "«text» ‹in not_in› «text»",
        "«text».‹isdigit isalpha isspace isupper isalnum islower›()",
        "«text».‹startswith endswith›(«letter»)",
        "«number» and «text»",
        "‹any all›(i > ‹0 1 2› for i in «ints»)",
        "«time» ‹< <= > >= == !=› «time»",
        "«span» ‹< >= == !=› «span»",
        "«time» ‹== !=› «any»",
    ],
}
"""Forms of expressions by kind: «kind» is an expression of that kind, ‹…› a choice of words, where underlines are
spaces."""
_LEAVES = {
    "int": "0 1 2 -3 10 True 9223372036854775807 x[0] x[0] x[0] x[3][0]",
    "float": "0.5 -0.0 1e300 3 2.5 1e-9 x[1] x[1] x[1] x[0]",
    "text": "'' 'a' '_' ',' 'a_b' 'é' '12' x[2] x[2] x[2] x[2] x[4][0]",
    "pattern": r"[ab]+ \w+ a|b,|c (a)(b)? ,\s* (?i)AB? a*? ^a|b$ [^,;]+ \b\w (\w)(?:[a-c]|,){1,2}(.) (?s)(.)b?$ \d{2,} "
    r"(?m)^.{0,2}$ é ((a+)b?,) x* \S+?\s (?:ab|c)+\Z (a|,b)+? (?m)^ (?:a{2}|\D)+ $ [a-ü]+[^\d]",
    "letter": "'' 'a' ',' '_' 'ab' x[2]",
    "ints": "[] [1,2] (3,1) [0] [5,5] x[3] x[3] x[3] x[3]",
    "words": "[] ['a','b'] ('z',) 'a,b'.split(',') x[4] x[4] x[4] x[4]",
    "dict": "{} {'a':1} {x[2]:x[0]} {'b':2,'a':3}",
    "any": "None True x () {} x[0] x[1] x[2] x[3]",
    "time": "EPOCH datetime.fromtimestamp(x[0],timezone.utc) datetime.fromtimestamp(x[1],timezone.utc) "
    "datetime.fromisoformat(x[2])",
    "span": "timedelta(1) timedelta(hours=x[0]) timedelta(seconds=1.5)",
    "test": "True x[0] x[2] x[3]",
}
_ALIASES = {"number": ["int", "float"], "seq": ["text", "ints", "words"], "plain": ["int", "float", "text"]}
_MARK = re.compile("«(\\w+)»|‹([^›]*)›")


class _Writer:
    """Writes expressions and statements; ``names`` are the variables in scope by kind."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.names: dict[str, list[str]] = {kind: [] for kind in _FORMS}
        self.count = 0
        self.loops = 0

    def pick(self, choices: Sequence[str]) -> str:
        return choices[self.number(len(choices) - 1)]

    def number(self, most: int) -> int:
        return self.draw(_NUMBERS[most])

    def name(self, kind: str) -> str:
        self.count += 1
        name = f"v{self.count}"
        self.names[kind].append(name)
        return name

    # expressions

    def expression(self, kind: str, depth: int) -> str:
        if kind == "plain":  # it may be within a text with double quotes, on every version of Python
            return self.pick(["x[0]", "x[1]", "x[2]", "(x[0] + 1)", "(-x[1])", "x", *self.names["int"]])
        kind = self.pick(_ALIASES.get(kind, [kind]))
        names = self.names.get(kind)
        if names and self.number(3) == 0:
            return self.pick(names)
        if depth <= 0 or kind in ("letter", "pattern"):
            return self.pick(_LEAVES[kind].split()).replace("_", " ")
        choice = self.number(19)
        if choice == 0:
            one, other = self.expression(kind, depth - 1), self.expression(kind, depth - 1)
            return f"({one} if {self.test(depth - 1)} else {other})"
        if choice == 1:
            one, other = self.expression(kind, depth - 1), self.expression(kind, depth - 1)
            return f"({one} {self.pick(['or', 'and'])} {other})"
        return f"({self.filled(self.pick(_FORMS[kind]), depth - 1)})"

    def test(self, depth: int) -> str:
        return self.filled(self.pick(_FORMS["test"]), depth - 1)

    def filled(self, form: str, depth: int) -> str:
        def part(match: re.Match[str]) -> str:
            if match[1]:
                return self.expression(match[1], depth)
            return self.filled(self.pick(match[2].split()).replace("_", " "), depth)

        return _MARK.sub(part, form)

    # statements

    def statements(self, indent: int, count: int, ends: list[str]) -> list[str]:
        """Some statements; ``ends`` are the ways to go on from a loop or to return."""
        lines: list[str] = []
        for _ in range(count):
            lines += self.statement(indent, ends)
        return lines or ["    " * indent + "pass"]

    def statement(self, indent: int, ends: list[str]) -> list[str]:
        space = "    " * indent
        kind = self.pick(["int", "float", "text", "ints", "words", "dict"])
        choice = self.number(11) if indent < 4 else self.number(5)
        if choice < 3:
            value = self.expression(kind, 2)
            return [f"{space}{self.name(kind)} = {value}"]
        if choice == 3 and self.names[kind]:
            operators = {
                "int": ["+=", "-=", "*=", "|="],
                "float": ["+=", "-=", "*="],
                "dict": ["|="],
                "ints": ["+=", "*="],
            }
            operator = self.pick(operators.get(kind, ["+="]))
            return [f"{space}{self.pick(self.names[kind])} {operator} {self.expression(kind, 1)}"]
        if choice == 4:
            value = f"{self.expression('int', 1)}, {self.expression('text', 1)}"
            return [f"{space}{self.name('int')}, {self.name('text')} = {value}"]
        if choice == 5 and ends:
            return [f"{space}if {self.test(1)}:", f"{space}    {self.pick(ends)}"]
        if choice in (6, 7):
            return self.branches(indent, ends)
        if choice in (8, 9) and self.loops < 2:
            return self.loop(indent, ends)
        if choice == 10:
            out = f"out{self.number(1)}"
            word = self.expression("text", 1)
            forms = [
                f"{out}.append({self.expression('any', 2)})",
                f"{out}.extend({self.expression('ints', 1)})",
                f"{out}[{self.pick(['0', '-1'])}] = {self.expression('any', 1)}",
                f"counts[{word}] = counts.get({word}, 0) + 1",
                f"counts['a'] {self.pick(['+=', '-=', '*='])} {self.expression('int', 1)}",
                f"counts.update({{{word}: {self.expression('int', 1)}}})",
                f"counts[{self.expression('any', 1)}] = {self.expression('any', 1)}",
                f"{out}[{self.expression('int', 1)}] {self.pick(['+=', '*=', '|='])} {self.expression('int', 1)}",
            ]
            return [f"{space}{self.pick(forms)}"]
        return [f"{space}first, *rest = {self.expression('ints', 1)}", f"{space}{self.name('int')} = first + len(rest)"]

    def branches(self, indent: int, ends: list[str]) -> list[str]:
        space = "    " * indent
        before = {kind: list(names) for kind, names in self.names.items()}
        lines = [f"{space}if {self.test(2)}:", *self.statements(indent + 1, 1 + self.number(1), ends)]
        if self.number(1):
            lines += [f"{space}else:", *self.statements(indent + 1, 1, ends)]
        if self.number(3):
            self.names = before  # otherwise variables may be unset behind it
        return lines

    def loop(self, indent: int, ends: list[str]) -> list[str]:
        space = "    " * indent
        self.loops += 1
        inner = [*(end for end in ends if end not in ("break", "continue")), "break", "continue"]
        before = {kind: list(names) for kind, names in self.names.items()}
        form = self.number(4)
        if form == 0:
            name = self.name("int")
            head = [f"{space}{name} = 0", f"{space}while {name} < {self.number(4)}:", f"{space}    {name} += 1"]
            self.names["int"].remove(name)
        elif form == 1:
            iterable = self.expression("words", 1)
            head = [f"{space}for {self.name('int')}, {self.name('text')} in enumerate({iterable}):"]
        elif form == 2:
            head = [f"{space}for {self.name('int')} in range({self.number(3)}, {self.number(6)}):"]
        elif form == 3:
            several = f"[{self.expression('ints', 1)}, {self.expression('ints', 1)}]"
            head = [f"{space}for first, *rest in {several}:", f"{space}    {self.name('int')} = first + len(rest)"]
        else:
            kind = self.pick(["ints", "words"])
            iterable = self.expression(kind, 2)
            head = [f"{space}for {self.name('int' if kind == 'ints' else 'text')} in {iterable}:"]
        lines = [*head, *self.statements(indent + 1, 1 + self.number(2), inner)]
        if self.number(2):
            self.names = before
        self.loops -= 1
        return lines


@st.composite
def functions(draw: Draw) -> Function:
    """A function for ``map``, ``filter`` or ``flat_map``."""
    writer = _Writer(draw)
    kind = draw(st.sampled_from(["map", "map", "filter", "flat_map"]))
    if draw(st.integers(0, 2)) == 0:
        body = {
            "map": lambda: writer.expression("any", 4),
            "filter": lambda: writer.test(4),
            "flat_map": lambda: writer.expression(writer.pick(["ints", "words", "text"]), 4),
        }[kind]()
        return Function(f"f = lambda x: ({body})\n", kind)
    generates = kind == "flat_map" and draw(st.booleans())
    ends = [f"return {writer.expression('any', 1)}"] if not generates else ["return"]
    if generates:
        ends.append(f"yield {writer.expression('any', 1)}")
        ends.append(f"yield from {writer.expression('ints', 1)}")
    lines = ["def f(x):", "    out0 = []", "    out1 = []", "    counts = {'a': 0}"]
    lines += writer.statements(1, 1 + draw(st.integers(0, 4)), ends)
    if generates:
        lines.append(f"    yield {writer.expression('any', 2)}")
    elif kind == "flat_map":
        lines.append(f"    return {writer.pick(['out0', 'out1', writer.expression('ints', 2)])}")
    else:
        results = ["out0", "(out0, out1)", "counts", "(counts, len(out1))", writer.expression("any", 3)]
        lines.append(f"    return {writer.pick(results)}")
    return Function("\n".join(lines) + "\n", kind)
