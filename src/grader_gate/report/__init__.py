"""Pure rendering: comment, HTML, JSON, JUnit, terminal, job summary."""
