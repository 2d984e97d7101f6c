import pytest
from groundkit_providers.redaction import DEFAULT_PATTERNS, RedactionConfig, Redactor, find_spans

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n"
    "MIIEpAIBAAKCAQEA75MIIEpAIBAAKCAQEA75MIIEpAIBAAKCAQEA75MIIEpAIBAA\nq7\n"
    "-----END RSA PRIVATE KEY-----"
)
VALUES = {
    "EMAIL": [
        "x@example.co.uk",
        "bob@mail.dept.corp.example.com",
        "o'brien+x@EXAMPLE.org",
        "jörg@bücher.example",
        "bob%40example.com",
        "bob@[192.0.2.7]",
        '"john doe"@example.com',
        "a@b.com@c.org",
    ],
    "PHONE": [
        "+44 20 7946 0958",
        "4155550123",
        "(415) 555-0123",
        "1-415-555-0123 ext. 77",
        "+1 (415) 555.0123",
        "415-555-0123x45",
        "020 7946 0958",
        "+46 (0)8 928 571 38",
        "01.84.17.61.18",
        "+4915123456789",
        "001-518-640-0854",
        "510 070 891",
        "030/1234567",
    ],
    "IPV4": ["10.0.0.1", "192.168.100.254"],
    "IPV6": ["2001:db8::8a2e:370:7334", "fe80::1", "::ffff:192.0.2.1", "1:2:3:4:5:6:7:8"],
    "CARD": [
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "378282246310005",
        "3782 822463 10005",
        "30569309025904",
        "6304 0000 0000",
        "6304000000000000",
        "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "6205500000000000004",
    ],
    "IBAN": [
        "GB29NWBK60161331926819",
        "GB29 NWBK 6016 1331 9268 19",
        "gb29nwbk60161331926819",
        "DE89-3704-0044-0532-0130-00",
        "NO93 8601 1117 947",
        "DE89370400\n440532013000",
        "DE89.3704.0044.0532.0130.00",
        "DE8 9 3 7 0 4 0 0 4 4 0 5 3 2 0 1 3 0 0 0",
    ],
    "US_SSN": ["078-05-1120", "078 05 1120"],
    "API_KEY": [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "glpat-abcdefgh12345678abcd",
        "xoxb-123456789012-1234567890123-4mt0t4l1yf3k3sl4ck",
        "AIzaSyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe",
        "sk-proj-abcDEF0123456789abcdefghij",
        "sk-ant-api03-abc_DEF-0123456789abcdefghij",
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "github_pat_11ABCDEFG0abcdefghij_klmnop",
    ],
    "JWT": [JWT],
    "PRIVATE_KEY": [PEM, PEM.replace("\n", "\r\n"), PEM.replace("\n", "\\n")],
    "URL_USERINFO": ["user:pw@host", "user:p%40ss@db.example.com"],
}
LABELLED = [
    ("password=", "hunter2"),
    ("password=", "p&ss,w;rd(1"),
    ('"api_key": "', 'abc def"'),
    ("api_key: ", "ab12"),
    ("DB_PASSWORD=", "$ecret"),
    ("**Password:** ", "hunter2"),
    ("my password is ", "hunter2"),
    ("`password`: ", "`Portal Gun`"),
    ("PWD: ", "sunshine"),
    ("client_secret => ", "s3cr3ts3cr3t"),
    ("?password=", "abc"),
    ("Bearer ", "abc123def456"),
    ("Authorization: Basic ", "dXNlcjpwYXNz"),
    ("Server=x;Password=", "a;b1"),
    ("aws: ", "wJalrXUtnF9MI/K7MdENG3bPxRf2iCYzEXk8LpQy"),
    ("SSN ", "078051120"),
    ("Tel. ", "467 3395"),
    ("call me on ", "9472 7916"),
    ("postgres://", "u:p@ss@db:5432"),
    ("https://", "ghtoken@git.example"),
    ("amqp://", "user:p/w@mq.example"),
]
LEFT_ALONE = [
    "Version 1.2.3.4",
    "v1.2.3.4",
    "v 1.2.3.4",
    "version: 10.20.30.40",
    "version is 1.2.3.4",
    "256.1.1.1",
    "1.2.3.4.5",
    "1e6af72b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f",
    "ThisIsACamelCaseIdentifierOfFortyLetters",
    "SKU 800-123-4567-9",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "550e8400-e29b-41d4-a716-446655440000",
    "2020-04-16 11:34:35",
    "12.03.2019 10:15",
    "1700000000",
    "1700000000000",
    "$12,500,000.00",
    "12 500 000 EUR",
    "978-3-16-148410-0",
    "lodash@4.17.21",
    "std::vector",
    "12:30:45",
    "@handle",
    "4111 1111 1111 1112",
    "GB29NWBK60161331926818",
    "PL46 0000 0000 2046 3409 7300 4502",
    "is 89 000 EUR",
    "000-12-3456",
    "078-05-1120-1",
    "02:00:20:4D:4C:01",
    "password: str",
    "token = get_token()",
    "max_tokens: 409600",
    "api_key=${API_KEY}",
    "the bearer of news",
    "nginx:1.25@sha256:0123",
    "1914-1918",
    "0.4111111111111111",
    "https://example.com/a@b",
    "FV 0932/01/2026",
    "sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8KuxyaL3Qmaabcdefghijkl1aA",
    "-----BEGIN CERTIFICATE-----",
    "IMEI-350012359414358",
    "01.02.2003 10.15",
    "510 070 891 PLN",
    "4995550123",
    "loadUser2FromHttp3ServerByConnection5Pool",
    "https://gist.example.com/FFY00/eb02d9da2870aae547bc579b7e17a145",
    "order no. 4155550123",
    "sk-loading-spinner-container-large",
]
CASES = [(kind, value) for kind, values in VALUES.items() for value in values]
AROUND = [
    "Take {} now.",
    "{}",
    "({})",
    '"{}"',
    "a\n{}\nb",
    "x={} y",
    "Ask {}, please",
    "- {}; 茶 {}",
]


@pytest.mark.parametrize(("kind", "value"), CASES)
@pytest.mark.parametrize("around", AROUND)
def test_a_value_goes_as_a_whole_and_comes_back(kind: str, value: str, around: str) -> None:
    text = around.replace("{}", value)
    redactor = Redactor()
    result = redactor.redact(text)
    assert result.text == around.replace("{}", f"[{kind}_1]")
    assert result.counts == {kind: around.count("{}")}
    assert redactor.restore(result.text) == text


@pytest.mark.parametrize(("label", "value"), LABELLED)
def test_a_value_behind_its_label_goes_as_a_whole(label: str, value: str) -> None:
    text = f"set {label}{value} now"
    redactor = Redactor()
    result = redactor.redact(text)
    start = text.index(value)
    spans = find_spans(text, RedactionConfig())
    assert any(span[0] <= start and start + len(value) <= span[1] for span in spans)
    assert value not in result.text
    assert redactor.restore(result.text) == text


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_only_resembles_a_value_stays(text: str) -> None:
    assert Redactor().redact(f"The {text} here.").text == f"The {text} here."


def test_every_default_kind_is_shown_here() -> None:
    shown = {*VALUES, "SECRET"}
    assert shown == {pattern.name for pattern in DEFAULT_PATTERNS}


@pytest.mark.parametrize("cut", [40, 80, 120, 125])
def test_a_private_key_without_its_end_goes(cut: int) -> None:
    text = f"key: {PEM[:cut]}"
    assert Redactor().redact(text).text == "key: [PRIVATE_KEY_1]"


def test_a_private_key_without_its_beginning_goes() -> None:
    text = f"the end of it:\n{PEM[60:]}\nregards"
    assert Redactor().redact(text).text == "the end of it:\n[PRIVATE_KEY_1]\nregards"


def test_two_private_keys_are_two_values() -> None:
    assert (
        Redactor().redact(f"{PEM}\nand\n{PEM[:90]}").text == "[PRIVATE_KEY_1]\nand\n[PRIVATE_KEY_2]"
    )


def test_a_card_is_found_before_its_expiry_date_and_in_a_list() -> None:
    assert Redactor().redact("4111 1111 1111 1111 12/27").text == "[CARD_1] 12/27"
    text = "1234 4111 1111 1111 1111 5500 0000 0000 0004"
    assert Redactor().redact(text).text == "1234 [CARD_1] [CARD_2]"


def test_every_phone_of_a_list_is_found() -> None:
    numbers = [f"415-555-01{number}" for number in range(10, 30)]
    assert Redactor().redact(" ".join(numbers)).counts == {"PHONE": 20}
