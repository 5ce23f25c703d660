"""`goldseam models`: who can be asked, and whether one answers."""

import click


@click.command("models")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option("--ping", metavar="HOST[:MODEL]", help="Ask it for one word, and say how it went.")
def models_command(*, as_json: bool, ping: str | None) -> int:
    """List the hosts: their dialect, the variable of their key, whether it is set, the default.

    With --ping: exit code 0 where the model answered, 6 where it did not.
    """
    from goldseam.cli.listing import list_models, ping_model  # noqa: PLC0415 - help must stay cheap

    if ping is None:
        list_models(as_json=as_json)
    else:
        ping_model(ping, as_json=as_json)
    return 0
