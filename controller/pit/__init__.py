"""The pit's side: the reference pit, the program of head office, and the kit that tests any pit or table."""
