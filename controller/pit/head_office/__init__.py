"""Head office reads the signed logs of houses, and checks each log by itself, without any code of the pit."""
