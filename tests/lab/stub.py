"""The scripted model, which the demo brings along."""

from chorus.demo.model.request import Request
from chorus.demo.model.server import Stub

__all__ = ["Request", "Stub"]
