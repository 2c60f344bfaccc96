"""What every program of the house may use: errors for people, the disk, and a word to systemd."""
