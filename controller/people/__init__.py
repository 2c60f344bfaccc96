"""Everything that people look at or type into: the command line, the web pages, the doctor (a program that checks the
machine), and the calculation of what a bet is worth."""
