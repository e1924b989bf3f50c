"""Makes the pictures of README from a run folder, with the Chromium of this machine.

    python docs/site/pictures.py RUN

It writes docs/pictures/first-screen.svg (the end of `codeaudit run` on a terminal of 80 columns) and
docs/pictures/page-WIDTH.png (the HTML page).
"""

import argparse
import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from rich.console import Console

import codeaudit
from codeaudit.reports.first_screen import first_screen
from codeaudit.reports.render.table import show_sheets

PICTURES: Final = Path(__file__).resolve().parents[1] / "pictures"
SIZES: Final = ((1200, 1000), (400, 1000))
"""Width and height of the page in pixels."""


def main() -> int:
    """Draw and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", type=Path, help="a run folder")
    run = codeaudit.open_run(parser.parse_args().run)
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        parser.error("no Chromium on PATH; install it")
    PICTURES.mkdir(exist_ok=True)
    console = Console(
        width=80, record=True, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    show_sheets([first_screen(run.summary)], console)
    drawn = console.export_svg(title="codeaudit run")
    # The fonts would come from another server; the fallback is the reader's own.
    (PICTURES / "first-screen.svg").write_text(re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL))
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        run.to_html(page)
        for width, height in SIZES:
            out = PICTURES / f"page-{width}.png"
            options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={width},{height}"]
            subprocess.run([browser, *options, f"--screenshot={out}", page.as_uri()], check=True, cwd=folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
