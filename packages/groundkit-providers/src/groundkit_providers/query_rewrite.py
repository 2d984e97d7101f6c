"""A model's rewrite of a question into words to search for."""

from groundkit_core.errors import QueryRewriteError, RetrievalError
from groundkit_core.retrieval.search import check_query

from groundkit_providers.framing import filled
from groundkit_providers.protocols import ChatProtocol

__all__ = ["DEFAULT_REWRITE_TEMPLATE", "REWRITE_SYSTEM", "QueryRewriter"]

REWRITE_SYSTEM = """\
Rewrite the question as one short search query for a keyword index. Keep names, numbers and \
identifiers exactly as they are written. Do not answer the question. Reply with the query alone: \
one line, no quotation marks, no explanation.
"""

DEFAULT_REWRITE_TEMPLATE = """\
Question: {query}

Search query:
"""


class QueryRewriter:
    """Asks a model for one query, once; what it returns is used as it is or rejected."""

    def __init__(
        self, chat: ChatProtocol, *, prompt_template: str = DEFAULT_REWRITE_TEMPLATE
    ) -> None:
        filled(prompt_template, {"query": ""})
        self._chat = chat
        self._template = prompt_template

    async def rewrite(self, query: str) -> str:
        """The rewritten query; `QueryRewriteError` if it is blank or too long to search for."""
        prompt = filled(self._template, {"query": query})
        reply = await self._chat.complete(prompt, system=REWRITE_SYSTEM)
        rewritten, problem = reply.strip(), ""
        try:
            check_query(rewritten)
        except RetrievalError as error:
            problem = str(error)
        if problem:
            raise QueryRewriteError(
                f"{self._chat.model_name}: no search takes its rewrite: {problem}"
            )
        return rewritten
