"""One small file in each language that a map looks into."""

SOURCES = {
    "a.py": '''import os

LIMIT: int = 3


class Order(
    Base, metaclass=Meta
):
    """An order."""

    @property
    def total(self) -> int:
        def inner(): ...
        return sum(self.lines)

    async def send(self, to: str, *, later: bool = False) -> None:
        pass


def parse(text): return text
''',
    "a.js": """import x from "y";
export default class Cart extends Base {
  static async load(id) {
    return fetch(id);
  }
  get size() { return 1; }
}
export const total = (lines) => lines.length;
function* walk(tree) {
  yield tree;
}
function render(view) {
  if (view) { draw(view); }
}
""",
    "a.ts": """export interface Shape { area(): number }
export type Point = { x: number };
export enum Colour { Red, Green }
export abstract class Figure implements Shape {
  constructor(private name: string) {}
  area(): number { return 0; }
}
export function scale<T>(shape: T, by: number): T {
  return shape;
}
const half = (shape: Shape): Shape => scale(shape, 0.5);
""",
    "a.tsx": """export function Button({ label }: Props) {
  return <button>{label}</button>;
}
export const Panel = () => <Button label="x" />;
""",
    "a.go": """package main

type Server struct {
	port int
}

type Handler interface {
	Serve(path string) error
}

func NewServer(port int) *Server { return &Server{port} }

func (s *Server) Listen(ctx context.Context) error {
	return nil
}
""",
    "a.rs": """pub struct Stack<T> { items: Vec<T> }

pub enum Colour { Red }

pub trait Draw {
    fn draw(&self) -> u8;
}

impl<T> Stack<T> {
    pub fn push(&mut self, item: T) {
        self.items.push(item);
    }
}

mod inner {
    pub(crate) fn helper() {}
}

macro_rules! twice { ($x:expr) => { $x; $x } }
""",
    "A.java": """package a;

public class Account extends Base {
    private int balance;

    public Account(int balance) {
        this.balance = balance;
    }

    public synchronized void deposit(int amount)
            throws Refused {
        balance += amount;
    }

    enum Kind { OPEN, CLOSED }
}

interface Ledger {
    void post(String entry);
}

record Pair(int left, int right) {}
""",
    "a.c": """#define SQUARE(x) ((x) * (x))

struct node {
    int value;
};

typedef struct node node_t;

enum colour { RED, GREEN };

static int compare(const void *left, const void *right);

char *copy_of(const char *text)
{
    if (text) {
        return strdup(text);
    }
    return 0;
}

int main(void) { return 0; }
""",
    "a.cpp": """namespace shapes {

class Circle : public Shape {
public:
    explicit Circle(double radius) : radius_(radius) {}
    double area() const override { return 3.0; }
};

double Circle::scale(double by) {
    return by;
}

int &count() { static int value; return value; }

}
""",
    "a.rb": """module Shop
  class Basket < Base
    def add(item)
      @items << item
    end

    def self.load(path)
      new(path)
    end
  end
end
""",
}
