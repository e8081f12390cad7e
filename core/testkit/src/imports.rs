//! Which files of a crate import each other, read from the `use` lines and the paths of its source.
//!
//! ```text
//! use crate::a::b::{C, d::E};   from the file's module: edges to the files of a::b and a::b::d, the longest path that is a file
//! use super::x; use self::x;    resolved against the module of the file; inline modules count as one more `super`
//! use child::X;                 an edge to the child, if the module has one of this name
//! super::x::f(), crate::a::B    elsewhere in the source: as with `use`
//! ```
//! Tests (`mod tests`, files called tests.rs) may import anything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A module as its path from the root of the crate; the root is empty.
pub type Module = Vec<String>;

/// The source of each module in the folder of a crate's source, without comments and tests.
///
/// # Panics
/// When a file cannot be read.
pub fn sources(src: &Path) -> BTreeMap<Module, String> {
    fn visit(folder: &Path, module: &Module, found: &mut BTreeMap<Module, String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_string();
            let mut own = module.clone();
            if path.is_dir() {
                own.push(name);
                visit(&path, &own, found);
            } else if name != "tests" {
                if name != "mod" && name != "lib" {
                    own.push(name);
                }
                found.insert(own, without_tests(&std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut found = BTreeMap::new();
    visit(src, &Vec::new(), &mut found);
    found
}

fn without_tests(text: &str) -> String {
    let end = text.find("mod tests {").unwrap_or(text.len());
    let lines = text[..end].lines().map(|line| line.split("//").next().unwrap_or(""));
    lines.collect::<Vec<_>>().join("\n")
}

/// The paths that a `use` tree names: `a::{b, c::D}` is `a::b` and `a::c::D`.
fn leaves(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        return vec![tree.split(" as ").next().unwrap().trim().to_string()];
    };
    let (prefix, inner) = (&tree[..open], &tree[open + 1..tree.rfind('}').unwrap()]);
    let (mut depth, mut parts, mut part) = (0, Vec::new(), String::new());
    for c in inner.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(core::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    parts.push(part);
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| leaves(part)).map(|leaf| format!("{prefix}{leaf}")).collect()
}

/// How many inline modules `text` has begun and not ended.
fn inline_modules(text: &str) -> usize {
    let mut open = Vec::new();
    let mut words = String::new();
    for c in text.chars() {
        match c {
            '{' => open.push(words.trim().rsplit(['\n', ';', '}']).next().unwrap_or("").contains("mod ")),
            '}' => drop(open.pop()),
            _ => {
                words.push(c);
                continue;
            }
        }
        words.clear();
    }
    open.iter().filter(|is_module| **is_module).count()
}

/// The paths that `use` lines bring in, and where each line begins.
fn used(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("use ") {
        // The word also stands in messages.
        let Some(end) = text[at..].find(';') else { continue };
        if begins_use(text, at) {
            found.extend(leaves(&text[at + 4..at + end]).into_iter().map(|leaf| (at, leaf)));
        }
    }
    found
}

fn begins_use(text: &str, at: usize) -> bool {
    let before = text[..at].rsplit('\n').next().unwrap_or("").trim();
    before.is_empty() || before == "pub" || before.starts_with("pub(")
}

/// The paths that begin with `crate`, `super` or `self` outside `use` lines, and where.
fn named(text: &str) -> Vec<(usize, String)> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for (at, _) in ["crate::", "super::", "self::"].iter().flat_map(|root| text.match_indices(root)) {
        let statement = text[..at].rfind([';', '}']).map_or(0, |end| end + 1);
        let imported =
            text[statement..at].match_indices("use ").any(|(n, _)| begins_use(text, statement + n));
        // Part of a longer path, or of `pub(in crate::x)`.
        if imported || text[..at].ends_with(|c: char| word(c) || c == ':') || text[..at].ends_with("(in ") {
            continue;
        }
        let end = text[at..].find(|c: char| !word(c) && c != ':').unwrap_or(text.len() - at);
        found.push((at, text[at..at + end].trim_end_matches(':').to_string()));
    }
    found
}

/// The file that `path` leads to from `inline` modules inside `module`; none where it is of another crate.
fn file_of(sources: &BTreeMap<Module, String>, module: &Module, inline: usize, path: &str) -> Option<Module> {
    let mut segments: Vec<&str> = path.split("::").map(str::trim).collect();
    let mut file: Module = module.clone();
    file.extend(std::iter::repeat_n(String::new(), inline));
    match segments[0] {
        "crate" => file.clear(),
        "super" | "self" => {}
        first if sources.contains_key(&[module.as_slice(), &[first.to_string()]].concat()) => {
            segments.insert(0, "self");
        }
        _ => return None,
    }
    for segment in segments {
        match segment {
            "crate" | "self" => {}
            "super" => drop(file.pop()),
            name => file.push(name.to_string()),
        }
    }
    file.retain(|segment| !segment.is_empty());
    while !sources.contains_key(&file) {
        file.pop();
    }
    Some(file)
}

/// Which files each file imports, in the folder of a crate's source.
///
/// # Panics
/// When a file cannot be read, or no import is found.
pub fn imports(src: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let sources = sources(src);
    let mut imports = BTreeMap::<Module, BTreeSet<Module>>::new();
    for (module, text) in &sources {
        let paths = used(text).into_iter().chain(named(text));
        let found =
            paths.filter_map(|(at, path)| file_of(&sources, module, inline_modules(&text[..at]), &path));
        imports.insert(module.clone(), found.filter(|file| file != module).collect());
    }
    assert!(imports.values().any(|own| !own.is_empty()), "the parser finds imports");
    imports
}

/// The module as the source names it.
pub fn name(module: &Module) -> String {
    if module.is_empty() { "lib".to_string() } else { module.join("::") }
}

/// The files that stand in circles, or between two, each with what it imports of the others: a line each, none if all is well.
pub fn circles(imports: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<String> {
    let mut left = imports.clone();
    // A file that imports nothing that is left is in no circle.
    loop {
        let before = left.len();
        let there: BTreeSet<Module> = left.keys().cloned().collect();
        left.retain(|_, imports| imports.iter().any(|import| there.contains(import)));
        if left.len() == before {
            break;
        }
    }
    // Nor is one that nothing left imports.
    loop {
        let before = left.len();
        let imported: BTreeSet<Module> = left.values().flatten().cloned().collect();
        left.retain(|module, _| imported.contains(module));
        if left.len() == before {
            break;
        }
    }
    left.iter()
        .map(|(module, imports)| {
            let imports: Vec<_> =
                imports.iter().filter(|import| left.contains_key(*import)).map(name).collect();
            format!("{} imports {}", name(module), imports.join(", "))
        })
        .collect()
}
