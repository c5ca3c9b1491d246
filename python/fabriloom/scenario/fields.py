"""Types of the fields of a scenario: strings with units in a file, whole numbers in the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    PrivateAttr,
    TypeAdapter,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from fabriloom import units
from fabriloom.scenario.errors import Path, ScenarioError
from fabriloom.scenario.source import OTHER_WORDS, SourceMap

_UNITS = ("_millihz", "_bits_per_s", "_ps_per_m", "_bytes", "_ps", "_m")


def bare(name: str) -> str:
    """Return the name of a setting without its unit."""
    return next((name.removesuffix(unit) for unit in _UNITS if name.endswith(unit)), name)


def setting(description: str, default: Any = ..., **more: Any) -> Any:
    """Return the field of a setting; without a default it has to be given. ``more``: as for ``Field``."""
    return Field(default, description=description, **more)


def optional(description: str, **more: Any) -> Any:
    """Return the field of a setting that is None if it is not given."""
    return setting(description, None, **more)


class Section(BaseModel):
    """A part of a scenario. Unknown keys are refused, and strings are not converted to numbers.

    The checks of a section are built when a file first has it: of more than a hundred, a short command needs
    some ten.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """A file names a setting without its unit: ``cable_length`` for ``cable_length_m``."""
        for name, field in cls.model_fields.items():
            if field.alias is None and bare(name) != name:
                field.alias = field.validation_alias = field.serialization_alias = bare(name)

    @model_validator(mode="before")
    @classmethod
    def _usual_words(cls, value: Any) -> Any:
        if not isinstance(value, dict) or OTHER_WORDS.keys().isdisjoint(value):
            return value
        fields = cls.model_fields
        meant = {
            word: name
            for word, name in OTHER_WORDS.items()
            if word in value and word not in fields and name in fields and name not in value
        }
        if len(set(meant.values())) < len(meant):
            return value
        return {meant.get(key, key): inner for key, inner in value.items()}

    def written(self, *but: str) -> dict[str, Any]:
        """Return the settings that have a value, ``but`` these; unlike a dump, it keeps exact fractions."""
        values = {name: getattr(self, name) for name in type(self).model_fields if name not in but}
        return {
            name: value.written() if isinstance(value, Section) else value
            for name, value in values.items()
            if value is not None
        }


def _in_words(names: Iterable[str], example: str) -> WithJsonSchema:
    names = list(names)
    micro = [sign + name[1:] for name in names if name.startswith("us") for sign in units.MICRO_SIGNS]
    pattern = r"^\s*[0-9._eE+]+\s*(" + "|".join([*names, *micro]) + r")\s*$"
    return WithJsonSchema({"type": "string", "pattern": pattern, "examples": [example]})


def _as(
    written: Callable[[Any], str], names: Iterable[str], example: str
) -> tuple[PlainSerializer, WithJsonSchema]:
    """Return how a quantity is written in a file; ``names``: its units."""
    return PlainSerializer(written, when_used="json"), _in_words(names, example)


def _positive(parse: Any) -> BeforeValidator:
    return BeforeValidator(lambda value: parse(value, positive=True))


_TIME = _as(units.format_time_ps, units.TIME_PS, "2 us")
_BYTES = _as(units.format_bytes, units.BYTES, "64 B")
_SIZE = _as(units.format_bytes, [*units.BYTES, "flits?"], "64 B")

TimePs = Annotated[int, BeforeValidator(units.parse_time_ps), *_TIME]
PositiveTimePs = Annotated[int, _positive(units.parse_time_ps), *_TIME]
Bytes = Annotated[int, BeforeValidator(units.parse_bytes), *_BYTES]
PositiveBytes = Annotated[int, _positive(units.parse_bytes), *_BYTES]
PayloadBytes = Annotated[int, BeforeValidator(units.parse_bytes), *_SIZE]
"""The size of a packet. In networks that count flits, it may be written in flits: see ``in_flits``."""
MOST_MESSAGE_BYTES = 2**31 - 1


def _message_bytes(value: object) -> int:
    size_bytes = units.parse_bytes(value, positive=True)
    if size_bytes > MOST_MESSAGE_BYTES:
        raise units.UnitError(f"a message of {value} is too long", "the most is 2^31 - 1 bytes; send several")
    return size_bytes


MessageBytes = Annotated[int, BeforeValidator(_message_bytes), *_SIZE]
"""The size of a message, 1 to 2^31 - 1 bytes."""
AutoTimePs = Annotated[
    Literal["auto"] | int,
    BeforeValidator(lambda value: value if value == "auto" else units.parse_time_ps(value)),
    PlainSerializer(
        lambda value: value if value == "auto" else units.format_time_ps(value), when_used="json"
    ),
    WithJsonSchema({"anyOf": [{"const": "auto"}, {"type": "string", "examples": ["2 ms"]}]}),
]
CyclePs = Annotated[
    Any,
    BeforeValidator(units.parse_cycle_ps),
    *_as(units.format_cycle, [*units.TIME_PS, *units.FREQUENCY_MILLIHZ], "1 ns"),
]
"""A cycle in ps, an exact fraction; as a time or as a frequency."""
RateBitsPerS = Annotated[
    Any,
    _positive(units.parse_rate_bits_per_s),
    *_as(units.format_rate_bits_per_s, units.RATE_BITS_PER_S, "100 Mbit/s"),
]
ByteRateBitsPerS = Annotated[
    Any,
    _positive(units.parse_byte_rate_bits_per_s),
    *_as(units.format_byte_rate, [*units.BYTE_RATE_BITS_PER_S, *units.RATE_BITS_PER_S], "500 MB/s"),
]
EventRateMilliHz = Annotated[
    int,
    _positive(units.parse_event_rate_millihz),
    *_as(units.format_event_rate, units.EVENT_RATE_MILLIHZ, "45 kHz"),
]
OfferedRate = Annotated[
    str,
    BeforeValidator(lambda value: units.format_offered_rate(*units.parse_offered_rate(value))),
    _in_words(
        [*units.RATE_BITS_PER_S, *units.BYTE_RATE_BITS_PER_S, *units.PACKET_RATE_MILLIHZ], "120 Mbit/s"
    ),
]
"""Payload or packets per second, in the form of :func:`fabriloom.units.format_offered_rate`."""
LengthM = Annotated[
    float, BeforeValidator(units.parse_length_m), *_as(units.format_length_m, units.LENGTH_M, "2 m")
]
DelayPsPerM = Annotated[
    int,
    BeforeValidator(units.parse_delay_ps_per_m),
    *_as(units.format_delay_ps_per_m, units.DELAY_PS_PER_M, "5 ns/m"),
]

Count = Annotated[int, Field(ge=1, le=2**20)]
"""A number from 1 to 2^20; larger networks are refused."""
Whole = Annotated[int, Field(ge=0, le=2**31)]
Fraction = Annotated[float, Field(gt=0, le=1)]
Terminal = Annotated[int, Field(ge=0)] | str
"""A terminal by number or by name; in lists and flows also a range, such as ``"40..79"``."""
FileName = Annotated[str, Field(min_length=1, max_length=4096)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Shorthand:
    """A table with a short form: ``"uniform"`` stands for ``{kind = "uniform"}``."""

    def __init__(self, key: str, kind: str = "") -> None:
        """``key``: setting that the string gives; ``kind``: kind of the table, if the string does not."""
        self.key, self.kind = key, kind

    def expand(self, value: object) -> object:
        """Return the table that a string stands for; a number too, whose missing unit is then reported."""
        if isinstance(value, dict) and self.kind and "kind" not in value:
            return {"kind": self.kind, **value}
        number = self.kind and isinstance(value, int | float) and not isinstance(value, bool)
        if not isinstance(value, str) and not number:
            return value
        return {"kind": self.kind, self.key: value} if self.kind else {self.key: value}

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.expand, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        table = handler(schema)
        words = {"enum": list(table["discriminator"]["mapping"])}
        return {"anyOf": [{"type": "string", "examples": ["64 B"]} if self.kind else words, table]}


def with_tag(key: str, usual: str) -> BeforeValidator:
    """Return the check of a union whose tag is optional; ``usual``: the tag if it is not given."""
    return BeforeValidator(lambda table: {key: usual, **table} if isinstance(table, dict) else table)


class Later:
    """A type that is made when a file first has a value of it."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    @classmethod
    def of(cls, section: str, name: str) -> Later:
        """Return a type of a module of ``sections``, imported when a file first has a value of it."""
        return cls(lambda: getattr(import_module(f"fabriloom.scenario.sections.{section}"), name))

    @cached_property
    def made(self) -> Any:
        return self._make()

    @cached_property
    def _checks(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.made)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(lambda value: self._checks.validate_python(value))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        self._checks.rebuild()
        return handler(core_schema.definitions_schema(self._checks.core_schema, []))  # refers to it by name


def later(section: str, name: str) -> Any:
    """Return :meth:`Later.of` as the type of a field."""
    return Annotated[Any, Later.of(section, name)]


def tables(model: type[BaseModel], key: str) -> dict[str, Later]:
    """Return a table by each of the words that its key can have."""
    return dict.fromkeys(get_args(model.model_fields[key].annotation), Later(lambda: model))


class OneOf:
    """A union of tables that a word tells apart; the checks of each are built when a file first has it."""

    def __init__(self, key: str, tables: Mapping[str, Later] | None = None) -> None:
        """``tables``: the table of each word, if not those of the annotated union."""
        self.key, self.tables = key, tables

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        found = dict(self.tables or {})
        for model in () if found else get_args(source):
            found |= tables(model, self.key)
        choices = {word: handler.generate_schema(Annotated[Any, table]) for word, table in found.items()}
        return core_schema.tagged_union_schema(choices, self.key)


# Values of a file with their places: the common part of scenarios and requirements.


class Written(Section):
    """A file: its values as written, and the place of each."""

    _raw: dict[str, Any] = PrivateAttr(default_factory=dict)
    _source: SourceMap = PrivateAttr(default_factory=SourceMap)
    _base_dir: FilePath = PrivateAttr(default_factory=FilePath)

    def _read_from(self, raw: dict[str, Any], source: SourceMap, base_dir: FilePath) -> None:
        """Store the data, their source and their folder after the checks."""
        self._raw, self._source, self._base_dir = raw, source, base_dir

    @property
    def raw(self) -> dict[str, Any]:
        """The data as written; do not change them."""
        return self._raw

    @property
    def source(self) -> SourceMap:
        """The places of the values in the file."""
        return self._source

    @property
    def base_dir(self) -> FilePath:
        """Folder to which paths in the file are relative."""
        return self._base_dir

    def error(
        self, message: str, path: Path | None = None, hint: str = "", key: bool = False
    ) -> ScenarioError:
        """Return an error that points at the value, or the key, at a dotted path of this file."""
        place = self._source.place(path, key) if path else None
        tried = [override for override in self._source.overrides if override.written not in (None, place)]
        if tried:
            values = " and ".join(f"{override.key} = {override.value}" for override in tried)
            hint = f"{hint}; tried with {values}" if hint else f"tried with {values}"
        return ScenarioError(message, path, hint, place, self._source.file)
