"""`python -m chorus.demo.standin`: the stand-in, headless or on a screen as the client would be."""

import sys

from chorus.demo.standin.options import parse_options
from chorus.demo.standin.session import take_name
from chorus.errors import ChorusError


def main() -> int:
    options = parse_options(sys.argv[1:])
    take_name()
    if options.print_mode:
        from chorus.demo.standin import headless  # noqa: PLC0415  a screen is not needed

        return headless.run(options)
    from chorus.demo.standin import interactive  # noqa: PLC0415  nor the stream

    return interactive.run(options)


if __name__ == "__main__":
    try:
        code = main()
    except ChorusError as error:
        sys.stderr.write(f"Error: {error}\n")
        code = error.exit_code
    sys.exit(code)
