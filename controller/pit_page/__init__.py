"""The pit's page and its metrics: a process of its own, which reads the ledger and hears the broker, and says nothing
to either."""
