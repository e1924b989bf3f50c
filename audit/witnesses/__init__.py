"""What runs or measures code, one file a language; `audit.execution` asks them all in one way."""
