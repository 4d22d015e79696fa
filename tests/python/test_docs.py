"""The examples of the docstrings are true, and every public name has a docstring."""

from __future__ import annotations

import doctest
import importlib
import importlib.metadata
import inspect
import pkgutil
import re
from types import ModuleType

import pytest
from conftest import ROOT

import gpilot
from gpilot._data import example

MODULES = [gpilot] + [
    importlib.import_module(found.name)
    for found in pkgutil.walk_packages(gpilot.__path__, "gpilot.")
    if found.name != "gpilot._core"
]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_docstrings(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    names = {name: getattr(gpilot, name) for name in gpilot.__all__} | {"example": example}
    assert doctest.testmod(module, optionflags=options, extraglobs=names).failed == 0


def test_every_public_name_is_explained() -> None:
    for name in gpilot.__all__:
        thing = getattr(gpilot, name)
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            assert thing.__doc__, name
            for member, value in vars(thing).items():
                if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                    assert inspect.getdoc(value), f"{name}.{member}"
        elif inspect.isfunction(thing):
            assert ">>>" in (thing.__doc__ or ""), f"{name} has no example"


def test_one_version() -> None:
    text = (ROOT / "CMakeLists.txt").read_text()
    found = re.search(r"project\(gpilot VERSION ([0-9.]+)", text)
    assert found is not None
    assert gpilot.__version__ == found.group(1)
    assert importlib.metadata.version("gpilot") == gpilot.__version__
