import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import groundkit_providers
import pytest

SOURCE = Path(groundkit_providers.__file__).parent
SURFACE = {
    "groundkit_providers.answer": ["AnswerPipeline", "AnswerReport", "SearchCallable"],
    "groundkit_providers.budget": ["Dropped", "estimate_tokens", "within_budget"],
    "groundkit_providers.fetch": [
        "MAX_BYTES",
        "check_url",
        "fetch",
        "fetch_all",
        "read_url_list",
    ],
    "groundkit_providers.claims": [
        "Closeness",
        "all_verified",
        "closest_passages",
        "sentences",
        "uncited_sentences",
    ],
    "groundkit_providers.config": [
        "DEFAULT_API_KEY_ENV",
        "DEFAULT_CHAT_MODEL",
        "DEFAULT_OLLAMA_BASE_URL",
        "ChatConfig",
        "EmbeddingConfig",
        "resolve_chat_config",
        "resolve_embedding_config",
    ],
    "groundkit_providers.embeddings": [
        "OllamaEmbedder",
        "OpenAICompatibleEmbedder",
        "build_embedder",
        "open_embedder",
    ],
    "groundkit_providers.judge": [
        "DEFAULT_JUDGE_TEMPLATE",
        "JUDGE_SYSTEM",
        "FaithfulnessJudge",
        "FaithfulnessVerdict",
    ],
    "groundkit_providers.llm": [
        "OllamaChat",
        "OpenAICompatChat",
        "RedactingChat",
        "Request",
        "ScriptedChatProvider",
        "build_chat",
        "is_sent_away",
    ],
    "groundkit_providers.names": ["NameDetector", "NameList", "SpacyNameDetector"],
    "groundkit_providers.protocols": ["ChatProtocol"],
    "groundkit_providers.query_rewrite": [
        "DEFAULT_REWRITE_TEMPLATE",
        "REWRITE_SYSTEM",
        "QueryRewriter",
    ],
    "groundkit_providers.redaction": [
        "DEFAULT_PATTERNS",
        "RedactionConfig",
        "RedactionPattern",
        "RedactionResult",
        "Redactor",
        "find_spans",
    ],
    "groundkit_providers.synthesis": [
        "DEFAULT_SYNTHESIS_TEMPLATE",
        "SYNTHESIS_SYSTEM",
        "SynthesizedAnswer",
        "Synthesizer",
    ],
    "groundkit_providers.testing": ["RecordingChat", "ScriptedChatProvider"],
}
MODULES = [
    "groundkit_providers",
    *(found.name for found in pkgutil.walk_packages([str(SOURCE)], "groundkit_providers.")),
]


def public(module: ModuleType) -> list[str]:
    names: list[str] = getattr(module, "__all__", [])
    return names


@pytest.mark.parametrize("name", SURFACE)
def test_the_public_names_are_these(name: str) -> None:
    assert public(importlib.import_module(name)) == SURFACE[name]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_says_what_is_public_and_each_name_exists_once(name: str) -> None:
    module = importlib.import_module(name)
    names = public(module)
    assert [each for each in names if not hasattr(module, each)] == []
    assert len(set(names)) == len(names)
    defined = [
        each
        for each, value in vars(module).items()
        if not each.startswith("_") and getattr(value, "__module__", None) == name
    ]
    assert not defined or hasattr(module, "__all__")


def borrowed() -> Iterator[tuple[str, str, str]]:
    """Each name that a module takes from another of the package or of the core."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            module = getattr(node, "module", None) or ""
            if isinstance(node, ast.ImportFrom) and module.startswith("groundkit_"):
                for alias in node.names:
                    yield str(path.relative_to(SOURCE)), module, alias.name


def test_modules_take_only_public_names_from_one_another() -> None:
    found = list(borrowed())
    assert len(found) > 50
    private = [
        (user, module, name)
        for user, module, name in found
        if name not in public(importlib.import_module(module)) and f"{module}.{name}" not in MODULES
    ]
    assert private == []


def documented() -> Iterator[tuple[str, object]]:
    """Modules, their public classes and functions, and the methods of these classes."""
    for name in MODULES:
        module = importlib.import_module(name)
        yield name, module
        for each in public(module):
            value = getattr(module, each)
            if not (inspect.isclass(value) or inspect.isfunction(value)):
                continue
            yield f"{name}.{each}", value
            members = vars(value).items() if inspect.isclass(value) else ()
            for member, found in members:
                is_method = isinstance(found, property | classmethod | staticmethod | FunctionType)
                ours = member == "model_name" or not member.startswith(("_", "model_"))
                if is_method and ours:
                    yield f"{name}.{each}.{member}", found


def test_all_public_things_have_a_docstring() -> None:
    things = dict(documented())
    assert len(things) > 80
    bare = [
        name
        for name, value in things.items()
        if not (getattr(value, "__doc__", None) or "").strip()
    ]
    assert bare == [
        "groundkit_providers.protocols.ChatProtocol.provider",
        "groundkit_providers.protocols.ChatProtocol.model_name",
    ]
