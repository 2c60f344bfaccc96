"""What people look at and type: the command line, the pages, the doctor, and what a bet is worth."""
