"""Names of the formats, resolved lazily."""

from reports.interface import Renderer
from transforms.entries import Entry
from transforms.registry import Registry

FORMATS: Registry[Renderer] = Registry(
    "format",
    {
        "rich": Entry("reports.render.table:render", "tables for a terminal, at any width from 80 columns"),
        "json": Entry("reports.render.json:render", "the content of summary.json"),
        "latex": Entry("reports.render.latex:render", "tables for a paper: booktabs, the best in bold"),
        "markdown": Entry("reports.render.markdown:render", "tables for a README or a pull request"),
    },
)
