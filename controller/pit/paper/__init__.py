"""What a pit prints for people: the slip by which an award is paid."""
