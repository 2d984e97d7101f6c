import pytest

from tests.cli.shell import Shell


@pytest.fixture
def ids(indexed: Shell) -> dict[str, str]:
    """The chunk ids of the three passages, by their headings."""
    found = indexed("search", "the", "--json").json["results"]
    return {
        " › ".join(result["citation"]["heading_path"]): result["citation"]["chunk_id"]
        for result in found
    }


def test_a_passage_is_shown_with_its_neighbours(indexed: Shell, ids: dict[str, str]) -> None:
    ran = indexed("show", ids["Pump manual › Stop"], "--before", "1")
    assert ran.out == (
        "docs/pump.md:7-9  [verified]\n"
        "   # Pump manual\n\n   ## Start\n\n   Open the valve slowly. Wait for five bar.\n\n"
        " > ## Stop\n >\n > Close the valve. The pump stops in ten seconds.\n\n"
    )
    ran = indexed("show", ids["Pump manual › Start"])
    assert ran.lines[-1] == "   (1 passages after)"


def test_what_cannot_be_shown_is_an_error(indexed: Shell, ids: dict[str, str]) -> None:
    assert indexed("show", "nil", code=2).err == "grk: default: it holds no passage 'nil'\n"
    known = ids["Pump manual › Stop"]
    said = indexed("show", known, "--before", "-1", code=2).err
    assert said == "grk: before and after must be 0 to 1000\n"


def test_a_passage_whose_source_changed_is_shown_with_its_verdict(
    indexed: Shell, ids: dict[str, str]
) -> None:
    indexed.write("docs/pump.md", "Nothing.\n")
    ran = indexed("show", ids["Pump manual › Stop"])
    assert ran.lines[0] == "docs/pump.md:7-9  [drifted]"
