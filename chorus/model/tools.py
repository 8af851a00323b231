"""The one table of the client's tools: what each may write, which file it names, how its prompt is worded.

A tool that is not listed may write anywhere, and its prompt is shown under the tool's name.
"""

from typing import NamedTuple

from chorus.model.action import WriteScope

# The tool that runs a shell command, and the key of that command in the tool's input.
SHELL_TOOL = "Bash"
COMMAND_KEY = "command"
# The tool that shows the user a form of questions.
QUESTION_TOOL = "AskUserQuestion"

# Not one of the agent's tools: an MCP server asks the user for something.
ELICITATION = "Elicitation"

# How the names of the tools of MCP servers begin.
MCP_PREFIX = "mcp__"


class Tool(NamedTuple):
    """One row of the table: what is known about a tool."""

    name: str
    write_scope: WriteScope = WriteScope.NOTHING
    path_key: str | None = None  # the key in its input of the one file it reads or writes
    prompt_kind: str = "tool"
    prompt_title: str | None = None  # None: "Use NAME"
    asks_user: bool = False  # its prompt is a question for the user, so no policy rule may answer it
    is_frequent: bool = False  # it only reads, and is called too often to start a hook process each time
    starts_agent: bool = False  # the sub-agent's own calls are reported one by one
    looks_below: bool = False  # it reads everything below its `path`, or below the session's directory


# Names for the members: in `write_scope_of`, looking one up as an attribute would take most of the time.
_NAMED, _ANYWHERE = WriteScope.NAMED, WriteScope.ANYWHERE

TOOLS = {
    tool.name: tool
    for tool in (
        Tool("Edit", _NAMED, "file_path", "edit", "Edit file"),
        Tool("MultiEdit", _NAMED, "file_path", "edit", "Edit file"),
        Tool("Write", _NAMED, "file_path", "create", "Write file"),
        Tool("NotebookEdit", _NAMED, "notebook_path", "notebook", "Edit notebook"),
        Tool(SHELL_TOOL, _ANYWHERE, prompt_kind="bash", prompt_title="Bash command"),
        Tool("Agent", _ANYWHERE, starts_agent=True),
        Tool("Task", _ANYWHERE, starts_agent=True),
        Tool("Read", path_key="file_path", prompt_kind="read", is_frequent=True),
        Tool("Grep", is_frequent=True, looks_below=True),
        Tool("Glob", is_frequent=True, looks_below=True),
        Tool("LS", is_frequent=True, looks_below=True),
        Tool("NotebookRead", is_frequent=True),
        Tool("ToolSearch", is_frequent=True),
        Tool("WebFetch", prompt_kind="fetch"),
        Tool("WebSearch", prompt_kind="search"),
        Tool(QUESTION_TOOL, asks_user=True),
        Tool(ELICITATION, asks_user=True),
        Tool("ExitPlanMode", prompt_kind="plan", asks_user=True),
        Tool("EnterPlanMode", asks_user=True),
        *map(
            Tool,
            (
                "BashOutput", "EnterWorktree", "ExitWorktree", "KillBash", "KillShell", "ListAgents",
                "ListMcpResourcesTool", "LSP",
                "ReadMcpResourceTool", "ReportFindings", "ScheduleWakeup", "StructuredOutput", "TaskCreate",
                "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoRead", "TodoWrite",
            ),
        ),
    )
}  # fmt: skip

# These are sets and dictionaries because they are looked up for every call.
WRITE_SCOPES = {name: tool.write_scope for name, tool in TOOLS.items()}
EDIT_TOOLS = frozenset(name for name, scope in WRITE_SCOPES.items() if scope is WriteScope.NAMED)
READ_ONLY_TOOLS = frozenset(name for name, scope in WRITE_SCOPES.items() if scope is WriteScope.NOTHING)
FREQUENT_TOOLS = tuple(name for name, tool in TOOLS.items() if tool.is_frequent)
AGENT_TOOLS = frozenset(name for name, tool in TOOLS.items() if tool.starts_agent)
PATH_KEYS = tuple(dict.fromkeys(tool.path_key for tool in TOOLS.values() if tool.path_key))


def write_scope_of(tool: str) -> WriteScope:
    return WRITE_SCOPES.get(tool, _ANYWHERE)


def find_tool(name: str) -> Tool:
    known = TOOLS.get(name)
    if known is not None:
        return known
    return Tool(name, WriteScope.ANYWHERE, prompt_kind="mcp" if name.startswith(MCP_PREFIX) else "tool")
