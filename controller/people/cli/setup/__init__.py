"""`tablectl setup`: questions whose answers make a machine the controller of a table. No daemon loads this package."""
