"""`python -m grader_gate` is the command line."""

import sys

from grader_gate.cli import main

sys.exit(main())
