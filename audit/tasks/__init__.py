"""The tasks, one module per task. `codeaudit.audit.registry` names them; see docs/howto/task.md to add one.

`scoring` and `solutions` are no tasks: tasks share them to compare numbers and texts, and to run programs.
"""
