"""Finding out in which form a labelled set is."""

from pathlib import Path

from groundkit_core.errors import EvalError

from groundkit_evals.beir import is_beir, load_beir
from groundkit_evals.dataset import Dataset
from groundkit_evals.golden import is_golden, load_golden

__all__ = ["load_dataset"]


def load_dataset(folder: str | Path) -> Dataset:
    """The labelled set in a folder, in whichever of the known forms it is.

    `corpus/` with `judgments.jsonl`, whose gold are quotes; or BEIR's `corpus.jsonl`,
    `queries.jsonl` and `qrels`, whose gold are documents, or spans where queries have `answers`.
    """
    path = Path(folder)
    if is_golden(path):
        return load_golden(path)
    if is_beir(path):
        return load_beir(path)
    raise EvalError(
        f"{path}: no labelled set is here; it needs corpus/ and judgments.jsonl, or "
        "corpus.jsonl, queries.jsonl and qrels.tsv (or qrels/test.tsv)"
    )
