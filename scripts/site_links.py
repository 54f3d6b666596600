# SPDX-License-Identifier: BSD-3-Clause
"""Hooks of mkdocs: links that leave docs/ lead to the forge, and programs of docs/ are no part of the site."""
import posixpath
import re

LINK = re.compile(r"(\]\()((?:\.\./)+[^)\s]+)(\))")


def on_files(files, config):
    for file in list(files):
        if file.src_path.endswith((".go", ".py")):
            files.remove(file)
    return files


def on_page_markdown(markdown, page, config, files):
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_path))

    def outside(match):
        path = posixpath.normpath(posixpath.join(folder, match[2]))
        if path.startswith("docs/"):
            return match[0]
        kind = "raw" if path.partition("#")[0].endswith((".svg", ".png")) else "blob"
        return f"{match[1]}{config['repo_url'].rstrip('/')}/{kind}/main/{path}{match[3]}"

    return LINK.sub(outside, markdown)
