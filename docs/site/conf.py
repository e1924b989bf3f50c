"""Settings of the documentation site.

From the repository's root: `python -m sphinx -W --keep-going -n -c docs/site . OUT`.

The source folder is the repository, so that the pages beside the code are on the site too and a relative link
means the same on the site and in the checkout.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "codeaudit"
author = "the authors of codeaudit"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "generated"]
root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "audit/*/README.md",
    "transforms/columns/README.md",
    "benchmarks/README.md",
    "benchmarks/results/*.md",
    ".github/SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
]
exclude_patterns = [".git", ".venv", "build", "codeaudit", "docs/site", "**/__pycache__"]

# The headings of a page are targets of links, as on GitHub.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

default_role = "code"  # docstrings put names between single backticks
napoleon_custom_sections = ["Result"]  # see `generated`
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the signature shows them without their modules
autodoc_typehints_format = "short"
# Types of a signature that have no entry of their own.
nitpick_ignore_regex = [("py:.*", ".*")]
smartquotes = False  # `--out` in a sentence keeps its signs

html_theme = "furo"
html_title = "codeaudit"
pygments_style = "default"  # colours what a diff adds
pygments_dark_style = "monokai"
html_extra_path = ["start"]
html_copy_source = False
