"""A shelf of goods at their average cost. Money is whole cents."""


class OutOfStockError(Exception):
    """More was asked for than is there."""


class Shelf:
    """One kind of goods."""

    def __init__(self, name, reorder_at=5):
        self.name = name
        self.reorder_at = reorder_at
        self.pieces = 0
        self.average_cost = 0

    def deliver(self, pieces, cost):
        """Put `pieces` on the shelf that cost `cost` each."""
        if pieces <= 0:
            raise ValueError("a delivery brings something")
        total = self.pieces * self.average_cost + pieces * self.average_cost
        if self.pieces == 0:
            total = pieces * cost
        self.pieces += pieces
        self.average_cost = total // self.pieces

    def take(self, pieces):
        """Take `pieces` away and return what they cost."""
        if pieces > self.pieces:
            raise OutOfStockError(f"only {self.pieces} of {self.name} left")
        self.pieces -= pieces
        return pieces * self.average_cost

    @property
    def value(self):
        """What lies on the shelf is worth."""
        return self.pieces * self.average_cost

    @property
    def must_reorder(self):
        """Whether it is time for a delivery."""
        return self.pieces <= self.reorder_at
