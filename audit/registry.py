"""Names of tasks and models, resolved lazily."""

from audit.interface import Task
from transforms.entries import Entry
from transforms.registry import Registry

TASKS: Registry[Task] = Registry(
    "task",
    {
        "function-name": Entry(
            "audit.tasks.function_name:FUNCTION_NAME",
            "predict the subtokens of a function's name from its body (F1)",
        ),
    },
)
