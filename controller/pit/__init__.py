"""The pit's side of the project: the reference pit, head office's program, and the kit that tests any pit or table."""
