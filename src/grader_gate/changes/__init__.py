"""Git trees, what differs between two of them, source closures and goalposts. The only place that runs git."""
