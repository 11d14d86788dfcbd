"""The grader kinds behind one interface, and the chat providers."""
