import inspect

import pytest
from groundkit_core import errors

TREE = {
    "GroundkitError": "Exception",
    "ConfigurationError": "GroundkitError",
    "RetrievalError": "GroundkitError",
    "PassageNotFoundError": "RetrievalError",
    "IngestError": "GroundkitError",
    "MetadataError": "IngestError",
    "SourceError": "GroundkitError",
    "RefusedError": "SourceError",
    "CollectionError": "GroundkitError",
    "CollectionNotFoundError": "CollectionError",
    "CollectionLockedError": "CollectionError",
    "CollectionIncompatibleError": "CollectionError",
    "CollectionCorruptError": "CollectionError",
    "EmbeddingError": "GroundkitError",
    "EmbeddingProviderNotConfiguredError": "EmbeddingError",
    "RerankerNotConfiguredError": "GroundkitError",
    "ChatError": "GroundkitError",
    "ChatProviderNotConfiguredError": "ChatError",
    "ChatReplyError": "ChatError",
    "QueryRewriteError": "GroundkitError",
    "SynthesisError": "GroundkitError",
    "JudgeError": "GroundkitError",
    "EvalError": "GroundkitError",
}


def test_the_tree_is_this_one() -> None:
    found = {
        name: error.__bases__[0].__name__
        for name, error in inspect.getmembers(errors, inspect.isclass)
    }
    assert found == TREE
    assert sorted(errors.__all__) == sorted(TREE)


@pytest.mark.parametrize("name", TREE)
def test_every_error_is_caught_as_one_of_groundkit(name: str) -> None:
    error = getattr(errors, name)
    with pytest.raises(errors.GroundkitError, match="reason"):
        raise error("reason")
