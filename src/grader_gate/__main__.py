"""`python -m grader_gate` is the command line."""

import os
import sys

if not sys.flags.safe_path and sys.path[:1] in ([""], [os.getcwd()]):  # noqa: PTH109  as the interpreter wrote it
    # `-m` puts the working folder first: files of the checkout under test would stand in for our libraries.
    del sys.path[0]

from grader_gate.cli import main

sys.exit(main())
