"""Coding agents, one package each, behind the interface in `chorus.agents.interface`.

To add an agent, write a package with an `adapter.py` whose `AGENT` implements `Agent`, and add the package's
name to `AGENTS`. Import the parts that load pydantic only in the properties that return them.

Other rooms call `load_agent` and import no agent's own package.
"""

from importlib import import_module

from chorus.agents.interface import Agent

AGENTS = ("claude_code",)


def load_agent(name: str = AGENTS[0]) -> Agent:
    """Return the adapter of an agent."""
    agent: Agent = import_module(f"chorus.agents.{name}.adapter").AGENT
    return agent
