"""The program of head office, which checks the signed logs of several houses. The checks use no code of the pit, so a
defect of the pit cannot hide in them."""
