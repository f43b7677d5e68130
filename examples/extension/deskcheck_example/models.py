"""A model that needs no network: it always says 7."""

from deskcheck.ask import baseline


@baseline("seven", about="always 7")
def seven(prompt: str) -> str:
    return "[ANSWER]7[/ANSWER]"
