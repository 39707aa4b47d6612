"""Reading a request: its JSON body, its query parameters, its ids.

Owns everything hostile about bytes: size, type, encoding, nesting, repeated
keys, numbers too long to be numbers. Answers with ``Problem``; knows no
endpoint. A wrong value inside one item of a batch is not settled here but by
``schemas/items.py``, so that it never costs its neighbours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest
from django.http.request import UnreadablePostError
from pydantic import BaseModel, ValidationError

from records.api.problems import Problem, invalid, not_found
from records.items import BODY_LIMIT, NAME_LIMIT, FieldError
from records.schemas.items import RepeatedKeys, json_object, plain_fault

Model = TypeVar("Model", bound=BaseModel)
JSON = "application/json"
PARAMETER_LIMIT = 2_000
CODES = {"string_too_long": "too_long", "too_long": "too_long", "naive": "naive", "type": "type"}
_THEIR_WORDS = re.compile(r"^(?:Input|String|List|Dictionary|Value) should (be|have|match)\b")
_THEIR_TYPES = {
    "a valid dictionary": "an object",
    "a valid integer": "a whole number",
    "a valid list": "a list",
    "a valid number": "a number",
    "a valid string": "a string",
    "a valid boolean": "true or false",
}


def read_json(request: HttpRequest) -> Any:
    """Return the request's JSON body, whatever it holds; Problem says why it is none.

    NaN, unpaired surrogates and endless numbers pass: they are one field's
    fault, and its reader names the field. An object that names a key twice
    comes back as ``RepeatedKeys``.
    """
    text = _text(read_bytes(request))
    try:
        return json.loads(text, object_pairs_hook=json_object)
    except json.JSONDecodeError as error:
        raise Problem(400, f"The body is not JSON: {error}.", code="bad_json") from error
    except RecursionError as error:
        raise Problem(400, "The body is nested too deeply.", code="bad_json") from error
    except ValueError:
        # A number of thousands of digits; the field's reader refuses infinity.
        return json.loads(text, object_pairs_hook=json_object, parse_int=float)


def read_bytes(request: HttpRequest) -> bytes:
    """Return the raw body of a JSON request, refusing size, type or coding first."""
    meta = request.META
    if _length(meta.get("CONTENT_LENGTH", "")) > BODY_LIMIT:
        raise _too_large()
    if "chunked" in meta.get("HTTP_TRANSFER_ENCODING", "").lower() and not meta.get(
        "CONTENT_LENGTH"
    ):
        raise Problem(411, "Send the body with a Content-Length, not in chunks.")
    if request.content_type != JSON:
        raise Problem(415, f"The body must be {JSON}.")
    charset = (request.content_params or {}).get("charset", "utf-8")
    if charset.lower().replace("_", "-") not in ("utf-8", "utf8"):
        raise Problem(415, "The body must be UTF-8.")
    if meta.get("HTTP_CONTENT_ENCODING", "identity").lower() not in ("", "identity"):
        raise Problem(415, "The body must not be compressed.")
    try:
        body = request.body
    except RequestDataTooBig as error:
        raise _too_large() from error
    except UnreadablePostError as error:
        raise Problem(400, "The body broke off before its end.") from error
    if len(body) > BODY_LIMIT:
        raise _too_large()
    return body


def read_model(request: HttpRequest, model: type[Model], *, optional: bool = False) -> Model:
    """Return the body as ``model``; with ``optional`` no body at all is an empty object."""
    if optional and not _length(request.META.get("CONTENT_LENGTH", "")):
        return check_model({}, model)
    return check_model(read_json(request), model)


def check_model(raw: Any, model: type[Model]) -> Model:
    """Return ``raw`` as ``model``; the 422 names every field at fault and its limit."""
    if isinstance(raw, RepeatedKeys):
        raise invalid(FieldError(raw.key, "is named twice", "repeated"))
    if not isinstance(raw, dict):
        raise invalid(FieldError("", "the body must be a JSON object", "type"))
    faults = [(name, plain_fault(value)) for name, value in raw.items()]
    if any(fault for _, fault in faults):
        raise invalid(*(FieldError(name[:NAME_LIMIT], f) for name, f in faults if f))
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        raise invalid(*field_errors(error)) from error


def read_parameters(request: HttpRequest, allowed: Collection[str]) -> dict[str, str]:
    """Return the query parameters; one that is unknown, doubled or unprintable is a 422."""
    found: dict[str, str] = {}
    errors = []
    for name, values in request.GET.lists():
        if name not in allowed:
            errors.append(FieldError(name[:NAME_LIMIT], "is not a parameter here", "unknown"))
        elif len(values) > 1:
            errors.append(FieldError(name, "is given twice", "repeated"))
        elif complaint := text_fault(str(values[0])):
            errors.append(FieldError(name, complaint, "characters"))
        elif len(values[0]) > PARAMETER_LIMIT:
            message = f"is longer than {PARAMETER_LIMIT:,} characters"
            errors.append(FieldError(name, message, "too_long", PARAMETER_LIMIT))
        else:
            found[name] = str(values[0])
    if errors:
        raise invalid(*errors)
    return found


def read_id(text: str) -> UUID:
    """Return a path's id; what is no id is as unknown as an id that nobody has."""
    try:
        return UUID(text)
    except ValueError as error:
        raise not_found() from error


def read_uuid(name: str, text: str) -> UUID:
    """Return a parameter as an id."""
    try:
        return UUID(text)
    except ValueError as error:
        raise invalid(FieldError(name, "must be a UUID", "type")) from error


def read_instant(name: str, text: str) -> datetime:
    """Return a parameter as an aware instant; a space from an unescaped plus is forgiven."""
    try:
        found = datetime.fromisoformat(text.replace(" ", "+"))
        if found.tzinfo is not None:
            return found.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        message = "must be an ISO 8601 date and time with an offset, as 2026-03-01T12:00:00Z"
        raise invalid(FieldError(name, message, "type")) from error
    message = "has no time zone; add an offset such as Z or %2B01:00"
    raise invalid(FieldError(name, message, "naive"))


def text_fault(text: str) -> str:
    """Say which character of a text the database cannot keep; empty when all are fine."""
    if "\x00" in text:
        return "contains a NUL character"
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        return "contains an unpaired surrogate"
    return ""


def field_errors(error: ValidationError) -> list[FieldError]:
    """Return pydantic's complaints as ours."""
    return [_field_error(one) for one in error.errors(include_url=False, include_input=False)]


def _field_error(one: Any) -> FieldError:
    name = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in one["loc"]
    ).lstrip(".")
    kind = str(one["type"])
    context = one.get("ctx") or {}
    limits = (context.get(key) for key in ("max_length", "min_length", "le", "ge", "lt", "gt"))
    limit = next((value for value in limits if isinstance(value, int | float)), None)
    if kind == "missing":
        return FieldError(name, "is required", "required")
    if kind == "extra_forbidden":
        return FieldError(name, "is not a field here", "unknown")
    code = CODES.get(kind, "type" if kind.endswith("_type") else "invalid")
    return FieldError(name, _in_our_words(str(one["msg"])), code, limit)


def _in_our_words(message: str) -> str:
    """Return what pydantic says of a value so that it reads on after the field's name."""
    message = message.removeprefix("Value error, ")
    found = _THEIR_WORDS.sub(r"must \1", message)
    for theirs, ours in _THEIR_TYPES.items():
        found = found.replace(theirs, ours)
    return found[:1].lower() + found[1:]


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"The body is not UTF-8: byte {error.start} cannot be read."
        raise Problem(400, message, code="bad_json") from error


def _length(header: str) -> int:
    try:
        return int(header or 0)
    except ValueError:
        return 0


def _too_large() -> Problem:
    megabytes = BODY_LIMIT // (1024 * 1024)
    message = f"The body is larger than {megabytes} MB ({BODY_LIMIT:,} bytes)."
    limit = FieldError("", f"the body is larger than {BODY_LIMIT:,} bytes", "too_long", BODY_LIMIT)
    return Problem(413, message, fields=[limit])
