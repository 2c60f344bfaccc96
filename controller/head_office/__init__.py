"""Head office reads the signed logs of houses, and checks each by itself. It knows nothing of a pit's inside."""
