"""`tablectl setup`: ask a technician questions, and make this machine the controller of a table from the answers. The
daemon never loads this package."""
