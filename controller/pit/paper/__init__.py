"""The papers that a pit prints for people: the slip by which an award is paid, and the file of a gaming day."""
