"""Helpers that every program here may use: errors for people, money, the disk, log lines, and notices to systemd."""
