import pytest

from benchmarks.documents import words


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("# A **bo**ld *word*", "A bold word"),
        ("[the link](http://a.b/c_(d)) .", "the link ."),
        ("![alt text](data:image/png;base64,AAAA) a", "alt text a"),
        ("<!-- image --> a <!--\nb --> c", "a c"),
        ("- [x] done\n- [ ] not done", "done not done"),
        (r"$\frac{a_{1}}{b}$ \_ \*", "a 1 b"),
        ("| a | b |\n| - | - |", "a b"),
        ("`code()` ~~gone~~ &lt;p&gt; &amp;", "code gone p"),
        ("STRASSE Straße", "strasse strasse"),
    ],
)
def test_words_are_those_of_the_document_and_not_of_markdown(markdown: str, plain: str) -> None:
    assert words(markdown) == plain.casefold().replace(".", " ").split()
