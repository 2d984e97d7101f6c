"""Planted markers tell whether a citation leads to the text that answers."""

import itertools
import re
import secrets
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

pytest.importorskip("groundkit_providers", reason="the check asks a model (groundkit-evals[llm])")

from groundkit_core.errors import ChatError, EvalError
from groundkit_core.index.collection import Collection
from groundkit_evals import echo
from groundkit_evals.artifacts import read_artifact, write_artifact
from groundkit_evals.echo import EchoCase, EchoOutcome, EchoReport, check, run_echo
from groundkit_evals.plants import PLANTS, Plant
from groundkit_evals.runner import STRUCTURAL
from groundkit_evals.synthesis import synthesis_identity
from groundkit_providers.llm import RedactingChat
from groundkit_providers.protocols import ChatProtocol
from groundkit_providers.redaction import RedactionConfig, RedactionPattern
from groundkit_providers.synthesis import DEFAULT_SYNTHESIS_TEMPLATE
from pydantic import ValidationError

from tests.evals.answering import Replying, sources_in
from tests.providers.answering_helpers import run, scripted

POSITIVE, DECOY, ABSENT = "GK-ECHO-aa01", "GK-ECHO-bb02", "GK-ECHO-cc03"
RIGHT, WRONG = f"It starts at 40 bar, {POSITIVE}.", f"It starts at 65 bar, {DECOY}."
SHOWN = (POSITIVE, DECOY)
MARKER = re.compile(r"GK-ECHO-[0-9a-f]{12}")
SILENT = "The sources do not say."
CHECKED: dict[str, tuple[str, list[str | None], EchoOutcome]] = {
    "cites what answers": ("40 bar [1].", [RIGHT], "passed"),
    "repeats its marker": (f"40 bar, {POSITIVE} [1].", [RIGHT], "passed"),
    "repeats it in upper case": (f"40 bar, {POSITIVE.upper()} [1].", [RIGHT], "passed"),
    "cites it from two places": ("40 bar [1, 2].", [RIGHT, RIGHT], "passed"),
    "cites the decoy": ("65 bar [2].", [WRONG], "wrong_source"),
    "cites both": ("40 bar [1][2].", [RIGHT, WRONG], "wrong_source"),
    "cites the decoy first": ("40 bar [2][1].", [WRONG, RIGHT], "wrong_source"),
    "cites a text without a marker": ("40 bar [1].", ["It starts at 40 bar."], "wrong_source"),
    "cites an empty text": ("40 bar [1].", [""], "wrong_source"),
    "does not resolve": ("40 bar [1].", [None], "unresolved"),
    "one of two does not resolve": ("40 bar [1][2].", [RIGHT, None], "unresolved"),
    "leaks and does not resolve": (f"40 bar, {ABSENT} [1].", [None], "leaked"),
    "says the absent marker": (f"40 bar, {ABSENT} [1].", [RIGHT], "leaked"),
    "says it in another case": (f"40 bar, {ABSENT.upper()} [1].", [RIGHT], "leaked"),
    "says it without a citation": (f"See {ABSENT}.", [], "leaked"),
    "says it within a word": (f"40 bar (x{ABSENT}z) [1].", [RIGHT], "leaked"),
    "cites a text that holds it": ("40 bar [1].", [f"{RIGHT} {ABSENT}"], "leaked"),
    "makes a marker up": ("40 bar, GK-ECHO-0123 [1].", [RIGHT], "leaked"),
    "lengthens a marker": (f"40 bar, {POSITIVE}0 [1].", [RIGHT], "leaked"),
    "cuts a marker": (f"40 bar, {POSITIVE[:-1]} [1].", [RIGHT], "leaked"),
    "cites nothing": (SILENT, [], "abstained"),
    "names a marker but cites nothing": (f"It says {POSITIVE}.", [], "abstained"),
}


@pytest.mark.parametrize("name", CHECKED)
def test_an_answer_is_checked(name: str) -> None:
    answer, cited, outcome = CHECKED[name]
    found, reason = check(answer, cited, POSITIVE, SHOWN)
    assert found == outcome
    assert (reason is None) == (outcome in ("passed", "abstained"))


def test_a_leak_is_named() -> None:
    _, reason = check(f"40 bar, {ABSENT} [1].", [RIGHT], POSITIVE, SHOWN)
    assert reason is not None
    assert ABSENT.lower() in reason.lower()


def plant_of(prompt: str) -> Plant:
    """The plant that a prompt asks about."""
    (found,) = (plant for plant in PLANTS if f"Question: {plant.question}\n" in prompt)
    return found


def numbers(prompt: str) -> tuple[int, int]:
    """The number of the text that answers, and that of the decoy."""
    plant = plant_of(prompt)
    start = plant.positive.partition("{marker}")[0]
    first, second = sources_in(prompt)
    assert first.startswith(start) != second.startswith(start)
    return (1, 2) if first.startswith(start) else (2, 1)


def markers(prompt: str) -> tuple[str, str]:
    """The marker of the text that answers, and that of the decoy."""
    found = [MARKER.findall(source) for source in sources_in(prompt)]
    (first,), (second,) = found
    return (first, second) if numbers(prompt)[0] == 1 else (second, first)


def honest(prompt: str) -> str:
    return f"The text {markers(prompt)[0]} says so [{numbers(prompt)[0]}]."


def deceived(prompt: str) -> str:
    return f"It says so [{numbers(prompt)[1]}]."


def inventive(prompt: str) -> str:
    return f"The text GK-ECHO-0123456789ab says so [{numbers(prompt)[0]}]."


def planted_files() -> list[Path]:
    """The files planted at this moment, below the folder for temporary files."""
    return sorted(Path(tempfile.gettempdir()).rglob("planted/*.txt"))


def spoiling(prompt: str) -> str:
    """Change what is cited before the answer comes back."""
    for path in planted_files():
        path.write_text("Nothing of the kind.\n", "utf-8")
    return honest(prompt)


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "echo.jsonl"


def outcomes(chat: ChatProtocol, journal: Path) -> list[EchoOutcome]:
    return [case.outcome for case in run(run_echo(chat, journal)).cases]


def blind(
    answer: str,  # noqa: ARG001
    cited: Sequence[str | None],
    positive: str,  # noqa: ARG001
    shown: Sequence[str],  # noqa: ARG001
) -> tuple[EchoOutcome, str | None]:
    """A checker that does not look: whatever is cited is right."""
    return ("passed" if cited else "abstained"), None


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [(inventive, "leaked"), (deceived, "wrong_source"), (spoiling, "unresolved")],
)
def test_a_fault_is_seen_and_would_not_be_by_a_checker_that_does_not_look(
    journal: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    reply: Callable[[str], str],
    outcome: EchoOutcome,
) -> None:
    def assert_seen(journal: Path) -> None:
        assert outcomes(Replying(reply), journal) == [outcome] * len(PLANTS)

    assert_seen(journal)
    monkeypatch.setattr(echo, "check", blind)
    with pytest.raises(AssertionError):
        assert_seen(tmp_path / "blind.jsonl")


def test_the_absent_marker_itself_is_recognised(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = (f"{number:012x}" for number in itertools.count(0xABC0))
    monkeypatch.setattr(secrets, "token_hex", lambda size: next(drawn)[: 2 * size])

    def leaking(prompt: str) -> str:
        absent = int(markers(prompt)[1].removeprefix("GK-ECHO-"), 16) + 1
        return f"The text gk-echo-{absent:012X} says so [{numbers(prompt)[0]}]."

    for case in run(run_echo(Replying(leaking), journal)).cases:
        assert case.outcome == "leaked"
        assert case.absent.lower() in (case.reason or "").lower()


def test_an_honest_model_passes_every_case(journal: Path) -> None:
    chat = Replying(honest)
    report = run(run_echo(chat, journal))
    assert report.count("passed") == len(report.cases) == len(PLANTS) >= 5
    assert report.chat == synthesis_identity(chat)
    assert report.warnings == ()
    for case, plant in zip(report.cases, PLANTS, strict=True):
        assert (case.id, case.question) == (plant.id, plant.question)
        assert case.answer is not None
        assert case.positive in case.answer
        assert case.cited == ("planted/answers.txt",)
        assert case.reason is None


@pytest.mark.parametrize("always", [1, 2])
def test_whoever_always_cites_one_number_is_right_in_every_second_case(
    journal: Path, always: int
) -> None:
    found = outcomes(Replying(lambda _: f"It says so [{always}]."), journal)
    pair = ["wrong_source", "passed"] if always == 1 else ["passed", "wrong_source"]
    assert found == pair * (len(PLANTS) // 2)


def test_both_texts_cited_is_no_pass(journal: Path) -> None:
    assert set(outcomes(Replying(lambda _: "It says so [1][2]."), journal)) == {"wrong_source"}


def test_other_outcomes_of_a_script_are_counted(journal: Path) -> None:
    others = (SILENT, "It says so [3].", "", "It is [1](x).", SILENT, "<think>[1]</think>")
    report = run(run_echo(scripted(*others), journal))
    assert [case.outcome for case in report.cases] == [
        *("abstained", "rejected", "rejected"),
        *("rejected", "abstained", "rejected"),
    ]
    first, second, third, *_ = report.cases
    assert (first.answer, first.cited, first.reason) == (SILENT, (), None)
    assert second.reason == "the answer cites [3], but it had 2 sources"
    assert "no answer text" in (third.reason or "")
    assert report.count("abstained") == 2
    assert report.warnings == (STRUCTURAL["scripted"],)


def test_markers_are_new_in_every_run_and_all_differ(tmp_path: Path) -> None:
    drawn = []
    for number in range(2):
        report = run(run_echo(Replying(honest), tmp_path / f"{number}.jsonl"))
        drawn += [
            marker for case in report.cases for marker in (case.positive, case.decoy, case.absent)
        ]
    assert len(drawn) == len(set(drawn)) == 2 * 3 * len(PLANTS)
    assert all(MARKER.fullmatch(marker) for marker in drawn)


def test_a_prompt_shows_its_own_two_markers_and_no_absent_one(journal: Path) -> None:
    chat = Replying(honest)
    report = run(run_echo(chat, journal))
    for case, prompt in zip(report.cases, chat.prompts, strict=True):
        assert sorted(MARKER.findall(prompt)) == sorted((case.positive, case.decoy))
        assert markers(prompt) == (case.positive, case.decoy)
    everything = "".join(chat.prompts)
    assert not any(case.absent in everything for case in report.cases)


def test_the_order_says_nothing(journal: Path) -> None:
    chat = Replying(honest)
    run(run_echo(chat, journal))
    firsts = [numbers(prompt)[0] for prompt in chat.prompts]
    assert firsts == [2, 1] * (len(PLANTS) // 2)


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.id)
def test_both_texts_of_a_plant_are_found_and_each_holds_its_marker(
    tmp_path: Path, plant: Plant
) -> None:
    for name, text in (("answers", plant.positive), ("decoy", plant.decoy)):
        assert text.count("{marker}") == 1
        (tmp_path / f"{name}.txt").write_text(text, "utf-8")
    with Collection.open(tmp_path / "index") as collection:
        collection.ingest([tmp_path])
        results = collection.search(plant.question).results
    assert len(results) == 2
    assert all("{marker}" in result.content for result in results)


def test_plants_differ_in_their_ids_and_questions() -> None:
    assert len({plant.id for plant in PLANTS}) == len(PLANTS)
    assert len({plant.question for plant in PLANTS}) == len(PLANTS)


def test_a_plant_whose_question_finds_one_text_is_an_error(journal: Path) -> None:
    lonely = Plant("lonely", "Where is the zebra?", "The zebra {marker}.\n", "A horse {marker}.\n")
    with pytest.raises(EvalError, match="'lonely': its question finds 1 of the two texts"):
        run(run_echo(Replying(honest), journal, [lonely]))


def test_what_is_read_again_is_the_cited_passage_and_not_its_file(journal: Path) -> None:
    beside = "A horse grazes beside the gate. " * 25
    plant = Plant(
        "long",
        "Where is the zebra?",
        f"The zebra is here. {beside}\n\n{beside} Note {{marker}}.\n",
        "The zebra is there (note {marker}).\n",
    )
    (case,) = run(run_echo(Replying(lambda _: "It is here [2]."), journal, [plant])).cases
    assert (case.outcome, case.cited) == ("wrong_source", ("planted/answers.txt",))


HIDE = RedactionConfig(
    patterns=(RedactionPattern(name="MARKER", pattern="GK-ECHO-[0-9a-f]+"),),
)


@pytest.mark.parametrize("config", [None, HIDE], ids=["default patterns", "markers hidden"])
def test_markers_come_back_right_from_behind_redaction(
    journal: Path, config: RedactionConfig | None
) -> None:
    def copying(prompt: str) -> str:
        number = numbers(prompt)[0]
        source = sources_in(prompt)[number - 1]
        (shown,) = re.findall(r"\[MARKER_\d+\]|GK-ECHO-\w+", source)
        return f"The text {shown} says so [{number}]."

    inner = Replying(copying)
    report = run(run_echo(RedactingChat(inner, config), journal))
    assert report.redacted
    assert report.count("passed") == len(PLANTS)
    for case in report.cases:
        assert case.positive in (case.answer or "")
    if config is HIDE:
        assert not MARKER.search("".join(inner.prompts))


def test_without_redaction_none_is_reported(journal: Path) -> None:
    assert not run(run_echo(Replying(honest), journal)).redacted


def test_nothing_planted_is_left_behind(journal: Path) -> None:
    seen: list[Path] = []

    def looking(prompt: str) -> str:
        seen.extend(planted_files())
        return honest(prompt)

    run(run_echo(Replying(looking), journal))
    assert len(seen) == 2 * len(PLANTS)
    assert list(Path(tempfile.gettempdir()).iterdir()) == []
    with pytest.raises(ChatError):
        run(run_echo(scripted(), journal))
    assert list(Path(tempfile.gettempdir()).iterdir()) == []


def test_a_model_that_fails_ends_the_run_and_finished_cases_are_kept(journal: Path) -> None:
    with pytest.raises(ChatError, match="one more was asked for"):
        run(run_echo(scripted(SILENT, "It says so [1]."), journal))
    rest = scripted(*[SILENT] * (len(PLANTS) - 2))
    report = run(run_echo(rest, journal))
    assert len(rest.calls) == len(PLANTS) - 2
    # The positions are those of a run that was not stopped.
    assert [case.outcome for case in report.cases[:3]] == ["abstained", "passed", "abstained"]
    asked = [prompt.partition("Question: ")[2] for prompt, _ in rest.calls]
    assert [prompt.splitlines()[0] for prompt in asked] == [plant.question for plant in PLANTS[2:]]


def test_another_model_redaction_or_set_of_plants_begins_anew(journal: Path) -> None:
    run(run_echo(scripted(*[SILENT] * len(PLANTS)), journal))
    other = Replying(honest)
    run(run_echo(other, journal))
    assert len(other.prompts) == len(PLANTS)
    run(run_echo(RedactingChat(other), journal))
    assert len(other.prompts) == 2 * len(PLANTS)
    run(run_echo(RedactingChat(other), journal, PLANTS[:2]))
    assert len(other.prompts) == 2 * len(PLANTS) + 2
    run(run_echo(RedactingChat(other), journal, PLANTS[:2]))
    assert len(other.prompts) == 2 * len(PLANTS) + 2


def test_progress_is_told_for_every_case(journal: Path) -> None:
    told: list[tuple[str, int, int]] = []
    run(run_echo(Replying(honest), journal, progress=lambda *step: told.append(step)))
    count = len(PLANTS)
    assert told == [("echo", done, count) for done in range(count + 1)]


def test_the_artifact_is_read_back_as_it_was(journal: Path, tmp_path: Path) -> None:
    report = run(run_echo(Replying(deceived), journal))
    path = tmp_path / "echo-latest.json"
    write_artifact(path, report)
    assert read_artifact(path, EchoReport) == report
    assert report.schema_version == 1
    assert report.corpus == "planted for this run"
    with pytest.raises(ValidationError):
        EchoReport.model_validate({**report.model_dump(), "schema_version": 2})
    assert EchoCase.model_validate_json(report.cases[0].model_dump_json()) == report.cases[0]


def test_the_question_is_asked_as_any_other(journal: Path) -> None:
    chat = scripted(*[SILENT] * len(PLANTS))
    run(run_echo(chat, journal))
    for prompt, _ in chat.calls:
        rest = DEFAULT_SYNTHESIS_TEMPLATE.replace("{query}", plant_of(prompt).question)
        begin, end = rest.split("{sources}")
        assert prompt.startswith(begin)
        assert prompt.endswith(end)
