"""Golden cases from the files of other tools; see :mod:`grader_gate.suite.importers.registry`."""
