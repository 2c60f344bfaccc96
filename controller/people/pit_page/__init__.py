"""The pit's page and its metrics: a process of its own, which reads the ledger and listens at the broker, and writes to
neither."""
