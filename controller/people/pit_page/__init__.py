"""The pit's web page and its metrics. They run as a process of their own, which reads the ledger and listens at the
broker, and writes to neither."""
