"""Canonical JSON (after RFC 8785): equal values give equal bytes, so their digests compare."""

import hashlib
import math
from json.encoder import encode_basestring
from typing import Any

SAFE_INTEGER = 2**53
WORDS = {None: "null", True: "true", False: "false"}


def canonical_json(value: Any) -> bytes:
    """Return `value` with sorted keys, no spaces and numbers as JavaScript prints them, in UTF-8.

    Integers beyond 2**53 keep all their digits, where RFC 8785 would round them.
    """
    return _text(value).encode("utf-8", "replace")


def canonical_sha256(value: Any) -> str:
    return hashlib.sha256(canonical_json(value)).hexdigest()


def _text(value: Any) -> str:
    match value:
        case str():
            return encode_basestring(value)
        case None | bool():
            return WORDS[value]
        case int():
            return str(value)
        case float():
            return _number(value)
        case dict():
            # RFC 8785 sorts by UTF-16 code units, not by code points; in ASCII both are one.
            names = sorted(value) if all(map(str.isascii, value)) else sorted(value, key=_code_units)
            return "{" + ",".join([f"{encode_basestring(name)}:{_text(value[name])}" for name in names]) + "}"
        case list() | tuple():
            return "[" + ",".join(map(_text, value)) + "]"
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def _code_units(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def _number(value: float) -> str:
    """Print a float as ECMAScript does (Number::toString)."""
    if not math.isfinite(value):
        raise ValueError("a non-finite number has no canonical form")
    if value == 0:
        return "0"
    if value.is_integer() and abs(value) < SAFE_INTEGER:
        return str(int(value))
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    return ("-" if value < 0 else "") + _placed(digits.rstrip("0"), point)


def _placed(digits: str, point: int) -> str:
    """Set the decimal point after `point` digits, by exponent where ECMAScript does."""
    if 0 < point <= 21:
        if len(digits) <= point:
            return digits.ljust(point, "0")
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    lead = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
    return f"{lead}e{'+' if point > 0 else '-'}{abs(point - 1)}"
