"""The daemon that runs one table: loop, journal, stream to the pit, pins, control socket and configuration file."""
