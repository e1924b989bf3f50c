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
        "error-detection": Entry(
            "audit.tasks.error_detection:ERROR_DETECTION",
            "tell whether a function has a bug (F1 of the class `buggy`)",
        ),
        "derivative": Entry(
            "audit.tasks.derivative:DERIVATIVE",
            "tell whether one expression is the derivative of another (accuracy)",
        ),
        "output-prediction": Entry(
            "audit.tasks.output_prediction:OUTPUT_PREDICTION",
            "tell what a call of a function returns (accuracy)",
        ),
        "throughput": Entry(
            "audit.tasks.throughput:THROUGHPUT",
            "predict the cycles of an iteration of an x86-64 basic block (MAPE)",
        ),
    },
)
