"""Makes `tests` importable, for the programs of this folder that use its tools: import this module before it.

`python benchmarks/X.py` puts only the folder of X.py on the path, and the tests are not installed.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
