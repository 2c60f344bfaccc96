"""What runs a table: the loop, the record, the stream to the pit, the pins, the control socket and the table's file."""
