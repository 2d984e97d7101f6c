from textwrap import dedent

import pytest
from groundkit_core.loading.code import MEDIA_TYPES, blocks

from tests.core.chunking.passages import chunks, path_at
from tests.core.timing import HOSTILE, check_linear, repeated


def headings(text: str) -> list[tuple[int, str]]:
    return [(block.level, block.title) for block in blocks(text) if block.kind == "heading"]


def titles(text: str) -> list[str]:
    return [title for _, title in headings(text) if title]


PYTHON = '''\
"""Docs.

class Fake:
    def nothing(self): pass
"""
import os

X = '"""'


@app.route(
    "/x",
    methods=["GET"],
)
# Why.
def view(
    a: int,
) -> str:
    """Say.

def fake():
    """
    def nested(): return 1

    return nested()


class A(Base):
    """One."""

    x = 1

    @property
    def name(self) -> str:
        return f"""
y = 1
"""

    z = property(name)

    async def go(self, b: int) -> None:
        pass


if __name__ == "__main__":
    main()
'''


def test_definitions_of_python_are_headings_by_their_indentation() -> None:
    assert headings(PYTHON) == [
        (1, "def view"),
        (1, "class A(Base)"),
        (2, "def name(self) -> str"),
        (2, ""),
        (2, "async def go(self, b: int) -> None"),
        (1, ""),
    ]


def test_comments_and_decorators_stand_with_their_definition() -> None:
    spans = [PYTHON[b.start : b.end] for b in blocks(PYTHON) if b.kind == "heading"]
    assert spans[0] == '@app.route(\n    "/x",\n    methods=["GET"],\n)\n# Why.\ndef view(\n'
    assert spans[2] == "    @property\n    def name(self) -> str:\n"


def test_a_type_above_the_name_of_a_function_belongs_to_it() -> None:
    text = "#include <a.h>\n\n// Adds.\nstatic int *\nadd(int a)\n{\n    return a;\n}\n"
    [heading] = [block for block in blocks(text) if block.kind == "heading"]
    assert text[heading.start : heading.end] == "// Adds.\nstatic int *\nadd(int a)\n"
    assert heading.title == "add(int a)"


def test_a_passage_has_the_definitions_around_it_as_its_path() -> None:
    passages = chunks(PYTHON, "code")
    assert path_at(PYTHON, "import os", passages) == ()
    assert path_at(PYTHON, "return nested", passages) == ("def view",)
    assert path_at(PYTHON, "y = 1", passages) == ("class A(Base)", "def name(self) -> str")
    assert path_at(PYTHON, "z = property", passages) == (
        "class A(Base)",
        "async def go(self, b: int) -> None",
    )
    assert path_at(PYTHON, "main()", passages) == ()


def test_a_function_that_fits_is_one_passage() -> None:
    passages = [chunk.content for chunk in chunks(PYTHON, "code")]
    start, end = PYTHON.index("@app"), PYTHON.index("\n\n\nclass A(Base)")
    assert PYTHON[start:end] in passages


def test_a_long_function_is_divided_at_blank_lines_and_its_head_stays_with_its_body() -> None:
    parts = [f"    a{n} = 1\n    b{n} = a{n}\n" for n in range(9)]
    text = "def long():\n" + "\n".join(parts)
    contents = [chunk.content for chunk in chunks(text, "code", size=15)]
    assert contents[0].startswith("def long():\n    a0 = 1")
    assert all(content.splitlines()[0].strip().startswith("a") for content in contents[1:])
    assert {chunk.heading_path for chunk in chunks(text, "code", size=15)} == {("def long()",)}


def test_a_long_comment_above_a_definition_is_divided_under_its_name() -> None:
    comment = "".join(f"// line {n} of the comment\n" for n in range(60))
    text = f"{comment}func Run() error {{\n\treturn nil\n}}\n"
    passages = chunks(text, "code", size=40)
    assert len(passages) > 5
    assert {chunk.heading_path for chunk in passages} == {("func Run() error",)}
    assert all(block.end - block.start < 100 for block in blocks(text))


CASES = {
    "javascript": (
        """
        import { x } from "y";
        export default class Foo extends Bar {
          constructor(a, b = 1) {
            super();
          }
          async load({ id }) {
            if (id) {
              items.forEach((x) => {
                go();
              });
            }
            const s = `
        function fake() {
        `;
          }
          static of = (a) => {
            return a;
          }
          get name() { return 1 }
        }
        export const handler = async (req) => {
          return new Response("x");
        };
        Foo.prototype.bar = function (x) {
        };
        describe("foo", () => {
          it("works", () => {});
        });
        function* ids() {
        }
        """,
        [
            "export default class Foo extends Bar",
            "constructor(a, b = 1)",
            "async load({ id })",
            "static of = (a) =>",
            "get name()",
            "export const handler = async (req) =>",
            "Foo.prototype.bar = function (x)",
            "function* ids()",
        ],
    ),
    "typescript": (
        """
        export interface Props<T> { a: T }
        export type Id = string | number;
        abstract class A {
          private async load(id: Id, done: () => void): Promise<void> {
            return await fetch(id);
          }
        }
        declare module "x" {
        }
        enum Color { Red }
        """,
        [
            "export interface Props<T>",
            "export type Id = string | number;",
            "abstract class A",
            "private async load(id: Id, done: () => void): Promise<void>",
            'declare module "x"',
            "enum Color",
        ],
    ),
    "java": (
        """
        package a.b;
        /**
         * class Fake {
         */
        @Entity
        public class A<T> extends B implements C {
            private final int x = f(1);
            public A(int x) {
                super(x);
            }
            @Override public String toString() { return "A"; }
            protected <T> Map<String, List<T>> find(String name, int max)
                    throws IOException {
                for (int i = 0; i < max; i++) {
                    throw new IllegalArgumentException("x");
                }
                synchronized (this) {
                }
                return find(name, 1);
            }
            abstract void nothing();
        }
        record Point(int x, int y) {}
        @interface Marker {}
        """,
        [
            "public class A<T> extends B implements C",
            "public A(int x)",
            "@Override public String toString()",
            "protected <T> Map<String, List<T>> find(String name, int max)",
            "record Point(int x, int y)",
            "@interface Marker",
        ],
    ),
    "csharp": (
        """
        using System;
        namespace Foo
        {
            [Serializable]
            public sealed class Bar : IBar
            {
                public int X { get; set; }
                public override string ToString() => $"{X}";
                private static void Go(string[] args)
                {
                    using (var s = Open()) {
                    }
                    foreach (var a in args) {
                    }
                }
            }
        }
        """,
        [
            "namespace Foo",
            "public sealed class Bar : IBar",
            'public override string ToString() => $"{X}";',
            "private static void Go(string[] args)",
        ],
    ),
    "c": (
        """
        #include <stdio.h>
        typedef struct node {
            int value;
        } node;
        struct node first = { 1 };
        int declared(int a);
        /* Adds. */
        static int
        add(int a,
            int b)
        {
            if (a) {
                return declared(a);
            }
            while (b) {
            }
        out:
            return a + b;
        }
        int main(int argc, char **argv) {
            return 0;
        }
        """,
        ["typedef struct node", "add", "int main(int argc, char **argv)"],
    ),
    "c++": (
        """
        namespace foo {
        template <typename T>
        class Box : public Base {
         public:
          explicit Box(T v) : v_(v) {}
          ~Box() override;
          bool operator==(const Box& o) const { return v_ == o.v_; }
        };
        class Forward;
        template <typename T>
        Box<T>::~Box() {
          delete v_;
        }
        std::vector<int> make(const std::string& s) noexcept {
          auto f = [&](int x) { return x; };
          return {};
        }
        }
        """,
        [
            "namespace foo",
            "class Box : public Base",
            "explicit Box(T v) : v_(v)",
            "bool operator==(const Box& o) const",
            "Box<T>::~Box()",
            "std::vector<int> make(const std::string& s) noexcept",
        ],
    ),
    "go": (
        """
        package main
        // Server serves.
        type Server struct {
        \taddr string
        }
        type Runner interface {
        }
        func (s *Server) Run(ctx context.Context) error {
        \tgo func() {
        \t}()
        \tfor i := range f(x) {
        \t}
        }
        var q = `
        func fake() {
        `
        func Map[T any](xs []T) []T {
        }
        """,
        [
            "type Server struct",
            "type Runner interface",
            "func (s *Server) Run(ctx context.Context) error",
            "func Map[T any](xs []T) []T",
        ],
    ),
    "rust": (
        """
        use std::fmt;
        /// A point, isn't it.
        #[derive(Debug)]
        pub struct Point<T> {
            x: T,
        }
        impl<T: fmt::Display> fmt::Display for Point<T>
        where
            T: Copy,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.x {
                    _ => write!(f, "{}", self.x),
                }
            }
            #[inline] pub(crate) async fn go<'a>(&'a self) -> &'a str { "x" }
        }
        macro_rules! square {
        }
        mod tests {
            #[test]
            fn works() {
            }
        }
        pub trait Shape {}
        mod other;
        """,
        [
            "pub struct Point<T>",
            "impl<T: fmt::Display> fmt::Display for Point<T>",
            "fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result",
            "#[inline] pub(crate) async fn go<'a>(&'a self) -> &'a str",
            "macro_rules! square",
            "mod tests",
            "fn works()",
            "pub trait Shape",
        ],
    ),
    "ruby": (
        """
        # A shelf.
        module Library
          class Shelf < Base
            def initialize(books = [])
              @books = books
            rescue => e
              raise
            end
            def self.empty?
              new.books.each do |b|
                puts b
              end
            end
          end
        end
        =begin
        class Fake
        =end
        """,
        ["module Library", "class Shelf < Base", "def initialize(books = [])", "def self.empty?"],
    ),
    "php": (
        """
        <?php
        namespace App;
        final class User extends Model {
            public function name(): string {
                if ($x) {
                }
                foreach ($a as $b) {
                }
            }
            private static function &ref($a = NULL) {
            }
        }
        function helper($x) {
        }
        """,
        [
            "final class User extends Model",
            "public function name(): string",
            "private static function &ref($a = NULL)",
            "function helper($x)",
        ],
    ),
    "kotlin": (
        """
        data class P(val a: Int)
        @Composable
        fun Screen(modifier: Modifier) {
            Column(modifier) {
            }
        }
        fun String.shout(): String = uppercase()
        object Single {
            suspend fun <T> go(t: T): T {
                return withContext(Dispatchers.IO) {
                    t
                }
            }
        }
        """,
        [
            "data class P(val a: Int)",
            "fun Screen(modifier: Modifier)",
            "fun String.shout(): String = uppercase()",
            "object Single",
            "suspend fun <T> go(t: T): T",
        ],
    ),
    "swift": (
        """
        public protocol Shape { func area() -> Double }
        extension Foo: Shape {
            @objc func area() -> Double {
                guard let x = y else { return 0 }
            }
            init?(a: Int) {
            }
            var body: some View {
                VStack(alignment: .leading) {
                }
            }
        }
        """,
        [
            "public protocol Shape",
            "extension Foo: Shape",
            "@objc func area() -> Double",
            "init?(a: Int)",
        ],
    ),
    "scala": (
        """
        package a
        case class P(x: Int)
        trait Shape extends Base {
          def area(x: Int): Double =
            x * 2
        }
        object Main extends App {
        }
        """,
        [
            "case class P(x: Int)",
            "trait Shape extends Base",
            "def area(x: Int): Double",
            "object Main extends App",
        ],
    ),
    "shell": (
        """
        #!/bin/bash
        log() {
          echo "it's $1" > /tmp/*.log
        }
        function build
        {
          make
        }
        for f in src/*.c; do
          build "$f"
        done
        """,
        ["log()", "function build"],
    ),
    "sql": (
        """
        -- Users.
        CREATE TABLE users (
          id int PRIMARY KEY,
          type VARCHAR(20),
          class text
        );
        CREATE UNIQUE INDEX IF NOT EXISTS users_id ON users (id);
        INSERT INTO users VALUES (1, 'a');

        create or replace function f() returns trigger as $$
        declare
        x int;
        begin
          return new;
        end;
        $$ language plpgsql;
        """,
        [
            "CREATE TABLE users",
            "CREATE UNIQUE INDEX IF NOT EXISTS users_id ON users (id);",
            "create or replace function f() returns trigger as $$",
        ],
    ),
    "lua": (
        """
        local function helper(x)
          return function() end
        end
        function M.go(a, b)
        end
        M.other = function(self)
        end
        """,
        ["local function helper(x)", "function M.go(a, b)", "M.other = function(self)"],
    ),
    "r": ("area <- function(r) {\n  pi * r^2\n}\n", ["area <- function(r)"]),
    "perl": (
        """
        package A;
        sub new { bless {} }
        sub go {
          if ($x) {
          }
        }
        =head1 NAME

        sub fake {

        =cut

        sub last
        {
        }
        """,
        ["sub new", "sub go", "sub last"],
    ),
    "elixir": (
        "defmodule App.User do\n  def name(u) do\n    u\n  end\n  defp go(x), do: x\nend\n",
        ["defmodule App.User do", "def name(u) do", "defp go(x), do: x"],
    ),
}


@pytest.mark.parametrize("language", CASES)
def test_definitions_are_found_by_how_they_read(language: str) -> None:
    text, expected = CASES[language]
    assert titles(dedent(text)) == expected


@pytest.mark.parametrize("language", CASES)
def test_line_ends_and_surroundings_do_not_decide_what_is_a_definition(language: str) -> None:
    text, expected = CASES[language]
    text = dedent(text)
    assert titles(text.replace("\n", "\r\n")) == expected
    assert titles(f"x = 1\n\n{text}") == expected


@pytest.mark.parametrize(
    "line",
    [
        "return foo(x) {",
        "else if (x) {",
        "foo(a, b);",
        "setup(\n    name='x',\n)",
        "class_name = 1",
        "type(x)",
        "import (",
        "x = foo(a) {",
        'describe("a", () => {',
        "items.map((x) => {",
        "class Forward;",
        "struct node *next;",
        "# def commented():",
        "// class Commented {",
        "the class of things",
        "function of the pump",
        "int declared(int a);",
        "print('def x():')",
    ],
)
def test_what_only_looks_like_a_definition_is_none(line: str) -> None:
    assert titles(f"{line}\n  body\n") == []


def test_a_body_that_is_not_indented_ends_at_a_statement_beneath_a_blank_line() -> None:
    function = (
        "create function f() returns int as $$\nselect 1;\nend;\n$$ language sql;\nselect 2;\n"
    )
    for text in (f"{function}\nselect 3;\n", "namespace a {\nint x;\n}\n\nselect 3;\n"):
        _, end = [block for block in blocks(text) if block.kind == "heading"]
        assert (text[end.start : end.end], end.title) == ("select 3;\n", "")


def test_a_pattern_of_paths_begins_no_comment() -> None:
    assert titles("cp src/* out\nbuild() {\n  make\n}\ncat */x\n") == ["build()"]


def test_an_unclosed_string_or_comment_hides_nothing() -> None:
    for opener in ('"""', "'''", "/*", "`", "x = 'it", 'echo "'):
        assert titles(f"{opener}\ndef one():\n    pass\n") == ["def one()"]


def test_a_long_string_hides_what_looks_like_a_definition() -> None:
    for quote in ('"""', "'''", "`"):
        assert titles(f"x = {quote}\ndef one():\n{quote}\ndef two():\n    pass\n") == ["def two()"]


def test_media_types_are_given_by_suffixes() -> None:
    assert MEDIA_TYPES[".py"] == MEDIA_TYPES[".pyi"] == "text/x-python"
    assert MEDIA_TYPES[".mjs"] == "text/javascript"
    wanted = (
        ".py .pyi .js .mjs .cjs .ts .tsx .jsx .java .kt .c .h .cc .cpp .hpp .cs .go .rs .rb .php"
        " .swift .scala .sh .bash .sql .lua .r .pl"
    )
    assert set(wanted.split()) <= MEDIA_TYPES.keys()
    assert all(suffix == suffix.lower() for suffix in MEDIA_TYPES)


@pytest.mark.parametrize(
    "unit",
    [
        *HOSTILE,
        *("def ", "def a\n", "(", "f(", "f(\n", "a(b,\n", "/*", " /* ", '"""', "'''", "`", "\\`"),
        *('"', "'", '"\\"', "@a(", "@a(\n", "#[", "class a ", "export ", "\n", " ", "{", "}\n"),
        *("create a ", "a = ", "function ", "a => ", "a: a: ", "template <", "=pod\n", "\t\n", "<"),
        *(
            "def a():\n  x\n",
            "class a:\n def b():\n",
            "int a(int b) {\n}\n",
            "#\n",
            "  def a\n x\n",
        ),
    ],
)
def test_hostile_code_is_read_in_linear_time(unit: str) -> None:
    check_linear(blocks, lambda size: repeated(unit, size), 100_000)


@pytest.mark.parametrize("unit", ["a ", "a,", "a(", "a<", "a.", "::", '"', "export ", "x=>", "@a "])
def test_lines_as_long_as_a_definition_may_be_are_read_in_linear_time(unit: str) -> None:
    line = (unit * 400)[:399] + "\n"
    check_linear(blocks, lambda size: line * (size // 400), 200_000)
