"""The witnesses, one module per language. `codeaudit.audit.evidence_check` calls them all in the same way."""
