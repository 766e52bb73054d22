"""How columns of draws are named."""


def column(name: str) -> str:
    """`theta.1.2` of `theta[1,2]`."""
    return name.replace("[", ".").replace(",", ".").rstrip("]")
