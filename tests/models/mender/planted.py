"""Sound little programs with their tests, and one-line mistakes to plant, written by hand."""

PROGRAMS = {
    "search.py": """
def find(items, wanted):
    low, high = 0, len(items) - 1
    while low <= high:
        middle = (low + high) // 2
        if items[middle] == wanted:
            return middle
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return -1


def first_above(items, bound):
    for place, item in enumerate(items):
        if item > bound:
            return place
    return None
""",
    "words.py": """
from search import find


def count_words(text, shortest=1):
    counts = {}
    for word in text.lower().split():
        word = word.strip(".,!?")
        if len(word) >= shortest:
            counts[word] = counts.get(word, 0) + 1
    return counts


def most_common(text, how_many):
    counts = count_words(text)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    return ranked[:how_many]


def initials(name):
    return "".join(part[0].upper() for part in name.split())


def is_known(word, vocabulary):
    return find(sorted(vocabulary), word) >= 0
""",
    "bank.py": """
class Account:
    def __init__(self, owner, limit=0):
        self.owner = owner
        self.limit = limit
        self.balance = 0
        self.history = []

    def pay_in(self, amount):
        if amount <= 0:
            raise ValueError("amount")
        self.balance += amount
        self.history.append(amount)

    def pay_out(self, amount):
        if amount > self.balance + self.limit:
            raise ValueError("limit")
        self.balance -= amount
        self.history.append(-amount)

    def statement(self):
        return list(self.history)


def transfer(source, target, amount):
    source.pay_out(amount)
    target.pay_in(amount)
""",
    "shapes.py": """
def area(points):
    total = 0
    for index in range(len(points)):
        x1, y1 = points[index]
        x2, y2 = points[(index + 1) % len(points)]
        total += x1 * y2 - x2 * y1
    return abs(total) / 2


def clamp(value, low, high):
    return max(low, min(value, high))


def power(base, exponent):
    if exponent == 0:
        return 1
    half = power(base, exponent // 2)
    if exponent % 2 == 1:
        return half * half * base
    return half * half


def flatten(nested):
    flat = []
    for item in nested:
        if isinstance(item, list):
            flat.extend(flatten(item))
        else:
            flat.append(item)
    return flat
""",
    "test_all.py": """
from bank import Account, transfer
from search import find, first_above
from shapes import area, clamp, flatten, power
from words import count_words, initials, is_known, most_common


def test_find():
    items = [2, 3, 5, 7, 11]
    assert [find(items, n) for n in (2, 3, 5, 7, 11, 4, 12, 1)] == [0, 1, 2, 3, 4, -1, -1, -1]


def test_first_above():
    assert first_above([1, 4, 4, 9], 4) == 3
    assert first_above([1], 4) is None


def test_count_words():
    assert count_words("To be, or not to be!") == {"to": 2, "be": 2, "or": 1, "not": 1}
    assert count_words("a bb ccc", shortest=2) == {"bb": 1, "ccc": 1}


def test_most_common():
    assert most_common("b a b c c a", 2) == ["a", "b"]
    assert most_common("x y y", 1) == ["y"]


def test_initials():
    assert initials("ada king lovelace") == "AKL"


def test_is_known():
    assert is_known("oak", ["elm", "oak", "ash"])
    assert is_known("ash", ["elm", "oak", "ash"])
    assert not is_known("fir", ["elm", "oak", "ash"])


def test_payments():
    account = Account("Ada", limit=50)
    account.pay_in(100)
    account.pay_out(150)
    assert account.balance == -50
    assert account.statement() == [100, -150]


def test_limits():
    account = Account("Ada")
    for act, amount in ((account.pay_out, 1), (account.pay_in, 0)):
        try:
            act(amount)
        except ValueError:
            continue
        raise AssertionError(amount)


def test_a_statement_is_a_copy():
    account = Account("Ada")
    account.statement().append(1)
    assert account.statement() == []


def test_transfer():
    one, other = Account("Ada", 10), Account("Bo")
    transfer(one, other, 10)
    assert (one.balance, other.balance) == (-10, 10)


def test_area():
    assert area([(0, 0), (4, 0), (4, 3)]) == 6
    assert area([(0, 0), (0, 2), (2, 2), (2, 0)]) == 4
    assert area([(1, 1), (5, 2), (3, 6)]) == 9


def test_clamp():
    assert [clamp(n, 0, 10) for n in (-5, 5, 15)] == [0, 5, 10]


def test_power():
    assert [power(2, n) for n in range(6)] == [1, 2, 4, 8, 16, 32]


def test_flatten():
    assert flatten([1, [2, [3, []], 4]]) == [1, 2, 3, 4]
""",
}

MISTAKES = (
    ("search.py", "len(items) - 1", "len(items)"),
    ("search.py", "low <= high", "low < high"),
    ("search.py", "low = middle + 1", "low = middle"),
    ("search.py", "high = middle - 1", "high = middle"),
    ("search.py", "        return middle\n", "        return items\n"),
    ("search.py", "item > bound", "item >= bound"),
    ("search.py", "return place", "return item"),
    ("search.py", "return -1", "return 0"),
    ("words.py", "len(word) >= shortest", "len(word) > shortest"),
    ("words.py", "counts.get(word, 0)", "counts.get(word, 1)"),
    ("words.py", "counts.get(word, 0) + 1", "counts.get(word, 0)"),
    ("words.py", "-counts[word], word", "counts[word], word"),
    ("words.py", "ranked[:how_many]", "ranked[how_many:]"),
    ("words.py", "part[0]", "part[-1]"),
    ("words.py", "upper()", "lower()"),
    ("words.py", "find(sorted(vocabulary), word)", "find(word, sorted(vocabulary))"),
    ("words.py", "word) >= 0", "word) > 0"),
    ("words.py", "text.lower().split()", "text.split()"),
    ("words.py", '".,!?"', '".,"'),
    ("bank.py", "self.limit = limit", "self.limit = 0"),
    ("bank.py", "amount <= 0", "amount < 0"),
    ("bank.py", "self.balance += amount", "self.balance = amount + 1"),
    ("bank.py", "amount > self.balance + self.limit", "amount > self.balance - self.limit"),
    ("bank.py", "self.balance -= amount", "self.balance += amount"),
    ("bank.py", "append(-amount)", "append(amount)"),
    ("bank.py", "list(self.history)", "self.history"),
    ("bank.py", "    source.pay_out(amount)\n    target", "    target.pay_out(amount)\n    target"),
    ("bank.py", "    target.pay_in(amount)\n", "    target.pay_in(source)\n"),
    ("shapes.py", "(index + 1) %", "index %"),
    ("shapes.py", "x1 * y2 - x2 * y1", "x1 * y2 + x2 * y1"),
    ("shapes.py", "x1 * y2 - x2 * y1", "x1 * y2 - x2 * y2"),
    ("shapes.py", "abs(total) / 2", "total / 2"),
    ("shapes.py", "max(low, min(value, high))", "min(low, max(value, high))"),
    ("shapes.py", "max(low, min(value, high))", "max(low, min(high, low))"),
    ("shapes.py", "    if exponent == 0:\n        return 1\n", ""),
    ("shapes.py", "exponent % 2 == 1", "exponent % 2 == 0"),
    ("shapes.py", "half * half * base", "half * base"),
    ("shapes.py", "flat.extend(flatten(item))", "flat.append(flatten(item))"),
    ("shapes.py", "flat.extend(flatten(item))", "flatten(item)"),
    (
        "shapes.py",
        "        else:\n            flat.append(item)\n    return flat",
        "        else:\n            flat.append(item)\n        return flat",
    ),
)


def with_mistake(number: int) -> dict[str, str]:
    """Return the programs with one mistake planted."""
    path, sound, wrong = MISTAKES[number]
    assert PROGRAMS[path].count(sound) == 1
    return PROGRAMS | {path: PROGRAMS[path].replace(sound, wrong)}
