"""Configuration: what goes in comes out, and what makes no sense does not go in."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.common import Configuration
from penstock.errors import ConfigurationError


def test_a_configuration_keeps_text_and_gives_values() -> None:
    configuration = Configuration().set_string("a", "x").set_integer("b", 3).set_boolean("c", True).set_float("d", 0.5)
    configuration.set_bytearray("e", bytearray(b"\x00\xff"))
    assert configuration.to_dict() == {"a": "x", "b": "3", "c": "true", "d": "0.5", "e": "00ff"}
    assert (configuration.get_integer("b", 0), configuration.get_boolean("c", False)) == (3, True)
    assert (configuration.get_float("d", 0.0), configuration.get_string("?", "!")) == (0.5, "!")
    assert configuration.get_bytearray("e", bytearray()) == bytearray(b"\x00\xff")
    assert configuration.key_set() == set("abcde")


def test_a_configuration_takes_over_others() -> None:
    configuration = Configuration({"a": "x", "b": 3, "c": True, "d": 0.5})
    assert configuration.to_dict() == {"a": "x", "b": "3", "c": "true", "d": "0.5"}
    assert Configuration.from_dict({"a": "x"}) == Configuration(Configuration({"a": "x"})) != configuration
    other = Configuration(configuration).add_all(Configuration({"f": "1"}), "p.")
    assert (other.contains_key("p.f"), other.remove_config("p.f"), other == configuration) == (True, True, True)
    assert not other.remove_config("p.f")
    target = {"a": "old", "z": "1"}
    configuration.add_all_to_dict(target)
    assert target == {"a": "x", "z": "1", "b": "3", "c": "true", "d": "0.5"}


WRONG: list[tuple[Any, str]] = [
    (lambda c: Configuration("a=b"), r"Configuration\('a=b'\): .* a mapping of keys"),
    (lambda c: Configuration([("a", "b")]), "a mapping of keys"),
    (lambda c: Configuration({"a": None}), "setting a was given None; a value is a text"),
    (lambda c: Configuration({1: "x"}), "non-empty text, not 1"),
    (lambda c: Configuration.from_dict(c), "from_dict.*a mapping of keys"),
    (lambda c: c.add_all({"a": "b"}), "add_all.*make one by from_dict"),
    (lambda c: c.set_string("", "x"), "non-empty text, not ''"),
    (lambda c: c.set_string("a", 1), "which is not a str. Use set_integer"),
    (lambda c: c.set_integer("a", "1"), "which is not an int"),
    (lambda c: c.set_integer("a", True), "which is not an int"),
    (lambda c: c.set_boolean("a", "true"), "not a bool"),
    (lambda c: c.set_float("a", "x"), "not a number"),
    (lambda c: c.set_float("a", None), "not a number"),
    (lambda c: c.set_float("a", True), "not a number"),
    (lambda c: c.set_bytearray("a", "00"), "not bytes"),
    (lambda c: c.get_integer("text", 0), "setting text is 'x', but an integer"),
    (lambda c: c.get_float("text", 0.0), "setting text is 'x', but a number"),
    (lambda c: c.get_boolean("text", False), "setting text is 'x', but true or false"),
    (lambda c: c.get_bytearray("text", bytearray()), "setting text is 'x', but a hexadecimal text"),
]


@pytest.mark.parametrize(("call", "match"), WRONG, ids=[match for _, match in WRONG])
def test_what_makes_no_sense_is_refused(call: Any, match: str) -> None:
    with pytest.raises(ConfigurationError, match=match):
        call(Configuration({"text": "x"}))


BAD = {"penstock.exectuor": "local", "penstock.exchange.codec": "zip", "parallelism.default": "many"}


@pytest.mark.parametrize(("key", "text"), BAD.items())
def test_a_setting_is_looked_at_when_it_is_set(key: str, text: str) -> None:
    prefix, _, rest = key.partition(".")
    for set_it in (
        lambda configuration: configuration.set_string(key, text),
        lambda configuration: Configuration({key: text}),
        lambda configuration: configuration.add_all(Configuration({rest: text}), f"{prefix}."),
    ):
        configuration = Configuration()
        with pytest.raises(ConfigurationError, match=key.replace(".", r"\.")):
            set_it(configuration)
        assert not configuration.key_set()


@pytest.mark.parametrize(
    ("text", "items"),
    [
        (None, []),
        ("", []),
        ("[one, 'two']", ["one", "two"]),
        ("[]", []),
        ("- one\n- two", ["one", "two"]),
        ("one;two", ["one", "two"]),
        ("one", ["one"]),
    ],
)
def test_lists_in_a_value(text: str | None, items: list[str]) -> None:
    assert Configuration.parse_list_value(text) == items
