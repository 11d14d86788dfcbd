"""How each provider family is spoken to."""
