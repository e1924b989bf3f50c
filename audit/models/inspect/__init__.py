"""Models of every vendor, through inspect-ai."""
