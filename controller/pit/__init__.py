"""The pit: the reference pit, head office, and the kit that tries any pit or table."""
