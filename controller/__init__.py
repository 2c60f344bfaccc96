"""The controller of a baccarat table. It turns what a card-reading shoe reports into lamps, a journal and messages to
the pit."""

__version__ = "0.2.0"
