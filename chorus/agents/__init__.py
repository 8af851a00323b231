"""Coding agents: one package for each, behind the interface in `chorus.agents.interface`.

To add a second agent:

1. Make a package next to `claude_code` with the code that reads that agent's events and dialogs. The package
   imports nothing from `claude_code`, but may import `chorus.model` and `chorus.agents.interface`.
2. Write its `adapter.py`: an object `AGENT` that implements `chorus.agents.interface.Agent`. Import the parts
   that load pydantic only in the property that returns them.
3. Add the package's name to `AGENTS`. `tests/agents/test_interface.py` then checks it.

Other rooms never import a module of one agent. They call `load_agent`.
"""

from importlib import import_module

from chorus.agents.interface import Agent

AGENTS = ("claude_code",)


def load_agent(name: str = AGENTS[0]) -> Agent:
    """Return the adapter of an agent. Only the adapter's own module is imported."""
    agent: Agent = import_module(f"chorus.agents.{name}.adapter").AGENT
    return agent
