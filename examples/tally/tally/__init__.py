"""Split what a table of friends has eaten, to the cent."""

from tally.bill import Bill
from tally.receipt import receipt

__all__ = ["Bill", "receipt"]
