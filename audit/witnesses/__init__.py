"""What runs or measures code, one file a language; `codeaudit.audit.execution` asks them all in one way."""
