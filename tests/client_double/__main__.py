"""`python -m tests.client_double`: the client double, headless or on a screen."""

import sys

from chorus.errors import ChorusError
from tests.client_double.options import parse_options
from tests.client_double.session import set_process_name


def main() -> int:
    options = parse_options(sys.argv[1:])
    set_process_name()
    if options.print_mode:
        from tests.client_double import headless  # noqa: PLC0415  without the screen

        return headless.run(options)
    from tests.client_double import interactive  # noqa: PLC0415  without the stream

    return interactive.run(options)


if __name__ == "__main__":
    try:
        code = main()
    except ChorusError as error:
        sys.stderr.write(f"Error: {error}\n")
        code = error.exit_code
    sys.exit(code)
