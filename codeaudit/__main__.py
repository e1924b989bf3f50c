"""`python -m codeaudit` is the command `codeaudit`."""

import sys
from pathlib import Path

# `python -m` puts the working directory on the path, where a user's packages could shadow our dependencies,
# in worker processes too. It stays only if codeaudit itself runs from it, as in a checkout.
if sys.path and sys.path[0] == str(Path.cwd()) and not Path(__file__).is_relative_to(Path.cwd()):
    del sys.path[0]

from codeaudit.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
