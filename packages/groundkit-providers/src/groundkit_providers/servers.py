"""The two kinds of server, whatever they are asked for: who may be reached, keys, refusals."""

import os

from groundkit_core.errors import ConfigurationError, GroundkitError

from groundkit_providers.addresses import ANYWHERE, NOT_PUBLIC, PUBLIC_ONLY
from groundkit_providers.endpoint import HttpModel
from groundkit_providers.http import Reply

__all__ = ["OllamaModel", "OpenAICompatModel"]


class OllamaModel(HttpModel):
    """A model of an Ollama server; loopback needs no permission."""

    _allow_private_endpoint = True
    _provider = "ollama"

    def __init__(
        self,
        *,
        model_name: str,
        base_url: str,
        timeout_seconds: float,
        allow_private_endpoint: bool,
    ) -> None:
        super().__init__(
            model_name=model_name,
            base_url=base_url,
            timeout_seconds=timeout_seconds,
            reach=ANYWHERE if allow_private_endpoint else PUBLIC_ONLY,
        )

    def _refusal(self, reply: Reply) -> GroundkitError:
        if reply.status in (401, 403):
            return self._boundary.not_configured(
                self._said(f"refused access ({reply.status})", reply)
            )
        if reply.status == 404:
            return self._boundary.not_configured(
                self._said("is not there (404)", reply)
                + f"; get it with: ollama pull {self._model_name}"
            )
        return super()._refusal(reply)


class OpenAICompatModel(HttpModel):
    """A model of a server that speaks OpenAI's protocol; the key is read at each call."""

    _provider = "openai_compatible"

    def __init__(
        self,
        *,
        model_name: str,
        base_url: str,
        api_key_env: str | None,
        timeout_seconds: float,
        allow_private_endpoint: bool,
    ) -> None:
        if api_key_env is None and not allow_private_endpoint:
            raise ConfigurationError(
                "api_key_env: going without a key is for private endpoints only "
                f"(allow_private_endpoint, {self._boundary.flags}-allow-private-endpoint)"
            )
        private = ANYWHERE if api_key_env is not None else NOT_PUBLIC
        super().__init__(
            model_name=model_name,
            base_url=base_url,
            timeout_seconds=timeout_seconds,
            reach=private if allow_private_endpoint else PUBLIC_ONLY,
        )
        self._base_url = self._base_url.removesuffix("/v1").rstrip("/")
        self._api_key_env = api_key_env

    def _key(self) -> str | None:
        name = self._api_key_env
        if name is None:
            return None
        key = os.environ.get(name, "")
        problem = ""
        if not key:
            if self._on_loopback:
                return None
            problem = f"{name} is not set; it must hold the key for {self._base_url}"
        elif not (key.isascii() and key.isprintable()) or " " in key:
            problem = f"the key in {name} holds characters that no key has"
        elif not (self._on_loopback or self._base_url.lower().startswith("https://")):
            problem = f"the key in {name} is not sent over plain HTTP to {self._base_url}"
        if problem and self._reach >= NOT_PUBLIC:
            flag = f"{self._boundary.flags}-api-key-env"
            problem += f"; an empty api_key_env ({flag} '') sends none"
        if problem:
            raise self._boundary.not_configured(problem)
        return key

    def _refusal(self, reply: Reply) -> GroundkitError:
        if reply.status in (401, 403):
            key = f"the key in {self._api_key_env}" if self._api_key_env else "a call without key"
            return self._boundary.not_configured(
                self._said(f"refused {key} ({reply.status})", reply)
            )
        if reply.status == 404:
            said = self._said("answered 404 (is the model's name right?)", reply)
            return self._boundary.error(said)
        return super()._refusal(reply)
