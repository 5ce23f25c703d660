"""Print a bill."""


def money(cents):
    """Return `cents` as people write it."""
    return f"{cents // 100}.{cents % 100:02}"


def receipt(bill):
    """Return one line per friend and the sum of what they pay."""
    shares = bill.shares()
    width = max(len(friend) for friend in shares)
    lines = [f"{friend:<{width}}  {money(cents):>8}" for friend, cents in shares.items()]
    lines.append(f"{'':<{width}}  {money(sum(shares.values())):>8}")
    return "\n".join(lines)
