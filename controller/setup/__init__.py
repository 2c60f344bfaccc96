"""`tablectl setup`: a machine is made a table's by questions. No daemon loads this."""
