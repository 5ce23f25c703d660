import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.map.small_files import SOURCES

from goldseam.tools.map.languages import LANGUAGES, Language, language_of
from goldseam.tools.map.outline import MAX_SIGNATURE, outline_of
from goldseam.tools.map.sketch import NOTHING, sketch_of, words_in

OUTLINES = {
    "a.py": """\
3 LIMIT: int = 3
6 class Order( Base, metaclass=Meta )
12   def total(self) -> int
13     def inner()
16   async def send(self, to: str, *, later: bool = False) -> None
20 def parse(text)""",
    "a.js": """\
2 class Cart extends Base
3   static async load(id)
6   get size()
8 total = (lines) => lines.length
9 function* walk(tree)
12 function render(view)""",
    "a.ts": """\
1 interface Shape
2 type Point = { x: number };
3 enum Colour
4 abstract class Figure implements Shape
5   constructor(private name: string)
6   area(): number
8 function scale<T>(shape: T, by: number): T
11 half = (shape: Shape): Shape => scale(shape, 0.5)""",
    "a.tsx": """\
1 function Button({ label }: Props)
4 Panel = () => <Button label="x" />""",
    "a.go": """\
3 Server struct { port int }
7 Handler interface { Serve(path string) error }
11 func NewServer(port int) *Server
13 func (s *Server) Listen(ctx context.Context) error""",
    "a.rs": """\
1 pub struct Stack<T>
3 pub enum Colour
5 pub trait Draw
6   fn draw(&self) -> u8;
9 impl<T> Stack<T>
10   pub fn push(&mut self, item: T)
15 mod inner
16   pub(crate) fn helper()
19 macro_rules! twice { ($x:expr) => { $x; $x } }""",
    "A.java": """\
3 public class Account extends Base
6   public Account(int balance)
10   public synchronized void deposit(int amount) throws Refused
15   enum Kind
18 interface Ledger
19   void post(String entry);
22 record Pair(int left, int right)""",
    "a.c": """\
1 #define SQUARE(x) ((x) * (x))
3 struct node
7 typedef struct node node_t;
9 enum colour
11 static int compare(const void *left, const void *right);
13 char *copy_of(const char *text)
21 int main(void)""",
    "a.cpp": """\
1 namespace shapes
3   class Circle : public Shape
5     explicit Circle(double radius) : radius_(radius)
6     double area() const override
9   double Circle::scale(double by)
13   int &count()""",
    "a.rb": """\
1 module Shop
2   class Basket < Base
3     def add(item)
7     def self.load(path)""",
}


def never() -> bool:
    return False


def language(path: str) -> Language:
    found = language_of(path)
    assert found is not None
    return found


@pytest.mark.parametrize("path", OUTLINES)
def test_definitions_are_found_with_their_lines_and_their_places(path: str) -> None:
    found = outline_of(SOURCES[path].encode(), language(path), is_over=never)
    lines = [f"{item.line} {'  ' * item.depth}{item.signature}" for item in found]
    assert "\n".join(lines) == OUTLINES[path]


@pytest.mark.parametrize("path", OUTLINES)
def test_a_glance_sees_the_names_that_parsing_finds(path: str) -> None:
    content = SOURCES[path].encode()
    parsed = outline_of(content, language(path), is_over=never)
    assert set(sketch_of(content, language(path)).names.decode().split()) == {
        item.name for item in parsed
    }


def test_every_language_has_a_small_file_here() -> None:
    assert [language_of(path) for path in SOURCES] == list(LANGUAGES)


@pytest.mark.parametrize("path", ["README.md", "py", ".py/x", "a.PY", "Makefile", "a.", ""])
def test_other_files_have_no_language(path: str) -> None:
    assert language_of(path) is None


def test_the_rest_of_a_broken_file_is_found() -> None:
    broken = b"def first(:\n    pass\n\nclass Second:\n    def third(self): ...\n\x80\xff def\n"
    names = [item.name for item in outline_of(broken, language("a.py"), is_over=never)]
    assert {"Second", "third"} <= set(names)


def test_a_long_beginning_is_cut_and_kept_to_one_line() -> None:
    content = f"def f(\n    {', '.join(f'name_{n}' for n in range(90))}\n): ...".encode()
    (found,) = outline_of(content, language("a.py"), is_over=never)
    assert len(found.signature) == MAX_SIGNATURE
    assert found.signature.startswith("def f( name_0, name_1,")
    assert found.signature.endswith("…")


def test_parsing_ends_when_time_is_up_and_the_next_file_is_whole() -> None:
    long = b"def f():\n    x = 1\n" * 20_000
    assert outline_of(long, language("a.py"), is_over=lambda: True) == ()
    assert len(outline_of(b"def g(): ...", language("a.py"), is_over=never)) == 1


@given(st.sampled_from(sorted(SOURCES)), st.randoms(use_true_random=False))
def test_any_bytes_have_an_outline_and_a_sketch(path: str, dice: random.Random) -> None:
    content = bytearray(SOURCES[path].encode())
    for _ in range(dice.randrange(20)):
        place = dice.randrange(len(content))
        content[place : place + dice.randrange(9)] = dice.randbytes(dice.randrange(4))
    for item in outline_of(bytes(content), language(path), is_over=never):
        assert item.line >= 1
        assert len(item.signature) <= MAX_SIGNATURE
        assert "\n" not in item.signature
    sketch = sketch_of(bytes(content), language(path))
    assert set(sketch.names.split()) <= set(sketch.words.split())


def test_a_file_with_nul_bytes_is_no_text() -> None:
    assert sketch_of(b"def name(): ...\0", language("a.py")) == NOTHING


def test_words_are_letters_digits_and_underscores() -> None:
    assert words_in("a_b(c1)=«é» -d".encode()) == {b"a_b", b"c1", "«é»".encode(), b"d"}


def test_short_names_and_statements_are_no_names() -> None:
    content = b"int f(int x) {\n    if (x) {\n    }\n    return go(x);\n}\nint full(void);\n"
    assert sketch_of(content, language("a.c")).names == b"full"


def test_no_grammar_is_loaded_before_a_file_is_parsed() -> None:
    # agents 35
    program = (
        "import sys; import goldseam.tools.map.repository, goldseam.tools.builtin.repo_map;"
        "print([name for name in sys.modules if name.startswith('tree_sitter')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"
