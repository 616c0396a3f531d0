"""What closing a session makes: its request, its answer, the second look."""
