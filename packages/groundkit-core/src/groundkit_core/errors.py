"""The errors groundkit raises, shaped by what the caller does next."""

__all__ = [
    "ChatError",
    "ChatProviderNotConfiguredError",
    "ChatReplyError",
    "CollectionCorruptError",
    "CollectionError",
    "CollectionIncompatibleError",
    "CollectionLockedError",
    "CollectionNotFoundError",
    "ConfigurationError",
    "EmbeddingError",
    "EmbeddingProviderNotConfiguredError",
    "EvalError",
    "GroundkitError",
    "IngestError",
    "JudgeError",
    "MetadataError",
    "PassageNotFoundError",
    "QueryRewriteError",
    "RefusedError",
    "RerankerNotConfiguredError",
    "RetrievalError",
    "SourceError",
    "SynthesisError",
]


class GroundkitError(Exception):
    """Root of every error that groundkit raises on purpose."""


class ConfigurationError(GroundkitError):
    """A setting, flag or root is wrong or contradicts another."""


class RetrievalError(GroundkitError):
    """A search was asked for in a way that cannot be answered."""


class PassageNotFoundError(RetrievalError):
    """A collection holds no passage of an id."""


class IngestError(GroundkitError):
    """A whole ingest run was refused; the collection is as it was."""


class MetadataError(IngestError):
    """A value given as metadata cannot be stored and filtered by."""


class SourceError(GroundkitError):
    """A source could not be read."""


class RefusedError(SourceError):
    """A source was read, but its content cannot become text."""


class CollectionError(GroundkitError):
    """A collection on disk cannot be used."""


class CollectionNotFoundError(CollectionError):
    """There is no collection at the path."""

    def __init__(self, path: object) -> None:
        super().__init__(f"{path}: there is no collection here; make one with: grk ingest FOLDER")


class CollectionLockedError(CollectionError):
    """Another process is writing to the collection."""


class CollectionIncompatibleError(CollectionError):
    """The collection was made with other settings or by another version."""


class CollectionCorruptError(CollectionError):
    """A file of the collection is damaged or missing."""


class EmbeddingError(GroundkitError):
    """An embedder could not be reached, or what it gave are no usable vectors.

    `place` counts the texts of the call from 1 and is that of the one at fault, where one is.
    """

    def __init__(self, message: str, *, place: int | None = None) -> None:
        super().__init__(message)
        self.place = place


class EmbeddingProviderNotConfiguredError(EmbeddingError):
    """An embedder lacks something that only its user can give: an extra, a model, a key."""


class RerankerNotConfiguredError(GroundkitError):
    """A reranker lacks something that only its user can give: an extra, a model."""


class ChatError(GroundkitError):
    """A model could not be reached, or what it sent is no complete answer."""


class ChatProviderNotConfiguredError(ChatError):
    """A chat provider lacks something that only its user can give: a model, a key, a script."""


class ChatReplyError(ChatError):
    """A model was reached, but what it sent is no complete answer."""


class QueryRewriteError(GroundkitError):
    """A model's rewrite of a query was rejected."""


class SynthesisError(GroundkitError):
    """There was nothing to answer from, or a model's answer was rejected."""


class JudgeError(GroundkitError):
    """A model's verdict was rejected."""


class EvalError(GroundkitError):
    """A labelled set, a file of labels or an artifact of an evaluation cannot be used."""
