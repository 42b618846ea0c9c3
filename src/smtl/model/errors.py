"""What is wrong with a model's file."""

from __future__ import annotations

from os import PathLike

__all__ = ["ModelError"]


class ModelError(ValueError):
    """A file that is no model, or a model that cannot be saved.

    Parameters
    ----------
    message : str
        What must be, what was got instead, and what to do.
    path : path-like
        The file.

    Examples
    --------
    >>> raise ModelError("must be a model, got an empty file instead.", "yeast.skops")
    Traceback (most recent call last):
        ...
    smtl.model.errors.ModelError: yeast.skops: must be a model, got an empty file instead.
    """

    def __init__(self, message: str, path: str | PathLike[str]) -> None:
        super().__init__(f"{path}: {message}")
        self.message, self.path = message, path

    def __reduce__(self) -> tuple[type[ModelError], tuple[str, str | PathLike[str]]]:
        return type(self), (self.message, self.path)
