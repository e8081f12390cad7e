"""Do the tests notice? Mutants that a seed draws, all in one program, each run with the tests that reach it.

    python3 .ci/drawn.py 57 blosc-cli=60 blosc2-capi=22 blosc-frame=38 blosc-core=18
    python3 .ci/drawn.py --again      what was missed once more, with the tests as they are now

A mutant is the code with one small change, from a list like that of cargo-mutants (see `mutants_of`). To build each by itself
would take minutes. Every change stands beside what it changes, under `if on(17)`, and the environment says which is in force:

1. A worktree of what is committed gets all changes. Those that do not compile are replaced by the next ones of the draw.
2. Each test runs alone once, without a change, and says which places it reached.
3. Each mutant runs with the tests of its own package that reached it, the quickest first, until one fails. A mutant that
   they let pass runs with those of the other packages, too: a promise of a library that only the command's tests hold
   needs a test further down.

The folder target/drawn keeps that and what is known, so that a run that was ended goes on. The Python packages tree-sitter
and tree-sitter-rust are needed. Where `BLOSC_LIBBLOSC2` and `BLOSC_ADAPTERS_PYTHON` are set, as .ci/test and .ci/adapters set
them, the tests that need them run, too.
"""

import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import tree_sitter
import tree_sitter_rust

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
ROOT = subprocess.run(["git", "rev-parse", "--show-toplevel"], check=True, capture_output=True, text=True).stdout.strip()
HOME = os.environ.get("BLOSC_DRAWN", f"{ROOT}/target/drawn")
TREE = f"{HOME}/tree"

# The sources of each package, without the kernels of `core/src/arch`: a test that walks their table compares them with
# their scalar twins.
PACKAGES = {
    "blosc-core": ["core/src/chunk", "core/src/codec", "core/src/filter", "core/src/pool", "core/src/pool.rs", "core/src/arch/level"],
    "blosc-frame": ["frame/src"],
    "blosc-cli": ["frame/cli/src"],
    "blosc2-capi": ["frame/capi/src"],
}
FEATURES = ",".join(
    [f"blosc-cli/{name}" for name in ("zarr", "hdf5")] + [f"blosc-frame/{name}" for name in ("ndarray", "advise", "store", "table", "zfp")] + ["blosc-core/zfp"]
)
# Files that are tests, though their names do not lie in a folder of tests.
TESTS = ("/calls/", "/tests/", "/tests.rs", "/differential.rs", "frame/src/b2nd/model.rs")

# ---- the list ------------------------------------------------------------------------------------

OPERATORS = {
    "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"], "<": ["==", ">", "<="], ">": ["==", "<", ">="], "<=": [">"], ">=": ["<"],
    "+": ["-", "*"], "-": ["+", "/"], "*": ["+", "/"], "/": ["%", "*"], "%": ["/", "+"],
    "<<": [">>"], ">>": ["<<"], "&": ["|", "^"], "|": ["&", "^"], "^": ["|", "&"],
}  # fmt: skip
for operator in "+ - * / % & | ^ << >>".split():
    OPERATORS[operator + "="] = [other + "=" for other in OPERATORS[operator]]
INTEGERS = {f"{sign}{bits}" for sign in "iu" for bits in ("8", "16", "32", "64", "128", "size")} | {"c_int"}


def values(kind):
    """What the body of a function with this return type is replaced by."""
    if kind is None or kind.type == "unit_type":
        return ["()"]
    name = kind.text.decode()
    if name == "bool":
        return ["true", "false"]
    if name in INTEGERS:
        return ["0", "1"] + ["-1"] * (name[0] != "u")
    if name in ("f32", "f64"):
        return ["0.0", "1.0", "-1.0"]
    if name == "String":
        return ["std::string::String::new()", '"xyzzy".into()']
    if kind.type == "reference_type":
        inner = [child for child in kind.named_children if child.type not in ("lifetime", "mutable_specifier")][0]
        if inner.text == b"str":
            return ['""', '"xyzzy"']
        if inner.type == "array_type" and b";" not in inner.text:
            items = "std::vec::Vec::leak(std::vec!%s)"
            return [items % "[]"] + [items % f"[{value}]" for value in values(inner.named_children[0])]
        return [f"std::boxed::Box::leak(std::boxed::Box::new({value}))" for value in values(inner)]
    if kind.type == "tuple_type":
        rows = [""]
        for part in kind.named_children:
            rows = [row + value + ", " for row in rows for value in values(part)]
        return [f"({row})" for row in rows[:6]]
    if kind.type == "array_type" and ";" in name:
        length = name.rsplit(";", 1)[1].strip(" ]")
        return [f"[{value}; {length}]" for value in values(kind.named_children[0])]
    if kind.type in ("abstract_type", "dynamic_type", "never_type", "function_type", "pointer_type"):
        return []
    if kind.type == "generic_type":
        outer = kind.named_children[0].text.decode().split("::")[-1]
        of = [child for child in kind.named_children[-1].named_children if child.type != "lifetime"]
        inner = values(of[0]) if of else []
        if outer == "Result":
            return [f"Ok({value})" for value in inner]
        if outer == "Option":
            return ["None"] + [f"Some({value})" for value in inner]
        if outer == "Vec":
            return ["std::vec![]"] + [f"std::vec![{value}]" for value in inner]
        if outer in ("Box", "Rc", "Arc"):
            return [f"{outer}::new({value})" for value in inner]
        if outer == "Cow":
            return ["std::borrow::Cow::Owned(Default::default())"]
        return ["Default::default()"]
    return ["Ok(Default::default())"] if name.split("::")[-1] == "Result" else ["Default::default()"]


SKIPPED = {
    "macro_invocation", "macro_definition", "const_item", "static_item", "attribute_item", "inner_attribute_item", "type_item", "use_declaration",
    "struct_item", "enum_item", "union_item", "const_block", "array_type", "type_arguments", "where_clause", "type_parameters",
}  # fmt: skip
# The parser takes `*a..*b` for a product; conditions with `let` have no other operators.
NO_OPERAND = ("let_condition", "let_chain", "range_expression")


def attributes(node):
    found, before = [], node.prev_named_sibling
    while before is not None and before.type in ("attribute_item", "line_comment", "block_comment"):
        found.append(before)
        before = before.prev_named_sibling
    return b" ".join(each.text for each in found if each.type == "attribute_item").decode()


def mutants_of(path):
    """All mutants of a file: operators, bodies that only return something, arms of a match left out, conditions of arms.

    Functions that are `const` or `unsafe`, tests and macros are left out.
    """
    tree = PARSER.parse(pathlib.Path(path).read_bytes())
    found = []

    def add(node, kind, old, new, function, **more):
        place = dict(file=path, line=node.start_point[0] + 1, start=node.start_byte, end=node.end_byte)
        found.append(dict(place, kind=kind, old=old, new=new, function=function, **more))

    def span(node):
        return (node.start_byte, node.end_byte)

    def arms(node, function):
        patterns = []
        for arm in node.child_by_field_name("body").named_children:
            if arm.type == "match_arm" and not any(child.type == "attribute_item" for child in arm.children):
                patterns.append(arm.child_by_field_name("pattern"))
        wild = any(pattern.text == b"_" for pattern in patterns)
        for pattern in patterns:
            condition, end = pattern.child_by_field_name("condition"), pattern.end_byte
            if pattern.text == b"_" or (condition is not None and condition.type in NO_OPERAND):
                continue
            if condition is not None:
                end = [a for a, b in zip(pattern.children, pattern.children[1:]) if b.type == "if"][0].end_byte
            more = dict(condition=condition and span(condition), pattern=end)
            for new in ["true", "false"] * (condition is not None):
                add(pattern, "guard", condition.text.decode(), new, function, **more)
            if wild:
                add(pattern, "arm", pattern.text.decode(), "", function, **more)

    def walk(node, function, owner):
        if node.type in SKIPPED or re.search(r"cfg\((all\()?test|#\[test\]", attributes(node)):
            return
        field = node.child_by_field_name
        if node.type == "function_item":
            if any(child.type == "function_modifiers" and re.search(rb"const|unsafe", child.text) for child in node.children):
                return
            name, body = field("name").text.decode(), field("body")
            function = f"{owner}::{name}" if owner else name
            whole = re.sub(r"\s|std::vec::|std::", "", body.text.decode()[1:-1])
            empty = not [child for child in body.named_children if "comment" not in child.type]
            if not empty and not owner.startswith("Default for") and not (name == "new" and field("parameters").text == b"()"):
                for value in values(field("return_type")):
                    itself = value.startswith("Default::") and name in ("default", "new")
                    if not itself and whole != re.sub(r"\s|std::vec::|std::", "", value):
                        add(body, "body", "", value, function)
        elif node.type == "impl_item":
            owner = field("type").text.decode()
            owner = f"{field('trait').text.decode()} for {owner}" if field("trait") else owner
        elif node.type == "trait_item":
            owner = field("name").text.decode()
        elif function and node.type in ("binary_expression", "compound_assignment_expr"):
            operator, left, right = field("operator").text.decode(), field("left"), field("right")
            for new in OPERATORS.get(operator, []) if left.type not in NO_OPERAND and right.type not in NO_OPERAND else []:
                add(node, "operator", operator, new, function, left=span(left), right=span(right))
        elif function and node.type == "unary_expression" and node.children[0].type in "!-":
            add(node, "unary", node.children[0].type, "", function, left=span(node.children[1]))
        elif function and node.type == "match_expression":
            arms(node, function)
        for child in node.named_children:
            walk(child, function, owner)

    walk(tree.root_node, "", "")
    return found


def population(package):
    paths = []
    for root in PACKAGES[package]:
        paths += [root] if root.endswith(".rs") else [f"{folder}/{name}" for folder, _, names in os.walk(root) for name in names]
    return [mutant for path in sorted(paths) if path.endswith(".rs") and not any(test in path for test in TESTS) for mutant in mutants_of(path)]


def key(mutant):
    return f"{mutant['file']}:{mutant['start']}:{mutant['end']}:{mutant['kind']}:{mutant['new']}"


def told(mutant):
    old, new = " ".join(mutant["old"].split()), mutant["new"] or "nothing"
    change = {"body": f"body to `{new}`", "arm": f"arm `{old}` left out"}.get(mutant["kind"], f"`{old}` to `{new}`")
    return f"{mutant['file']}:{mutant['line']} {change} in {mutant['function']}"


# ---- the changes ---------------------------------------------------------------------------------


def rendered(source, low, high, places):
    """A part of a file with the changes in it. Places may lie within others."""
    out, at = [], low
    for place in sorted((p for p in places if low <= p[0] and p[1] <= high), key=lambda p: (p[0], -p[1])):
        if place[0] >= at:
            inner = {p: here for p, here in places.items() if p != place and place[0] <= p[0] and p[1] <= place[1]}
            out += [source[at : place[0]], changed(source, place, places[place], inner)]
            at = place[1]
    return b"".join(out) + source[at:high]


def changed(source, place, mutants, inner):
    first = mutants[0]

    def part(where):
        return rendered(source, *where, inner)

    def on(mutant):
        crate = "crate" if mutant["file"].startswith("core/src") else "blosc_core"
        return f"{crate}::mutant::on({mutant['id']})".encode()

    if first["kind"] == "body":
        returns = b"".join(b" if %s { return %s; }" % (on(mutant), mutant["new"].encode()) for mutant in mutants)
        return b"{" + returns + part((place[0] + 1, place[1]))
    if first["kind"] == "operator":
        left, right = part(first["left"]), part(first["right"])
        # Without parentheses `a as u64 < b` would name a type, and a block would end a statement.
        left = b"(%s)" % left if b" as " in left or left.endswith(b"}") else left
        others = b"".join(b"if %s { %s %s %s } else " % (on(mutant), left, mutant["new"].encode(), right) for mutant in mutants)
        return b"(%s{ %s %s %s })" % (others, left, first["old"].encode(), right)
    if first["kind"] == "unary":
        operand = part(first["left"])
        return b"(if %s { %s } else { %s%s })" % (on(first), operand, first["old"].encode(), operand)
    condition = b"(%s)" % part(first["condition"]) if first["condition"] else b"true"
    for mutant in mutants:
        condition = (b"(%s || %s)" if mutant["new"] == "true" else b"(!%s && %s)") % (on(mutant), condition)
    return source[place[0] : first["pattern"]] + b" if " + condition


# It neither allocates nor needs `std`: tests count what is allocated.
RUNTIME = r"""//! Which mutant is in force.
#![allow(missing_docs, clippy::all)]
use core::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};
unsafe extern "C" {
    fn getenv(name: *const u8) -> *const u8;
    fn open(path: *const u8, flags: i32, mode: u32) -> i32;
    fn write(file: i32, from: *const u8, len: usize) -> isize;
    fn close(file: i32) -> i32;
}
static ACTIVE: AtomicI32 = AtomicI32::new(-1);
static TRACED: AtomicBool = AtomicBool::new(false);
static SEEN: [AtomicBool; 4096] = [const { AtomicBool::new(false) }; 4096];
#[deprecated]
pub fn on(n: i32) -> bool {
    let mut active = ACTIVE.load(Relaxed);
    if active < 0 {
        active = 0;
        // SAFETY: the names, and what is returned, end with a zero byte.
        unsafe {
            let mut at = getenv(b"MUTANT\0".as_ptr());
            while !at.is_null() && *at != 0 {
                active = active * 10 + i32::from(*at - b'0');
                at = at.add(1);
            }
            TRACED.store(!getenv(b"MUTANT_TRACE\0".as_ptr()).is_null(), Relaxed);
        }
        ACTIVE.store(active, Relaxed);
    }
    if TRACED.load(Relaxed) && !SEEN[n as usize].swap(true, Relaxed) {
        trace(n);
    }
    active == n
}
#[cold]
fn trace(n: i32) {
    let line = [b'0' + (n / 1000) as u8, b'0' + (n / 100 % 10) as u8, b'0' + (n / 10 % 10) as u8, b'0' + (n % 10) as u8, b'\n'];
    // SAFETY: the name was there when `TRACED` was set; the flags are Linux's O_WRONLY, O_CREAT and O_APPEND.
    unsafe {
        let file = open(getenv(b"MUTANT_TRACE\0".as_ptr()), 0o2101, 0o644);
        write(file, line.as_ptr(), 5);
        close(file);
    }
}
"""


def restore():
    subprocess.run(["git", "checkout", "-q", "--", "core", "frame"], cwd=TREE, check=True)


def apply(mutants):
    restore()
    for path in {mutant["file"] for mutant in mutants}:
        places = {}
        for mutant in mutants:
            if mutant["file"] == path:
                places.setdefault((mutant["start"], mutant["end"]), []).append(mutant)
        file = pathlib.Path(TREE, path)
        source = file.read_bytes()
        file.write_bytes(rendered(source, 0, len(source), places))
    pathlib.Path(TREE, "core/src/mutant.rs").write_text(RUNTIME)
    root = pathlib.Path(TREE, "core/src/lib.rs")
    root.write_text(root.read_text().replace("\npub mod arch;\n", "\npub mod arch;\n#[doc(hidden)]\npub mod mutant;\n", 1))


ENVIRONMENT = dict(os.environ, CARGO_INCREMENTAL="0", CARGO_PROFILE_DEV_DEBUG="0", CARGO_PROFILE_TEST_DEBUG="0", CARGO_TARGET_DIR=f"{HOME}/target")
ENVIRONMENT |= dict(BLOSC_TENTH="1", RUST_BACKTRACE="0")


def cargo(*words):
    words = ["cargo", *words, "--locked", "--message-format=json", "--features", FEATURES, *(word for package in PACKAGES for word in ("-p", package))]
    flags = "--cap-lints=warn" if "check" in words else "--cap-lints=allow"
    done = subprocess.run(words, cwd=TREE, env=dict(ENVIRONMENT, RUSTFLAGS=flags), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def check(mutants):
    """Why each of some mutants is none: what the compiler says of it, or that this machine does not compile its place.

    `on` is marked as deprecated, so that the compiler names every place that it compiles.
    """
    done, lines = cargo("check", "--keep-going")
    wrong, compiled, texts = {}, set(), {}
    for message in (line["message"] for line in lines if line.get("reason") == "compiler-message"):
        deprecated = (message.get("code") or {}).get("code") == "deprecated"
        for place in message["spans"]:
            path = os.path.normpath(f"{TREE}/{place['file_name']}")
            if not path.startswith(TREE) or not (deprecated or message["level"] == "error" and place["is_primary"]):
                continue
            if path not in texts:
                texts[path] = pathlib.Path(path).read_bytes()
            if deprecated:
                compiled.update(map(int, re.findall(rb"on\((\d+)\)", texts[path][place["byte_start"] : place["byte_end"] + 8])))
            elif before := re.findall(rb"mutant::on\((\d+)\)", texts[path][: place["byte_start"] + 30]):
                wrong.setdefault(int(before[-1]), message["message"].splitlines()[0])
    if not wrong and done.returncode:
        sys.exit(done.stderr[-3000:])
    return wrong or {mutant["id"]: "not compiled here" for mutant in mutants if mutant["id"] not in compiled}


# ---- the runs ------------------------------------------------------------------------------------


def kept(name, value=None):
    """What stands under a name in the folder, or None; a value that is given is put there."""
    file = pathlib.Path(HOME, f"{name}.json")
    if value is not None:
        file.write_text(json.dumps(value, indent=1))
    return json.loads(file.read_text()) if file.exists() else None


def draw(seed, counts):
    """The mutants, each with its number; those that do not compile are passed over."""
    if not os.path.exists(TREE):
        subprocess.run(["git", "worktree", "add", "--detach", "-q", TREE], check=True, cwd=ROOT)
    os.chdir(TREE)
    restore()
    orders = {}
    for package, count in counts.items():
        orders[package] = population(package)
        print(f"figure: {package}: {count} of {len(orders[package])} mutants, seed {seed}")
        random.Random(f"{seed} {package}").shuffle(orders[package])
    dropped, numbers = kept("dropped") or {}, {}
    while True:
        mutants = []
        for package, order in orders.items():
            good = [mutant for mutant in order if key(mutant) not in dropped][: counts[package]]
            mutants += [dict(mutant, id=numbers.setdefault(key(mutant), len(numbers) + 1), package=package, told=told(mutant)) for mutant in good]
        apply(mutants)
        wrong = check(mutants)
        for mutant in mutants:
            if mutant["id"] in wrong:
                dropped[key(mutant)] = wrong[mutant["id"]]
                print("passed over:", mutant["told"], "|", wrong[mutant["id"]], flush=True)
        kept("dropped", dropped)
        if not wrong:
            kept("mutants", mutants)
            return


def build():
    done, lines = cargo("test", "--no-run", "--lib", "--bins", "--test", "it")
    if done.returncode:
        sys.exit("\n".join(line["message"]["rendered"] for line in lines if line.get("reason") == "compiler-message")[-9000:] + done.stderr[-2000:])
    programs = {}
    for line in lines:
        if line.get("executable") and line["profile"]["test"] and line["target"]["kind"] != ["bin"]:
            folder = os.path.dirname(line["manifest_path"])
            package = max((p for p in PACKAGES if f"{TREE}/{PACKAGES[p][0]}".startswith(f"{folder}/")), key=lambda p: -len(PACKAGES[p][0]))
            programs[f"{package} {line['target']['kind'][0]}"] = [line["executable"], folder]
    kept("programs", programs)


def limited():
    """A mutant may allocate without bound; it ends with what it started. What runs in the background ignores Ctrl-C, which tests send."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.setsid()


def run(program, words, seconds, **environment):
    program, folder = program
    started = subprocess.Popen(
        [program, *words], cwd=folder, env=dict(ENVIRONMENT, **environment), preexec_fn=limited,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
    )  # fmt: skip
    try:
        return started.communicate(timeout=seconds)[0], started.returncode
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        return started.communicate()[0], "out of time"


def trace():
    """Which places each test reaches, and how long it takes. What fails without a change is no test of one."""
    tests = {}
    for name, program in kept("programs").items():
        for test in re.findall(r"^(\S+): test$", run(program, ["--list"], 60)[0], re.M):
            reached = pathlib.Path(HOME, "reached")
            reached.write_text("")
            start = time.time()
            said, status = run(program, ["--exact", test], 300, MUTANT_TRACE=str(reached))
            if status:
                print("fails without a change:", name, test, said[-400:], flush=True)
                continue
            places = sorted(set(map(int, reached.read_text().split())))
            tests[f"{name} {test}"] = dict(seconds=time.time() - start, reached=places)
    kept("tests", tests)


def judge(mutant, tests, programs):
    """Whether a test fails, and which."""
    reach = sorted((tests[test]["seconds"], test) for test in tests if mutant["id"] in tests[test]["reached"])
    own = [each for each in reach if each[1].startswith(f"{mutant['package']} ")]
    for state, left in (("caught", own.copy()), ("caught by others", [each for each in reach if each not in own])):
        while left:
            program, batch, seconds = left[0][1].rsplit(" ", 1)[0], [], 0
            while left and left[0][1].startswith(f"{program} ") and len(batch) < 25 and (not batch or seconds < 4):
                seconds, test = seconds + left[0][0], left.pop(0)[1]
                batch.append(test.rsplit(" ", 1)[1])
            said, status = run(programs[program], ["--exact", *batch], 20 + 10 * seconds, MUTANT=str(mutant["id"]))
            if status:
                return dict(state=state, reached=len(own), by=re.findall(r"^test (\S+) \.\.\. FAILED", said, re.M) or [program, status, *batch], said=said[-1500:])
    return dict(state="missed", reached=len(own), others=len(reach) - len(own))


def main(words):
    os.makedirs(HOME, exist_ok=True)
    if words == ["--again"]:
        for path in subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*/tests/*"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split():
            os.makedirs(os.path.dirname(f"{TREE}/{path}"), exist_ok=True)
            shutil.copyfile(f"{ROOT}/{path}", f"{TREE}/{path}")
        again = {number for number, result in kept("results").items() if result["state"] != "caught"}
        build()
        trace()
    else:
        counts = dict(word.split("=") for word in words[1:])
        if not kept("mutants"):
            draw(words[0], {package: int(count) for package, count in counts.items()})
        if not kept("programs"):
            build()
        if not kept("tests"):
            trace()
        again = None
    results, tests, programs = kept("results") or {}, kept("tests"), kept("programs")
    for mutant in kept("mutants"):
        number = str(mutant["id"])
        if number in again if again is not None else number not in results:
            results[number] = dict(judge(mutant, tests, programs), told=mutant["told"], package=mutant["package"])
            print(number, results[number]["state"], mutant["told"], *results[number].get("by", [])[:1], flush=True)
            kept("results", results)
    for package in sorted({result["package"] for result in results.values()}):
        states = [result["state"] for result in results.values() if result["package"] == package]
        print(f"figure: {package}:", ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states))))


if __name__ == "__main__":
    main(sys.argv[1:])
