"""The tasks, one module per task. `codeaudit.audit.registry` names them; the README says how to add one."""
