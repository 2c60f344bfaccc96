"""The rules of the games, and the roads that a shoe draws. Pure."""
