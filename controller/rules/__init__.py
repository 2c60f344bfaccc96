"""The rules of the games, and the roads that record a shoe's results. Pure functions."""
