"""Everything that people look at and type: the command line, the web pages, the doctor (checks of a machine), and the
calculation of what a bet is worth."""
