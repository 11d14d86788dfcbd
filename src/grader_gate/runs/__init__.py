"""Plan, engine, cache, budget and ledger: from planned grades to rows on disk."""
