"""How settings come about: defaults, then what is stored, then flags."""

from collections.abc import Mapping
from typing import TypeVar

from groundkit_core.errors import ConfigurationError
from pydantic import BaseModel, ValidationError

__all__ = ["DEFAULT_API_KEY_ENV", "DEFAULT_OLLAMA_BASE_URL", "resolved"]

DEFAULT_OLLAMA_BASE_URL = "http://localhost:11434"
DEFAULT_API_KEY_ENV = "GROUNDKIT_OPENAI_API_KEY"

_M = TypeVar("_M", bound=BaseModel)


def resolved(
    shape: type[_M],
    section: str,
    option: str,
    settings: Mapping[str, object] | None,
    flags: Mapping[str, object],
) -> _M:
    """The defaults, overlaid by stored settings, overlaid by every flag that is not None.

    An empty `api_key_env` means that no key is sent. Stored settings may name only variables
    that begin with `GROUNDKIT_`, so that no file can send another program's secret away.
    Errors name a setting by its section, and a flag by the `option` that it begins with.
    """
    stored = dict(settings or {})
    name = stored.get("api_key_env")
    if isinstance(name, str) and name and not name.startswith("GROUNDKIT_"):
        raise ConfigurationError(
            f"{section}.api_key_env: {name} does not begin with GROUNDKIT_; "
            f"only {option}-api-key-env may name another variable"
        )
    asked = stored | {key: value for key, value in flags.items() if value is not None}
    if asked.get("api_key_env") == "":
        asked["api_key_env"] = None
    problem = ""
    try:
        return shape.model_validate(asked)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        problem = f"{section}.{'.'.join(map(str, first['loc']))}: {first['msg']}"
    raise ConfigurationError(problem)
