"""The rules of the games, and the roads (score boards) that record a shoe's results. Pure functions."""
