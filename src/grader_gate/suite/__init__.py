"""Golden cases, ladders and mutators: from files of a tree to items and claims."""
