"""Every section of a format document that the code cites is there, and so is every file that a document links to, and every
commit that one names. What was measured on a CPU of AMD or Intel names one.

    python3 .ci/citations.py

A line may name the document (`docs/formats/chunk.md §2.3`); where it does not, a `§` refers to the first document that its
file names. Files about zstd cite RFC 8878 instead. An appendix is cited as `appendix B1`.
"""

import os
import re
import subprocess
import sys

DOCUMENT = re.compile(r"docs/formats/([a-z0-9]+\.md)")
SECTION = re.compile(r"§(\d+(?:\.\d+)*)|\bappendix ([A-Z])\d*|\bdefect ([A-Z])\d")
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")
COMMIT = re.compile(r"(?<![-\w])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{7,12}(?!\w)")
HEADING = re.compile(r"^#+ (\d+(?:\.\d+)*|[A-Z])\.? ", re.M)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def listed(*patterns):
    return subprocess.run(["git", "ls-files", *patterns], check=True, capture_output=True, text=True).stdout.split()


def anchors(path):
    """What a link may name in a document: its headings as GitHub spells them, and anchors of its own."""
    text = read(path)
    headings = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.M)]
    return headings + re.findall(r'<a id="([^"]+)">', text)


sections = {}
for path in listed("docs/formats/*.md"):
    text = read(path)
    sections[path.rsplit("/", 1)[1]] = set(HEADING.findall(text)) | {s.split(".")[0] for s in HEADING.findall(text)}
faults, cited = [], 0
for path in listed("*.rs"):
    text = read(path)
    first = DOCUMENT.search(text)
    if first is None and "RFC 8878" in text:
        continue
    for number, line in enumerate(text.splitlines(), 1):
        named = DOCUMENT.search(line)
        if "format document" in line and not named:
            faults.append(f"{path}:{number}: name the document, docs/formats/...")
        if named and named[1] not in sections:
            faults.append(f"{path}:{number}: there is no docs/formats/{named[1]}")
            continue
        for found in SECTION.finditer(line):
            if line[: found.start()].rstrip(" ,–").endswith("RFC 8878"):
                continue
            section = found[1] or found[2] or found[3]
            document = named or first
            cited += 1
            if document is None:
                faults.append(f"{path}:{number}: §{section} of which document?")
            elif section not in sections[document[1]]:
                faults.append(f"{path}:{number}: docs/formats/{document[1]} has no section {section}")
linked = 0
for path in listed("*.md"):
    for target in LINK.findall(read(path)):
        linked += 1
        file, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if not os.path.exists(file) or anchor and anchor not in anchors(file):
            faults.append(f"{path}: there is no {target}")
# Where not all commits are here, as in a shallow clone, there is nothing to look them up in.
whole = subprocess.run(["git", "rev-parse", "--is-shallow-repository"], capture_output=True, text=True).stdout == "false\n"
commits = subprocess.run(["git", "rev-list", "HEAD"], capture_output=True, text=True).stdout.split() if whole else []
documents = [path for path in listed("*.md") if not path.startswith("docs/formats/")]
named = [(path, name) for path in documents for name in COMMIT.findall(read(path))]
for path in documents:
    paragraphs = re.split(r"\n\s*\n", read(path))
    measured = [text for text in paragraphs if re.search(r"\b(AMD (EPYC|Zen)|Intel Xeon)\b", text) and not text.startswith("|")]
    faults += [f"{path}: of which commit? {text[:80]}" for text in measured if not COMMIT.search(text)]
known = {commit[:n] for commit in commits for n in {len(name) for _, name in named}}
faults += [f"{path}: there is no commit {name}" for path, name in named if commits and name not in known]
print(f"{cited} citations of {len(sections)} documents, {linked} links, {len(named)} commits")
sys.exit("\n".join(faults) or None)
