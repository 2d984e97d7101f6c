from contextlib import suppress
from pathlib import Path

import pytest
from groundkit_core.errors import ConfigurationError
from groundkit_providers.urls import allowed_hosts, check_url, is_allowed, read_url_list, shown
from hypothesis import example, given
from hypothesis import strategies as st

WRITTEN = {
    "http://docs.test": "http://docs.test/",
    "HTTP://Docs.TEST/": "http://docs.test/",
    "HTTP://docs.test:80/a": "http://docs.test/a",
    "https://docs.test:443?q": "https://docs.test/?q",
    "https://docs.test:80/": "https://docs.test:80/",
    "http://docs.test:/": "http://docs.test/",
    "http://docs.test/a#part": "http://docs.test/a",
    "http://docs.test/#": "http://docs.test/",
    "http://docs.test/?": "http://docs.test/?",
    "http://docs.test/a/../b/./c": "http://docs.test/b/c",
    "http://docs.test/a b": "http://docs.test/a%20b",
    "  http://docs.test/a ": "http://docs.test/a",
    "http://docs.test/é?é=ü": "http://docs.test/%C3%A9?%C3%A9=%C3%BC",
    "http://docs.test/%C3%A9%2f%zz": "http://docs.test/%C3%A9%2f%zz",
    "http://bücher.test/": "http://xn--bcher-kva.test/",
    "http://BÜCHER.test/": "http://xn--bcher-kva.test/",
    "http://xn--bcher-kva.test/": "http://xn--bcher-kva.test/",
    "http://docs.test./": "http://docs.test./",
    "http://a_b-c.docs.test/": "http://a_b-c.docs.test/",
    "http://@docs.test/": "http://docs.test/",
    "http://docs.test/@jo": "http://docs.test/@jo",
    "http://93.184.216.34/": "http://93.184.216.34/",
    "http://127.0.0.1:8000/": "http://127.0.0.1:8000/",
    "http://[::1]:8000/": "http://[::1]:8000/",
    "http://3m.test/": "http://3m.test/",
    "http://localhost": "http://localhost/",
}

REFUSED = {
    "": "an empty text: it must begin",
    "docs.test/a": "docs.test/a: it must begin",
    "//docs.test/a": "//docs.test/a: it must begin",
    "/etc/hosts": "/etc/hosts: it must begin",
    "ftp://docs.test/a": "ftp://docs.test/a: it must begin",
    "file:///etc/hosts": "file:///etc/hosts: it must begin",
    "https:docs.test": "https:docs.test: it names no host",
    "https:///a": "https:///a: it names no host",
    "http://:80/": "http://:80/: it names no host",
    "http:////]@": "http://: it is no URL",
    "http:////docs.test/": "http:////docs.test/: it is no URL",
    "https://jo@docs.test/a": "https://docs.test/a: it holds credentials",
    "https://jo:s3cret@docs.test/a?s3cret": "https://docs.test/a: it holds credentials",
    "https://:s3cret@docs.test/": "https://docs.test/: it holds credentials",
    "https://:@docs.test/": "https://docs.test/: it holds credentials",
    "https://jo:s3c/ret@docs.test/": "https://docs.test/: it is no URL",
    "https://jo:s3c?ret@docs.test/": "https://docs.test/: it is no URL",
    "https://jo:s3c#ret@docs.test/": "https://docs.test/: it is no URL",
    "https://docs.test:x/?s3cret": "https://docs.test:x/: it is no URL",
    "https://docs.test:0/": "https://docs.test:0/: there is no port 0",
    "https://docs.test:65536/": "https://docs.test:65536/: there is no such port",
    "https://docs.test:-1/": "https://docs.test:-1/: there is no such port",
    "https://[::1": "https://[::1: it is no URL",
    "https://[docs.test]/": "https://[docs.test]/: it is no URL",
    "https://[fe80::1%25eth0]/": "https://[fe80::1%25eth0]/: its host",
    "https://docs.test\\@inside.test/": "https://inside.test/: it holds credentials",
    "https://docs.test\\a/": "https://docs.test\\a/: its host",
    "https://docs%2etest/": "https://docs%2etest/: its host",
    "https://docs test/": "https://docs test/: its host",
    "https://docs,test/": "https://docs,test/: its host",
    "https://*.test/": "https://*.test/: its host",
    "https://./": "https://./: its host",
    "https://2130706433/": "https://2130706433/: its host",
    "https://0x7f000001/": "https://0x7f000001/: its host",
    "https://127.1/": "https://127.1/: its host",
    "https://127.0.0.1./": "https://127.0.0.1./: its host",
    "https://127.0.0.0x1/": "https://127.0.0.0x1/: its host",
    "https://256.1.1.1/": "https://256.1.1.1/: it is no URL",
    "https://docs.test/\n": "https://docs.test/: it is no URL",
    "https://docs.test/\r\nX: y": "https://docs.test/ X: y: it is no URL",
    "https://do\tcs.test/": "https://do cs.test/: it is no URL",
    "https://docs.test/\x00": "https://docs.test/?: it is no URL",
    "https://docs.test/\x7f": "https://docs.test/?: it is no URL",
    "https://docs.test/\ud800": "https://docs.test/?: it is no URL",
    "https://\udfff.test/": "https://?.test/: it is no URL",
    "https://docs.test/" + "a" * 70_000: "https://docs.test/aaa",
}


@pytest.mark.parametrize("url", WRITTEN)
def test_a_url_has_one_written_form(url: str) -> None:
    assert check_url(url) == WRITTEN[url]


@pytest.mark.parametrize("url", REFUSED, ids=range(len(REFUSED)))
def test_what_is_no_url_of_a_document_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        check_url(url)
    message = str(caught.value)
    assert message.startswith(REFUSED[url])
    assert "s3c" not in message
    assert message.isprintable()
    assert len(message) < 400
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


HOSTS = st.sampled_from(["docs.test", "Bücher.test", "127.0.0.1", "[::1]", "[0::1]", "a_b.test."])
PORTS = st.sampled_from(["", ":", ":80", ":443", ":8080", ":080"])
TAILS = st.text(st.sampled_from("/.?#%2fFé ü\\:@a&=;+|'\"<>[]~\u202e\x85"), max_size=12)
URLS = st.builds(
    "{}://{}{}{}".format,
    st.sampled_from(["http", "HTTPS", "Http"]),
    HOSTS,
    PORTS,
    TAILS.map(lambda tail: f"/{tail}" if tail and tail[0] not in "/?#" else tail),
)


@given(URLS)
@example("http://docs.test/..//a")
@example("HTTP://docs.test:80")
def test_the_written_form_is_its_own_written_form(url: str) -> None:
    found = check_url(url)
    assert check_url(found) == found
    assert found.isascii()
    assert found.isprintable()
    assert "#" not in found
    assert shown(found) == found.partition("?")[0]


@given(st.text(max_size=40).map("http://".__add__) | st.text(max_size=20))
def test_any_text_is_a_url_or_refused(text: str) -> None:
    with suppress(ConfigurationError):
        found = check_url(text)
        assert check_url(found) == found


NO_HOSTS = [
    *("", " ", "*", ".", "a/b", "[::1", "::1]", "[docs.test]", "fe80::1%1", "127.1", "10.0.0.0/8"),
    *("docs.test:", "docs.test:0", "docs.test:65536", "docs.test:x", "http://docs.test"),
    *("jo:s3cret@docs.test", "docs.test?s3cret", "a\nb", "\ud800"),
]
ALLOWED = [
    ("docs.test", "http://docs.test/", True),
    ("Docs.TEST.", "https://docs.test:8443/a", True),
    ("docs.test", "http://docs.test./", True),
    ("docs.test", "http://a.docs.test/", False),
    ("a.docs.test", "http://docs.test/", False),
    ("bücher.test", "http://xn--bcher-kva.test/", True),
    ("docs.test:443", "https://docs.test/", True),
    ("docs.test:443", "http://docs.test/", False),
    ("docs.test:80", "http://docs.test/", True),
    ("docs.test:80", "http://docs.test:8080/", False),
    ("127.0.0.1", "http://127.0.0.1:8000/", True),
    ("::1", "http://[0:0::1]/", True),
    ("[0::1]", "http://[::1]/", True),
    ("[::1]:8000", "http://[::1]:8000/", True),
    ("[::1]:8000", "http://[::1]/", False),
    ("::1", "http://127.0.0.1/", False),
]


@pytest.mark.parametrize(("entry", "url", "expected"), ALLOWED)
def test_a_host_is_allowed_however_it_is_written(entry: str, url: str, expected: bool) -> None:
    assert is_allowed(check_url(url), allowed_hosts([entry])) is expected
    assert is_allowed(check_url(url), allowed_hosts(["other.test", entry])) is expected
    assert not is_allowed(check_url(url), allowed_hosts([]))


@pytest.mark.parametrize("entry", NO_HOSTS, ids=range(len(NO_HOSTS)))
def test_what_is_no_host_is_not_allowed(entry: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        allowed_hosts([entry])
    message = str(caught.value)
    assert message.startswith("--allow-host: ")
    assert message.endswith(" is no host name or address, with or without a port")
    assert "s3cret" not in message
    assert message.isprintable()
    assert caught.value.__context__ is None


def test_a_long_url_is_cut_where_it_is_shown() -> None:
    assert shown(check_url("http://docs.test/" + "a" * 999)) == f"http://docs.test/{'a' * 183}…"


def test_a_list_holds_one_url_a_line_each_once(tmp_path: Path) -> None:
    lines = [
        "\ufeff# pages of the handbook",
        "http://docs.test/b",
        "",
        "   \t",
        "  http://docs.test/a  ",
        "http://docs.test/ü#part",
        "  # and again",
        "HTTP://docs.test:80/b",
        "http://docs.test/b#part",
    ]
    path = tmp_path / "urls.txt"
    path.write_text("\r\n".join(lines), encoding="utf-8")
    expected = ["http://docs.test/b", "http://docs.test/a", "http://docs.test/%C3%BC"]
    assert read_url_list(path) == expected


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"])
def test_a_list_may_hold_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "urls.txt"
    path.write_text(text, encoding="utf-8")
    assert read_url_list(path) == []


def test_a_line_that_is_no_url_is_named_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "urls.txt"
    path.write_text("# x\n\nhttp://docs.test/\nhttp://jo:s3cret@docs.test/a\n", encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        read_url_list(path)
    reason = "it holds credentials, and documents are fetched without any"
    assert str(caught.value) == f"{path}:4: http://docs.test/a: {reason}"


def test_a_list_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"gone\.txt: No such file"):
        read_url_list(tmp_path / "gone.txt")
    (tmp_path / "latin.txt").write_bytes(b"http://docs.test/\xfc\n")
    with pytest.raises(ConfigurationError, match=r"latin\.txt: it is not UTF-8"):
        read_url_list(tmp_path / "latin.txt")
