"""What every table of the configuration has in common. Knows no key."""

import re
from types import NoneType
from typing import get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from bot.config.kinds import json_list, problem


class Section(BaseModel):
    """One table of the configuration: frozen, and no key but its own."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False, validate_default=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _written(cls, value: object, info: ValidationInfo) -> object:
        """Read the forms a file or a variable can hold: "none" for no value, commas for a list; true is no number."""
        kind = cls.model_fields[info.field_name or ""].annotation
        if isinstance(value, bool) and kind is not bool and bool not in get_args(kind):
            raise problem("must not be true or false")
        if not isinstance(value, str):
            return value
        if NoneType in get_args(kind) and value.strip().lower() in ("", "none"):
            return None
        listed = tuple in (get_origin(each) for each in (kind, *get_args(kind)))
        if listed and value.lstrip().startswith("["):
            return json_list(value)
        if listed:
            return tuple(part for part in re.split(r"\s*[,，]\s*", value.strip()) if part)
        return value
