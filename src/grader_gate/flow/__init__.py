"""The glue: each command's steps in order. Collaborators come in as arguments; nothing here reads the environment."""
