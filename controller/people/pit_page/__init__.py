"""The pit's web page and its metrics. They are served by a process of their own, which reads the pit's ledger and
listens at the broker. The process never writes to the ledger and never publishes at the broker."""
