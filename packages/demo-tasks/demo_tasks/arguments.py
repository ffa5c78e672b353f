"""Reads the arguments of a task by the schema that the manifest has for it, so that the two cannot differ.

Missing arguments get their defaults. Everything wrong is reported at once, with its place:

    layout.rows: Use a whole number of at most 16. It is 40.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

MANIFEST = Path(__file__).with_name("__FRACTAL_MANIFEST__.json")

# A keyword outside this list would be a promise in the form that no task keeps.
KNOWN_KEYWORDS = set(
    "$ref type title description default const enum anyOf oneOf discriminator properties required "
    "additionalProperties items prefixItems minItems maxItems uniqueItems "
    "minimum maximum exclusiveMinimum multipleOf minLength maxLength pattern $defs".split()
)


class Refusal(Exception):
    """What the person who set up the workflow can put right; shown without a traceback."""


def schema_of(executable: str) -> dict:
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    for task in manifest["task_list"]:
        for kind in ("non_parallel", "parallel"):
            if task.get(f"executable_{kind}") == executable:
                return task[f"args_schema_{kind}"]
    raise LookupError(f"The manifest has no task with the executable {executable}.")


def read_arguments(given: object, schema: dict) -> dict:
    problems: list[str] = []
    arguments = read_value(given, schema, "", schema.get("$defs", {}), problems)
    if problems:
        raise Refusal("\n".join(["These arguments cannot be used:", *(f"- {problem}" for problem in problems)]))
    return arguments


def read_value(value, schema: dict, place: str, definitions: dict, problems: list[str]):
    """The value with defaults filled in; what is wrong with it is added to `problems`."""
    unknown = set(schema) - KNOWN_KEYWORDS
    if unknown:
        raise TypeError(f"The schema of {place} has keywords that are not checked: {sorted(unknown)}")

    def inner(inner_value, inner_schema, name):
        return read_value(inner_value, inner_schema, f"{place}.{name}".lstrip("."), definitions, problems)

    def refuse(advice):
        problems.append(f"{place or 'arguments'}: {advice} It is {shown(value)}.")
        return value

    if "$ref" in schema:
        return read_value(value, definitions[schema["$ref"].rsplit("/", 1)[1]], place, definitions, problems)
    if "anyOf" in schema:
        [wanted] = [option for option in schema["anyOf"] if option.get("type") != "null"]
        return None if value is None else read_value(value, wanted, place, definitions, problems)
    if "oneOf" in schema:
        tag, variants = schema["discriminator"]["propertyName"], schema["discriminator"]["mapping"]
        chosen = value.get(tag) if isinstance(value, dict) else None
        if not isinstance(chosen, str) or chosen not in variants:
            return refuse(f"Use an object whose {tag} is one of {listed(variants)}.")
        return read_value(value, {"$ref": variants[chosen]}, place, definitions, problems)
    if "const" in schema:
        return value if value == schema["const"] else refuse(f"Use {shown(schema['const'])}.")
    if "enum" in schema:
        return value if value in schema["enum"] else refuse(f"Use one of {listed(schema['enum'])}.")
    return READERS[schema["type"]](value, schema, inner, refuse)


def shown(value) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."


def listed(values) -> str:
    return ", ".join(shown(value) for value in values)


def read_object(value, schema, inner, refuse):
    if not isinstance(value, dict):
        return refuse("Use an object.")
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    read = {}
    for name, property_schema in known.items():
        if name in value:
            read[name] = inner(value[name], property_schema, name)
        elif name in schema.get("required", []):
            refuse(f"{name} is missing.")
        else:
            read[name] = inner(property_schema["default"], property_schema, name)
    for name in value.keys() - known.keys():
        if isinstance(others, dict):
            read[name] = inner(value[name], others, name)
        elif others is False:
            refuse(f"There is no argument {shown(name)}; remove it. Known are {listed(known)}.")
        else:
            read[name] = value[name]
    return read


def read_array(value, schema, inner, refuse):
    if not isinstance(value, list):
        return refuse("Use a list.")
    least, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
    if not least <= len(value) <= most:
        wanted = f"{least}" if least == most else f"at least {least}" if len(value) < least else f"at most {most}"
        return refuse(f"Use a list of {wanted} values.")
    if schema.get("uniqueItems") and len({shown(item) for item in value}) < len(value):
        return refuse("Name each value once.")
    schemas = schema.get("prefixItems") or [schema["items"]] * len(value)
    return [inner(item, schemas[index], index) for index, item in enumerate(value)]


def read_number(value, schema, inner, refuse):
    whole = schema["type"] == "integer"
    name = "a whole number" if whole else "a number"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return refuse(f"Use {name}.")
    if isinstance(value, float) and (not math.isfinite(value) or (whole and not value.is_integer())):
        return refuse(f"Use {name}.")
    for keyword, words, fits in (
        ("minimum", "of at least", lambda bound: value >= bound),
        ("maximum", "of at most", lambda bound: value <= bound),
        ("exclusiveMinimum", "above", lambda bound: value > bound),
        ("multipleOf", "that is a multiple of", lambda step: value % step == 0),
    ):
        if keyword in schema and not fits(schema[keyword]):
            return refuse(f"Use {name} {words} {schema[keyword]}.")
    return int(value) if whole else value


def read_string(value, schema, inner, refuse):
    if not isinstance(value, str):
        return refuse("Use text.")
    if len(value) < schema.get("minLength", 0):
        return refuse(f"Use at least {schema['minLength']} characters.")
    if len(value) > schema.get("maxLength", math.inf):
        return refuse(f"Use at most {schema['maxLength']} characters.")
    # All our patterns are anchored; unlike `search`, this does not let a last line break pass.
    if "pattern" in schema and not re.fullmatch(schema["pattern"], value):
        return refuse(f"Use text that matches {schema['pattern']}.")
    return value


def read_boolean(value, schema, inner, refuse):
    return value if isinstance(value, bool) else refuse("Use true or false.")


READERS = {
    "object": read_object,
    "array": read_array,
    "integer": read_number,
    "number": read_number,
    "string": read_string,
    "boolean": read_boolean,
}
