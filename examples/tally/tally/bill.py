"""A bill and its fair shares. Money is whole cents."""


class Bill:
    """What was eaten, and by whom it is paid."""

    def __init__(self, friends):
        if not friends:
            raise ValueError("a bill needs somebody to pay it")
        self.friends = list(friends)
        self.cents = 0

    def add(self, cents, times=1):
        """Put something on the bill."""
        if cents < 0 or times < 1:
            raise ValueError("nothing costs less than nothing")
        self.cents += cents * times

    def shares(self):
        """Return what each friend pays; those who stand first carry the odd cents."""
        each, odd = divmod(self.cents, len(self.friends))
        return {
            friend: each + 1 if place <= odd else each
            for place, friend in enumerate(self.friends)
        }
