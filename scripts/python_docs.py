#!/usr/bin/env python3
"""Makes the site of the Python package: reference from the docstrings (pdoc), tutorials. A warning is an error."""

from __future__ import annotations

import html
import os
import re
import sys
import warnings
from pathlib import Path

import markdown2
import nbclient
import nbformat
import pdoc

ROOT = Path(__file__).resolve().parents[1]
PAGES = ["python", "cluster", "configuration", "rig-protocol", "recordings", "planning", "studies", "results/python"]
STYLE = """
body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}
pre{background:#f4f4f4;padding:.8em;overflow:auto}code{background:#f4f4f4}img{max-width:100%}nav a{margin-right:1em}
table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.3em .6em;text-align:left}
"""


def page(title: str, body: str, up: str) -> str:
    """A whole page."""
    nav = f'<nav><a href="{up}index.html">gpilot</a><a href="{up}reference/gpilot.html">reference</a></nav>'
    return f"<!doctype html><meta charset=utf-8><title>{html.escape(title)}</title><style>{STYLE}</style>{nav}{body}"


def from_markdown(text: str) -> str:
    """HTML of a page; links between pages follow."""
    body = str(markdown2.markdown(text, extras=["tables", "fenced-code-blocks", "header-ids"]))
    return re.sub(r'href="([^":]+)\.md(#[^"]*)?"', lambda m: f'href="{m[1]}.html{m[2] or ""}"', body)


def without_foreign_links(text: str, name: str) -> str:
    """Links to files of the repository that the site does not have become plain text."""

    def kept(match: re.Match[str]) -> str:
        target = match[2].split("#")[0]
        place = os.path.normpath(os.path.join(os.path.dirname(name), target)).removesuffix(".md")
        return match[0] if not target or ":" in target or place in PAGES else match[1]

    return re.sub(r"!?\[([^\]]+)\]\(([^)]+)\)", kept, text)


def from_notebook(path: Path) -> str:
    """Runs a notebook; its text, code and figures."""
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=600).execute()
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(from_markdown(cell.source))
            continue
        parts.append(f"<pre>{html.escape(cell.source)}</pre>")
        for output in cell.outputs:
            data = output.get("data", {})
            if "image/png" in data:
                parts.append(f'<img src="data:image/png;base64,{data["image/png"].strip()}">')
            elif "text/html" in data and "widget" not in "".join(data):
                parts.append(data["text/html"])
            elif "text/plain" in data and "widget" not in "".join(data):
                parts.append(f"<pre>{html.escape(data['text/plain'])}</pre>")
    return "".join(parts)


def dead_links(site: Path) -> list[str]:
    """Links of our pages that lead nowhere within the site."""
    dead = []
    for path in [p for p in site.rglob("*.html") if "reference" not in p.parts]:
        for target in re.findall(r'href="([^":#]+\.html)', path.read_text()):
            if not (path.parent / target).exists():
                dead.append(f"{path.relative_to(site)}: {target}")
    return dead


def main(site: Path) -> None:
    """Writes the site."""
    warnings.simplefilter("error")
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    pdoc.render.configure(docformat="markdown", math=False, footer_text="gpilot")
    pdoc.pdoc("gpilot", output_directory=site / "reference")
    listed = []
    for name in PAGES:
        text = (ROOT / "docs" / f"{name}.md").read_text()
        title = text.splitlines()[0].lstrip("# ")
        text = without_foreign_links(text, name)
        target = site / f"{name}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page(title, from_markdown(text), "../" * name.count("/")))
        listed.append(f'<li><a href="{name}.html">{html.escape(title)}</a>')
    for path in sorted((ROOT / "examples" / "python").glob("*.ipynb")):
        body = from_notebook(path)
        (site / f"tutorial-{path.stem}.html").write_text(page(path.stem, body, ""))
        listed.append(f'<li><a href="tutorial-{path.stem}.html">tutorial: {path.stem}</a>')
    body = f"<h1>gpilot in Python</h1><ul>{''.join(listed)}</ul>"
    (site / "index.html").write_text(page("gpilot in Python", body, ""))
    if dead := dead_links(site):
        sys.exit("dead links:\n" + "\n".join(dead))
    print(f"{site}/index.html: {len(PAGES)} pages, the reference, {len(listed) - len(PAGES)} tutorials")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
