import pytest

from tally import Bill, receipt


def bill_of(cents, friends):
    bill = Bill(friends)
    bill.add(cents)
    return bill


@pytest.mark.parametrize("cents", [0, 1, 2, 900, 1000, 1001])
def test_shares_add_up_to_the_bill(cents):
    shares = bill_of(cents, ["Ann", "Bo", "Cy"]).shares()
    assert sum(shares.values()) == cents


def test_those_who_stand_first_carry_the_odd_cents():
    assert bill_of(1001, ["Ann", "Bo", "Cy"]).shares() == {"Ann": 334, "Bo": 334, "Cy": 333}


def test_the_receipt_names_each_friend_and_the_sum():
    assert receipt(bill_of(700, ["Ann", "Bo"])).splitlines() == [
        "Ann      3.50",
        "Bo       3.50",
        "         7.00",
    ]


def test_a_round_of_coffee_counts_once_per_cup():
    bill = Bill(["Ann", "Bo"])
    bill.add(250, times=4)
    assert bill.cents == 1000


def test_a_bill_needs_a_payer():
    with pytest.raises(ValueError, match="somebody"):
        Bill([])
