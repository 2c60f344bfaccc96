"""`tablectl setup`: ask a technician questions, and configure this machine as the controller of a table from the
answers. The daemon never loads this package."""
