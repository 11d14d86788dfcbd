"""GitHub at the two ends: events and objects in; comment, check, status, summary and outputs out."""
