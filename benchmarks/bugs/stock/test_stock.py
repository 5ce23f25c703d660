import unittest

from stock import OutOfStockError, Shelf


class ShelfTest(unittest.TestCase):
    def setUp(self):
        self.shelf = Shelf("bolts")
        self.shelf.deliver(10, 200)

    def test_first_delivery_sets_the_cost(self):
        self.assertEqual(self.shelf.average_cost, 200)
        self.assertEqual(self.shelf.value, 2000)

    def test_second_delivery_moves_the_average(self):
        self.shelf.deliver(10, 400)
        self.assertEqual(self.shelf.average_cost, 300)

    def test_value_counts_all_deliveries(self):
        self.shelf.deliver(30, 100)
        self.assertEqual(self.shelf.value, 5000)

    def test_taking_costs_the_average(self):
        self.assertEqual(self.shelf.take(4), 800)
        self.assertEqual(self.shelf.pieces, 6)

    def test_not_more_than_is_there(self):
        with self.assertRaises(OutOfStockError):
            self.shelf.take(11)

    def test_reorder_when_few_are_left(self):
        self.assertFalse(self.shelf.must_reorder)
        self.shelf.take(5)
        self.assertTrue(self.shelf.must_reorder)


if __name__ == "__main__":
    unittest.main()
