"""Labelled retrieval sets, read from a folder beside the repository."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundkit_evals.metrics import Span

from benchmarks.report import BenchmarkError

__all__ = ["SETS", "LabelledSet", "Question", "claims", "data_folder", "load", "rows"]

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

_XQUAD = {
    "ar": "arabic",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "hi": "hindi",
    "ro": "romanian",
    "ru": "russian",
    "th": "none",
    "tr": "turkish",
    "vi": "none",
    "zh": "none",
}
SETS = {
    "scifact": "english",
    "covid_faq_en": "english",
    "covid_faq_de": "german",
    **{f"xquad/{code}": language for code, language in _XQUAD.items()},
    "jsquad_ja": "none",
    "chunk_eval": "english",
}
"""Language of each set's texts, by the stemmer's name."""


@dataclass(frozen=True)
class Text:
    id: str
    title: str
    text: str

    @property
    def searched(self) -> str:
        """Title and text in one."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True)
class Question:
    """A query, the documents that are relevant to it, and where its answers stand."""

    text: str
    gains: dict[str, float]
    answers: tuple[Span, ...] = ()


@dataclass(frozen=True)
class LabelledSet:
    name: str
    language: str
    texts: list[Text]
    questions: list[Question]

    @property
    def answers_are_alternatives(self) -> bool:
        """Whether any one answer is enough; elsewhere all are parts of one."""
        return self.name.startswith("jsquad")


def data_folder(name: str) -> Path:
    """A folder of the data beside the repository."""
    folder = DATA / name
    if not folder.is_dir():
        raise BenchmarkError(f"../shared/data/{name} is not here, and it is what is measured")
    return folder


def load(name: str) -> LabelledSet:
    """A set by its name."""
    if name not in SETS:
        raise BenchmarkError(f"no set is called {name!r}; one of: {', '.join(SETS)}")
    folder = data_folder(name)
    gains: dict[str, dict[str, float]] = {}
    with gzip.open(folder / "qrels.tsv.gz", "rt", encoding="utf-8") as stream:
        next(stream)
        for line in stream:
            query, document, gain = line.split("\t")
            gains.setdefault(query, {})[document] = float(gain)
    texts = [Text(row["_id"], row["title"], row["text"]) for row in rows(folder / "corpus")]
    questions = [
        Question(row["text"], gains[row["_id"]], tuple(map(_span, row.get("answers", ()))))
        for row in rows(folder / "queries")
        if row["_id"] in gains
    ]
    return LabelledSet(name, SETS[name], texts, questions)


def claims(split: str) -> list[Question]:
    """The claims of scifact's `dev`, which are its queries, or those of `train` that are not."""
    found: dict[str, list[Question]] = {"train": [], "dev": []}
    for row in rows(data_folder("scifact") / "claims"):
        gains = dict.fromkeys(row["cited_doc_ids"], 1.0)
        found[row["split"]].append(Question(row["claim"], gains))
    asked = {question.text for question in found["dev"]}
    return [each for each in found[split] if split == "dev" or each.text not in asked]


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a compressed file of lines."""
    with gzip.open(path.with_suffix(".jsonl.gz"), "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def _span(answer: dict[str, Any]) -> Span:
    return answer["doc"], answer["start"], answer["end"]
