"""The table controller: what a card-reading shoe says, made into lamps, a journal and messages to the pit."""

__version__ = "0.2.0"
