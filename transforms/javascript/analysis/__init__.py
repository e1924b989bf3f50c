"""What is known of a JavaScript function: its variables."""
