"""The controller of a baccarat table: it turns the reports of a card-reading shoe into lamps, a journal, and messages
to the pit."""

__version__ = "0.2.0"
