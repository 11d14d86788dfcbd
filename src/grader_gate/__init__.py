"""Gates pull requests that change an LLM grader."""

__version__ = "0.1.0"
