"""Lines of source code that begin a definition, or belong to the one below them."""

import re
from collections.abc import Iterable
from typing import Literal

__all__ = ["LONGEST_HEAD", "definition", "is_lead", "is_statement"]

LONGEST_HEAD = 12
"""Lines at most from the name of a function to the brace that opens its body."""

_LONGEST_LINE = 400

_MODIFIERS = (
    r"(?:(?:abstract|actual|annotation|async|case|companion|const|consteval|constexpr|convenience"
    r"|data|declare|default|dynamic|expect|explicit|export|external|file|fileprivate|final|friend"
    r"|implicit|indirect|infix|inline|inner|internal|lazy|local|mutating|native|new|nonmutating"
    r"|open|operator|override|partial|private|protected|public|readonly|ref|required|sealed|static"
    r"|strictfp|suspend|synchronized|tailrec|typedef|unsafe|value|virtual"
    r'|extern(?:\s*"[^"]{0,20}")?|pub(?:\s*\([^()]{0,40}\))?)\s+)*+'
)
_FUNCTIONS = (
    r"def(?:p|macrop?)?\s+[^\s=]",
    r"(?:fn|macro)\s+\w",
    r"fun\s+(?:<[^<>]{0,100}>\s*)?[\w`(]",
    r"func\s+(?:\([^()]{0,100}\)\s*)?[\w=<>+*/-]",
    r"function\b[\s*&]*[\w$][\w$.:-]*\s*(?:[({<]|$)",
    r"sub\s+\w+\s*(?:[({]|$)",
    r"macro_rules!\s*\w",
    (
        r"(?i:create\s+(?:or\s+(?:replace|alter)\s+)?(?:(?:\w+|=|\S+@\S+)\s+){0,4}?(?:table|view"
        r"|function|procedure|trigger|index|type|schema|database|sequence|role|policy|package"
        r"|extension|domain|aggregate|macro)\s+\S)"
    ),
)
_CONTAINERS = (
    r"(?:impl\b|def(?:module|impl|protocol)\b)(?:<|\s)[^;]*$",
    r"type\s+\w+\s*(?:[<\[][^=]{0,100}[>\]]\s*)?(?:=|struct\b|interface\b|func\b)",
    (
        r"(?:class|interface|@interface|trait|struct|enum(?:\s+(?:class|struct))?|union|extension"
        r"|record(?:\s+(?:class|struct))?|object|module|namespace|protocol|actor|mod)"
        r"\s+[\w$.:`\"'/-]+[!?]?\s*(?:[:({<\[]|//|/\*|\#|$"
        r"|(?:extends|implements|where|with|permits)\b)(?!.*;$)"
    ),
    r"record\s+\w+\s*\(",
)
_FUNCTION = re.compile(_MODIFIERS + "(?:" + "|".join(_FUNCTIONS) + ")")
_CONTAINER = re.compile(_MODIFIERS + "(?:" + "|".join(_CONTAINERS) + ")")
_ASSIGNED = re.compile(
    _MODIFIERS + r"(?:(?:let|var)\s+)?[\w$.'\"\[\]]{1,120}\s*"
    r"(?:(?:=|:|<-)\s*(?:async\s+)?function\b"
    r"|(?::[^=]{1,120})?=\s*(?:async\s+)?(?:\([^()]{0,200}\)|[\w$]{1,60})\s*(?::[^=]{1,100})?=>"
    r"\s*[({]?$)"
)
_ANNOTATIONS = re.compile(
    r"(?:(?:@(?!interface\b)[\w.]+(?:\([^()]{0,200}\))?|#\[[^\]]{0,200}\])\s+)++(?=\w)"
)
_HEAD = re.compile(r"[\w~$][\w\s$<>\[\],.*&:~?]*")
_OPERATOR = re.compile(r"\boperator\W+$")
_BRACKET = re.compile(r"[()]")
_CALL = re.compile(r"[\"'`]|\w\.\w|(?<!\.)\.[a-z]|=>")
_CONTROL = {
    "and", "assert", "await", "case", "catch", "defer", "delete", "do", "echo", "elif", "else",
    "elseif", "elsif", "except", "exec", "fixed", "for", "foreach", "from", "function", "given",
    "go", "guard", "if", "import", "in", "include", "let", "lock", "loop", "match", "new", "not",
    "or", "package", "print", "raise", "return", "select", "switch", "synchronized", "throw", "try",
    "typeof", "unless", "until", "using", "val", "var", "when", "while", "with", "yield",
}  # fmt: skip
_LEAD = re.compile(
    r"//|/\*|\*(?:[\s/]|$)|--|@[\w.]+(?:\(.*|(?:\s+@.*)?)$|template\s*<|\[.*\]$|#\["
    r"|#(?!\s*(?:define|elif|else|endif|error|if|ifdef|ifndef|include|line|pragma|undef)\b)"
    # A type or modifier on its own line, as in C and Ruby.
    r"|(?!(?:begin|break|continue|do|done|else|end|esac|fi|pass|return|then|try|yield)\b)"
    r"[A-Za-z_]\w*(?:[ \t]+\w+)*+[ \t]*\**$"
)
_STATEMENT = re.compile(
    r"(?!template\s*<|(?:as|begin|catch|done|elif|else|elsif|end|ensure|esac|except|fi|finally"
    r"|rescue|then|where)\b|\w+\s*:$|(?-i:[A-Z_]+$))[\w$\"'(]",
    re.IGNORECASE,
)


def definition(line: str, following: Iterable[str]) -> Literal["container", "function", ""]:
    """What a line without its indentation begins, if anything; `following` are those below.

    A container is a class, module or the like, whose definitions are of interest each.
    """
    if len(line) > _LONGEST_LINE:
        return ""
    line = _ANNOTATIONS.sub("", line, count=1) if line[0] in "@#" else line
    if _CONTAINER.match(line):
        return "container"
    assigned = ("=>" in line or "function" in line) and _ASSIGNED.match(line)
    if assigned or _FUNCTION.match(line) or ("(" in line and _is_function(line, following)):
        return "function"
    return ""


def is_lead(line: str) -> bool:
    """Whether a line is a comment, decorator, attribute or the like."""
    return _LEAD.match(line) is not None


def is_statement(line: str) -> bool:
    """Whether a line begins a statement, rather than go on with one or end a block."""
    return _STATEMENT.match(line) is not None


def _is_function(line: str, following: Iterable[str]) -> bool:
    """Whether a line is a name with parameters, types before it or not, before a body in braces."""
    head = line[: line.index("(")].rstrip()
    names = _OPERATOR.sub("operator", head)
    if not _HEAD.fullmatch(names):
        return False
    words = names.split()
    if words[0] in _CONTROL or words[-1] in _CONTROL or names[-1] in ",.:<":
        return False
    parameters, after, below = _parameters(line[len(head) :].lstrip(), following)
    alone = len(words) == 1
    if alone and ("." in names or _CALL.search(parameters)):
        return False
    after = re.split(r"//|/\*", after, maxsplit=1)[0].strip()
    if after.endswith("{"):
        return ";" not in after
    if after.endswith("}") or after.startswith("=>"):
        return not alone
    return ";" not in after and "=" not in after and below.startswith(("{", ":", "throws "))


def _parameters(text: str, following: Iterable[str]) -> tuple[str, str, str]:
    """What stands in the first brackets, what after them on the same line, and the line below."""
    below = iter(following)
    depth = position = 0
    for _ in range(LONGEST_HEAD):
        for match in _BRACKET.finditer(text, position):
            depth += 1 if match.group() == "(" else -1
            if depth == 0:
                return text[1 : match.start()], text[match.end() :], next(below, "").strip()
        position = len(text)
        text += next(below, "")
        if len(text) > LONGEST_HEAD * _LONGEST_LINE:
            break
    return "", ";", ""
