"""The catalogue of mutators: pure functions from a text and its case to a mutant or a typed reason why not."""
