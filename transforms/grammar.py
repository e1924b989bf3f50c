"""Numbers and articles in messages."""


def counted(number: int, noun: str) -> str:
    """A number and its noun, in the plural but for one: `1 sample`, `1,679 variants`.

    Of several words the last one is the noun.
    """
    return f"{number:,} {noun}{'s'[: number != 1]}"


def with_article(noun: str) -> str:
    """A noun with its article: `a tuple`, `an object`."""
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"
