"""What is known of a Java method before it is changed."""
