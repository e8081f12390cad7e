#!/usr/bin/env python3
"""Lists the public items of blosc-core and blosc-frame, with their declarations, from the pages that `cargo doc` wrote.

    python3 .ci/api.py            status 1 if docs/api differs from the code
    python3 .ci/api.py --write    brings docs/api up to date; the change is reviewed as part of a commit

What the lists hold is what version 0.1.0 will keep. Trait implementations are named; those that every type has are left out.
"""

import html
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ROOT / "target/doc"
KINDS = ("struct", "enum", "union", "trait", "fn", "constant", "static", "macro", "type")


def text(markup):
    """What a browser shows of it, on one line."""
    markup = re.sub(r'<span class="(?:where|notable)[^>]*></span>|<a [^>]*class="tooltip"[^>]*>.*?</a>', "", markup)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " " if "<br" in markup else "", markup)).split())


def page(path, crate):
    """The item of one page, a line for each thing that it declares."""
    markup = path.read_text()
    kind, name = path.name.removesuffix(".html").split(".", 1)
    where = "::".join((crate, *path.parent.relative_to(PAGES / crate).parts, name))
    declaration = re.search(r'<pre class="rust item-decl"><code>(.*?)</code></pre>', markup, re.S)
    yield f"{kind} {where}"
    yield f"    {text(declaration[1])}"
    # Automatic and blanket implementations come last.
    own = re.split(r'id="(?:synthetic|blanket)-implementations"', markup)[0]
    traits = own.find('id="trait-implementations"')
    for found in re.finditer(r'<(h[34]) class="code-header">(.*?)</\1>', own, re.S):
        header = text(found[2])
        inherent = traits < 0 or found.start() < traits
        if inherent and found[1] == "h4" or not inherent and found[1] == "h3":
            yield f"    {header}"


def listing(crate):
    # Pages of items that are no more stay in the folder; this one lists those there are.
    listed = re.findall(r'<li><a href="([^"]+)"', (PAGES / crate / "all.html").read_text())
    pages = [PAGES / crate / path for path in listed if path.split("/")[-1].split(".")[0] in KINDS]
    assert len(pages) > 20, f"{PAGES / crate}: run `cargo doc --no-deps` first"
    items = ["\n".join(page(path, crate)) for path in pages]
    return "\n".join(sorted(items)) + "\n"


def main():
    status = 0
    for crate in ("blosc_core", "blosc_frame"):
        kept, now = ROOT / "docs/api" / f"{crate.replace('_', '-')}.txt", listing(crate)
        if sys.argv[1:] == ["--write"]:
            kept.parent.mkdir(exist_ok=True)
            kept.write_text(now)
        elif kept.read_text() != now:
            before, after = set(kept.read_text().splitlines()), set(now.splitlines())
            print(f"{kept.relative_to(ROOT)} differs from the code; python3 .ci/api.py --write brings it up to date")
            print(*(f"- {line.strip()}" for line in sorted(before - after)), sep="\n")
            print(*(f"+ {line.strip()}" for line in sorted(after - before)), sep="\n")
            status = 1
    return status


sys.exit(main())
