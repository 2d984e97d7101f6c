"""Scores of a cross-encoder in a folder."""

import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from groundkit_core.errors import ConfigurationError, RerankerNotConfiguredError, RetrievalError
from groundkit_core.rerankers.onnx import CrossEncoderReranker
from groundkit_core.retrieval.rerank import RerankerProtocol
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.rerankers.cross_encoder import (
    SPECIAL,
    VOCABULARY,
    WORDS,
    expected,
    save_model,
    save_tokenizer,
    windows,
)

INT32 = 6  # onnx.TensorProto.INT32

ANSWER = ["w1", "w2", "w3"]
QUERY = " ".join(ANSWER)
FILLER = ["w30", "w31", "w32", "w33"]


def saved(folder: Path, *, truncation: int | None = None, **model: Any) -> Path:
    folder.mkdir(exist_ok=True)
    save_tokenizer(folder, truncation=truncation)
    save_model(folder, **model)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("models") / "overlap")


@pytest.fixture(scope="module")
def reranker(folder: Path) -> CrossEncoderReranker:
    return CrossEncoderReranker(folder)


def test_it_is_a_reranker_named_after_its_folder(reranker: CrossEncoderReranker) -> None:
    assert isinstance(reranker, RerankerProtocol)
    assert reranker.model_name == "overlap"


def test_a_score_is_the_logit_of_query_and_passage(reranker: CrossEncoderReranker) -> None:
    passages = ["w1 w5", "w4 w5", "", "w3 w2 w1 w1"]
    words = [passage.split() for passage in passages]
    assert reranker.scores(QUERY, passages) == pytest.approx(
        [expected(ANSWER, passage) for passage in words], abs=1e-6
    )
    assert reranker.scores(QUERY, []) == []


def test_an_answer_at_the_end_of_a_long_passage_counts_in_full(
    reranker: CrossEncoderReranker,
) -> None:
    long = [*FILLER * 500, *ANSWER]
    room = 512 - SPECIAL - len(ANSWER)
    last = list(windows(long, room, 64))[-1]
    long_score, short_score = reranker.scores(QUERY, [" ".join(long), "w1 w2"])
    assert long_score == pytest.approx(expected(ANSWER, last), abs=1e-6)
    assert long_score > 2.9 > 2 > short_score


WORD_LISTS = st.lists(st.sampled_from(WORDS), max_size=60)


@settings(max_examples=150, deadline=None)
@given(
    query=st.lists(st.sampled_from(WORDS), max_size=8),
    passage=WORD_LISTS,
    max_tokens=st.integers(12, 40),
    overlap=st.integers(0, 20),
)
def test_a_long_passage_scores_as_the_best_of_its_windows_scored_alone(
    folder: Path, query: list[str], passage: list[str], max_tokens: int, overlap: int
) -> None:
    asked = " ".join(query)
    reranker = CrossEncoderReranker(folder, max_tokens=max_tokens, window_overlap=overlap)
    room = max_tokens - SPECIAL - len(query)
    cut = list(windows(passage, room, min(overlap, room // 2)))
    (score,) = reranker.scores(asked, [" ".join(passage)])
    assert score == max(reranker.scores(asked, [" ".join(window) for window in cut]))
    assert score == pytest.approx(max(expected(query, window) for window in cut), abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(passages=st.lists(WORD_LISTS.map(" ".join), min_size=1, max_size=8))
def test_a_score_depends_on_no_other_passage(
    reranker: CrossEncoderReranker, passages: list[str]
) -> None:
    alone = [reranker.scores(QUERY, [passage])[0] for passage in passages]
    assert reranker.scores(QUERY, passages) == alone
    assert reranker.scores(QUERY, passages[::-1]) == alone[::-1]


def test_threads_change_no_score(folder: Path, reranker: CrossEncoderReranker) -> None:
    passages = ["w1 w5", " ".join(FILLER * 200), "w2"]
    two = CrossEncoderReranker(folder, threads=2)
    assert two.scores(QUERY, passages) == reranker.scores(QUERY, passages)


def test_a_query_that_just_leaves_room_is_read_whole(folder: Path) -> None:
    reranker = CrossEncoderReranker(folder, max_tokens=40)
    query = ["w9"] * 35 + ["w1"]
    passages = ["w1", "w2", "w2 w2 w1"]
    assert reranker.scores(" ".join(query), passages) == pytest.approx(
        [
            expected(query, ["w1"]),
            expected(query, ["w2"]),
            max(expected(query, [word]) for word in ["w2", "w1"]),
        ],
        abs=1e-6,
    )


def test_a_query_that_leaves_no_room_is_refused_with_the_numbers(folder: Path) -> None:
    reranker = CrossEncoderReranker(folder, max_tokens=40)
    with pytest.raises(RetrievalError) as caught:
        reranker.scores("w9 " * 37, ["w1"])
    assert str(caught.value) == (
        "the query has 37 tokens and overlap takes 40, 3 of them its own: that leaves no room for"
        " a passage"
    )


@pytest.mark.parametrize(
    ("own", "asked", "expected_limit"), [(None, None, 512), (100, None, 100), (100, 300, 300)]
)
def test_the_limit_is_the_one_given_or_else_the_tokenizers(
    tmp_path: Path, own: int | None, asked: int | None, expected_limit: int
) -> None:
    folder = saved(tmp_path / "m", truncation=own)
    assert CrossEncoderReranker(folder, max_tokens=asked).max_tokens == expected_limit


def test_the_tokenizers_own_cut_and_padding_are_off(tmp_path: Path) -> None:
    folder = saved(tmp_path / "m", truncation=20, positions=20)
    passage = [*FILLER * 20, *ANSWER]
    last = list(windows(passage, 20 - SPECIAL - 3, 7))[-1]
    assert CrossEncoderReranker(folder).scores(QUERY, [" ".join(passage)]) == pytest.approx(
        [expected(ANSWER, last)], abs=1e-6
    )


def test_a_passage_cannot_forge_a_separator(reranker: CrossEncoderReranker) -> None:
    assert VOCABULARY["SEP"] > VOCABULARY["[SEP]"]
    assert reranker.scores("[ SEP ]", ["[SEP] w1"]) == pytest.approx(
        [expected(["[", "SEP", "]"], ["[", "SEP", "]", "w1"])], abs=1e-6
    )


def test_of_two_logits_the_second_minus_the_first_counts(tmp_path: Path) -> None:
    folder = saved(tmp_path / "m", head="two")
    passages = ["w1 w2", "w8"]
    assert CrossEncoderReranker(folder).scores(QUERY, passages) == pytest.approx(
        [3 * expected(ANSWER, passage.split()) for passage in passages], abs=1e-5
    )


def test_inputs_of_32_bits_and_a_second_output_are_fine(
    tmp_path: Path, reranker: CrossEncoderReranker
) -> None:
    folder = saved(tmp_path / "m", integer=INT32, head="two", outputs=["score", "logits"])
    passages = ["w1 w2", "w8"]
    assert CrossEncoderReranker(folder).scores(QUERY, passages) == pytest.approx(
        [3 * score for score in reranker.scores(QUERY, passages)], abs=1e-5
    )


def test_a_model_that_gives_three_numbers_is_no_cross_encoder(tmp_path: Path) -> None:
    reranker = CrossEncoderReranker(saved(tmp_path / "m", head="three"))
    with pytest.raises(RerankerNotConfiguredError) as caught:
        reranker.scores(QUERY, ["w1"])
    assert str(caught.value) == "m gives 1 x 3 numbers for a pair, a cross-encoder one or two"


@pytest.mark.parametrize("head", ["nan", "infinite"])
def test_a_score_that_is_no_number_is_refused(tmp_path: Path, head: str) -> None:
    reranker = CrossEncoderReranker(saved(tmp_path / "m", head=head))
    with pytest.raises(RetrievalError) as caught:
        reranker.scores(QUERY, ["w1"])
    assert str(caught.value) == "m gave no finite score for a passage"


def test_a_limit_that_the_model_lacks_is_an_error_that_names_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    reranker = CrossEncoderReranker(saved(tmp_path / "m", positions=64), max_tokens=100)
    assert len(reranker.scores(QUERY, ["w4 " * (64 - SPECIAL - 3)])) == 1
    with pytest.raises(RetrievalError) as caught:
        reranker.scores(QUERY, ["w4 " * (65 - SPECIAL - 3)])
    assert str(caught.value) == ("m failed with InvalidArgument on 65 tokens; max_tokens is 100")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(tmp_path: Path, missing: str) -> None:
    folder = saved(tmp_path / "m")
    (folder / missing).unlink()
    with pytest.raises(RerankerNotConfiguredError) as caught:
        CrossEncoderReranker(folder)
    assert str(caught.value) == (
        f"{folder}: there is no {missing}; a cross-encoder is a folder with model.onnx and"
        " tokenizer.json"
    )


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(RerankerNotConfiguredError, match=r"nowhere: there is no model\.onnx"):
        CrossEncoderReranker(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("damaged", "reason"),
    [("model.onnx", "onnxruntime cannot load it"), ("tokenizer.json", "this is no tokenizer")],
)
def test_a_file_that_is_something_else_is_named(
    tmp_path: Path, damaged: str, reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = saved(tmp_path / "m")
    (folder / damaged).write_bytes(b"{}")
    with pytest.raises(RerankerNotConfiguredError) as caught:
        CrossEncoderReranker(folder)
    assert str(caught.value) == f"{folder / damaged}: {reason}"
    assert capfd.readouterr() == ("", "")


def test_a_tokenizer_that_cannot_join_a_pair_is_refused(tmp_path: Path) -> None:
    folder = saved(tmp_path / "m")
    save_tokenizer(folder, template=False)
    with pytest.raises(RerankerNotConfiguredError, match="no template for a pair of texts"):
        CrossEncoderReranker(folder)


def test_a_model_that_asks_for_more_than_a_pair_is_refused(tmp_path: Path) -> None:
    folder = saved(tmp_path / "m", extra_inputs=["pixels"])
    with pytest.raises(RerankerNotConfiguredError, match=r"asks for pixels as tensor\(int64\)"):
        CrossEncoderReranker(folder)


def test_a_single_output_may_have_any_name(tmp_path: Path, reranker: CrossEncoderReranker) -> None:
    folder = saved(tmp_path / "m", outputs=["score"])
    passages = ["w1 w2", "w8"]
    assert CrossEncoderReranker(folder).scores(QUERY, passages) == reranker.scores(QUERY, passages)


def test_several_outputs_need_one_called_logits(tmp_path: Path) -> None:
    folder = saved(tmp_path / "m", outputs=["score", "count"])
    with pytest.raises(RerankerNotConfiguredError, match="gives score, count, none of them"):
        CrossEncoderReranker(folder)


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_a_missing_extra_is_named_with_its_remedy(
    folder: Path, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(RerankerNotConfiguredError) as caught:
        CrossEncoderReranker(folder)
    assert str(caught.value) == (
        f"a cross-encoder needs {library}; install it with: pip install 'groundkit-core[onnx]'"
    )


@pytest.mark.parametrize(
    ("setting", "value", "reason"),
    [
        ("max_tokens", 0, "must be at least 1"),
        ("threads", 0, "must be at least 1"),
        ("window_overlap", -1, "must not be negative"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(
    folder: Path, setting: str, value: int, reason: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"{setting} is {value}, it {reason}"):
        CrossEncoderReranker(folder, **{setting: value})


def test_it_opens_no_socket(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    assert len(CrossEncoderReranker(folder).scores(QUERY, ["w1"])) == 1
