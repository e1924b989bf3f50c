"""The registry of report formats; `codeaudit.formats` is its entry-point group."""

from codeaudit.reports.interface import Renderer
from codeaudit.transforms.registration import Entry, Registry

FORMATS: Registry[Renderer] = Registry(
    "format",
    {
        "rich": Entry(
            "codeaudit.reports.render.table:render", "tables for a terminal, at any width from 80 columns"
        ),
        "json": Entry("codeaudit.reports.render.json:render", "the content of summary.json"),
        "latex": Entry(
            "codeaudit.reports.render.latex:render", "tables for a paper: booktabs, the best in bold"
        ),
        "markdown": Entry(
            "codeaudit.reports.render.markdown:render", "tables for a README or a pull request"
        ),
    },
    group="codeaudit.formats",
    expects=Renderer,
)
