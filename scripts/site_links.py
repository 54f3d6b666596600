# SPDX-License-Identifier: BSD-3-Clause
"""Hooks of mkdocs. Links that leave docs/ lead to the forge, pictures come along, and programs of docs/ stay away.
What belongs to a step is indented by three blanks, as forges have it, and by four for Python's Markdown."""
import os
import posixpath
import re

from mkdocs.structure.files import File

RESULTS = "benchmarks/results"

LINK = re.compile(r"(\]\()((?:\.\./)+[^)\s]+)(\))")


def on_files(files, config):
    for file in list(files):
        if file.src_path.endswith((".go", ".py")):
            files.remove(file)
    for name in sorted(os.listdir(RESULTS)):
        if name.endswith(".svg"):
            files.append(File(name, RESULTS, config["site_dir"], False))
    return files


def on_page_markdown(markdown, page, config, files):
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_path))

    def outside(match):
        path = posixpath.normpath(posixpath.join(folder, match[2]))
        if path.startswith("docs/"):
            return match[0]
        if path.endswith(".svg"):
            return f"{match[1]}{posixpath.relpath('docs', folder)}/{posixpath.basename(path)}{match[3]}"
        return f"{match[1]}{config['repo_url'].rstrip('/')}/blob/main/{path}{match[3]}"

    lines, step = [], False
    for line in LINK.sub(outside, markdown).split("\n"):
        step = bool(re.match(r"\d+\. ", line)) or step and (not line or line.startswith("   "))
        lines.append(" " + line if step and line.startswith("   ") else line)
    return "\n".join(lines)
