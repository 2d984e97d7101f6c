"""What a model reads of a result: text with everything that it has to cite."""

from pathlib import Path

from tests.service.support import Desk, desk, library


def test_results_are_listed_with_place_verdict_and_address(ask: Desk) -> None:
    answer = ask("mcp", "search", query="plumber leaks", top_k=1)
    (result,) = answer.ok["results"]
    cited = result["citation"]
    assert answer.text == (
        f"1 passage of default, generation {answer.body['generation']}\n\n"
        f"[1] {result['title']} | docs/boiler.md, lines {cited['lines'][0]}-{cited['lines'][1]}"
        f" > Boiler > Alarm | verified\n"
        f"chunk_id {cited['chunk_id']}, characters {cited['start']}-{cited['end']}\n"
        f"{result['content']}"
    )


def test_a_window_is_shown_with_what_is_left_out(ask: Desk) -> None:
    (result,) = ask("mcp", "search", query="five bar", top_k=1).ok["results"]
    chunk_id = result["citation"]["chunk_id"]
    answer = ask("mcp", "fetch_chunk", chunk_id=chunk_id, after=1)
    here, there = answer.ok["passages"]
    lines = here["citation"]["lines"]
    assert answer.text == (
        f"{answer.body['title']} | docs/pump.md, lines {lines[0]}-{lines[1]} > Pump manual > Start"
        f" | verified: {answer.body['verification']['reason']}\n"
        f"{answer.body['before']} passages before these, {answer.body['after']} after them\n\n"
        + "\n\n".join(
            f"chunk_id {each['citation']['chunk_id']}, "
            f"characters {each['citation']['start']}-{each['citation']['end']}\n{each['content']}"
            for each in (here, there)
        )
        + "\n\nThere are more passages: repeat the call with cursor "
        + answer.body["next_cursor"]
    )


def test_no_result_is_said_in_words(ask: Desk) -> None:
    answer = ask("mcp", "search", query="zyzzyva")
    assert answer.text.startswith("0 passages of default, generation")


def test_more_results_are_announced_with_their_cursor(tmp_path: Path) -> None:
    index = library(tmp_path, {f"{at}.md": f"valve {at} {'word ' * 150}\n" for at in range(20)})
    with desk(index, response_bytes=10_000) as ask:
        answer = ask("mcp", "search", query="valve", top_k=20)
    cursor = answer.ok["next_cursor"]
    assert answer.text.endswith(f"There are more results: repeat the call with cursor {cursor}")
