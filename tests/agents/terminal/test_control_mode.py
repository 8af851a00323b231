from chorus.agents.claude_code.terminal.control_mode import ControlMode, PaneOutput, is_control_mode
from chorus.model.ids import PaneId

ZERO, ONE = PaneId("%0"), PaneId("%1")


def test_escapes_are_decoded_to_bytes() -> None:
    output = ControlMode().feed(b"%output %0 a\\134n\\015\\012\\033[0m \xe6\x97\n%output %0 \xa5\r\n")
    assert output == [PaneOutput(ZERO, b"a\\n\r\n\x1b[0m \xe6\x97"), PaneOutput(ZERO, b"\xa5")]
    assert b"".join(o.data for o in output).decode().endswith("日")


def test_lines_may_be_cut_anywhere() -> None:
    text = b"%output %0 one\\040two\n%layout-change @0 x\n%output %1 three\n"
    control = ControlMode()
    outputs = [output for i in range(len(text)) for output in control.feed(text[i : i + 1])]
    assert outputs == [PaneOutput(ZERO, b"one two"), PaneOutput(ONE, b"three")]


def test_output_with_flow_control_is_read_too() -> None:
    assert ControlMode().feed(b"%extended-output %1 12 : a : b\n") == [PaneOutput(ONE, b"a : b")]


def test_a_reply_to_a_command_is_not_output() -> None:
    text = (
        b"%begin 1 2 1\n%output %0 shown by capture-pane\n%end 1 1 1\n%begin 9 9 1\n%end 1 2 1\n"
        b"%begin 1 3 1\nno such pane\n%error 1 3 1\n%output %0 real\n"
    )
    assert ControlMode().feed(text) == [PaneOutput(ZERO, b"real")]


def test_a_recording_of_control_mode_is_recognized_by_its_beginning() -> None:
    assert is_control_mode(b"%begin 1794787651 268 0\n")
    assert is_control_mode(b"\x1bP1000p%begin 1794787651 268 0\n")
    assert not is_control_mode(b'{"type":"system"}\n')
