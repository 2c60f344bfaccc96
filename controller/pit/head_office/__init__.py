"""The program of head office, which reads the signed logs of several houses. It checks each log without any code of the
pit."""
