"""Pure: which claims a suite makes, what a ledger says of them, and the findings."""
