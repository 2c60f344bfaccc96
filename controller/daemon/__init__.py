"""The daemon that runs one table: its main loop, journal, link to the pit, pins, control socket and configuration
file."""
