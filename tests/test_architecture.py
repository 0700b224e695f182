"""The shape of the code: who imports whom, what is public, how long files are, what importing costs."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import pliant as pl

ROOT = Path(pl.__file__).parent
REPOSITORY = Path(__file__).parent.parent
MODULES = sorted(ROOT.rglob("*.py"))
FOUNDATIONS = {
    "arrays",
    "conditions",
    "drive",
    "errors",
    "files",
    "inputs",
    "lazy",
    "sparse",
    "status",
    "threads",
    "timing",
}
# What each part may import of pliant, beside itself. Parts that are not listed stand above all of these.
LAYERS = {
    "conditions": set(),
    "arrays": set(),
    "drive": {"errors", "inputs"},
    "errors": set(),
    "inputs": {"errors"},
    "files": {"errors"},
    "threads": {"errors"},
    "timing": set(),
    "state": set(),
    "status": set(),
    "points": FOUNDATIONS,
    "laws": FOUNDATIONS,
    "mesh": FOUNDATIONS,
    "materials": FOUNDATIONS,
    "algebra": FOUNDATIONS,
    "solvers": FOUNDATIONS | {"algebra"},
    "pneumatics": FOUNDATIONS,
    "interactions": FOUNDATIONS | {"points", "algebra", "pneumatics"},
    "bodies": FOUNDATIONS | {"points", "algebra", "mesh", "materials"},
    "contact": FOUNDATIONS | {"points", "algebra", "mesh", "interactions"},
    "robot": FOUNDATIONS | {"algebra", "bodies", "interactions", "laws", "state", "contact"},
    "result": FOUNDATIONS | {"robot", "state", "contact"},
    "core": FOUNDATIONS | {"algebra", "solvers", "bodies", "contact", "robot", "pneumatics"},
    "newton": FOUNDATIONS | {"contact", "solvers", "core"},
    "static": FOUNDATIONS
    | {"bodies", "contact", "laws", "robot", "state", "result", "core", "newton", "units"},
    "dynamics": FOUNDATIONS
    | {"algebra", "solvers", "interactions", "bodies", "contact", "laws", "robot", "state", "result", "core"},
    "sensing": FOUNDATIONS
    | {
        "algebra",
        "bodies",
        "solvers",
        "points",
        "interactions",
        "contact",
        "laws",
        "robot",
        "state",
        "core",
        "static",
        "dynamics",
    },
    "joints": FOUNDATIONS | {"interactions", "laws", "robot"},
    "assemble": FOUNDATIONS
    | {"bodies", "interactions", "laws", "robot", "result", "core", "static", "units"},
    "compliance": FOUNDATIONS | {"algebra", "laws", "robot", "state", "core"},
    "urdf": FOUNDATIONS | {"bodies", "interactions", "joints", "laws", "mesh", "robot"},
    "things": FOUNDATIONS
    | {"algebra", "solvers", "bodies", "interactions", "laws", "materials", "mesh", "robot", "result"}
    | {"core", "static"},
}
TOPS = {"cli", "studio"}  # nothing imports them
BARE = {"Exception", "ValueError", "TypeError", "IndexError", "KeyError", "RuntimeError", "ImportError"}
HEAVY = ("matplotlib", "meshio", "rich", "tyro", "pandas", "PIL", "IPython", "pytest")


def part(path: Path) -> str:
    """The layer that a file belongs to: its folder or name directly below the package."""
    return path.relative_to(ROOT).with_suffix("").parts[0]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(path: Path) -> set[str]:
    """Parts of pliant that a file imports, anywhere in it."""
    package = ("pliant", *path.relative_to(ROOT).parent.parts)
    names = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = list(package[: len(package) + 1 - node.level]) if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names |= {f"{base}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("pliant.")}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


# Imports


@pytest.mark.parametrize("layer", list(LAYERS))
def test_layers_import_downwards_only(layer):
    files = [path for path in MODULES if part(path) == layer]
    assert files, f"{layer} is gone: update LAYERS"
    for path in files:
        extra = imports(path) - LAYERS[layer] - {layer}
        assert not extra, f"{name_of(path)} imports {sorted(extra)}"


def test_interactions_never_import_bodies():
    users = [name_of(p) for p in MODULES if part(p) == "interactions" and "bodies" in imports(p)]
    assert not users


def test_algebra_and_solvers_know_arrays_only():
    physics = {"bodies", "interactions", "robot", "mesh", "materials", "points", "laws"}
    users = [name_of(p) for p in MODULES if part(p) in ("algebra", "solvers") and imports(p) & physics]
    assert not users


def test_nothing_imports_the_tops():
    users = [
        name_of(p) for p in MODULES if imports(p) & (TOPS - {part(p)}) and part(p) not in ("__main__", "cli")
    ]
    assert not users


def test_layers_form_no_circle():
    """Between parts; within one, files may refer to each other."""
    graph: dict[str, set[str]] = {}
    for path in MODULES:
        if part(path) != "__init__":
            graph.setdefault(part(path), set()).update(imports(path) & {part(p) for p in MODULES})
    done: set[str] = set()
    while len(done) < len(graph):
        ready = {name for name, needs in graph.items() if name not in done and needs - {name} <= done}
        assert ready, f"a circle among {sorted(set(graph) - done)}"
        done |= ready


def test_the_step_asks_nobody_for_its_type():
    for name in ("core/step.py", "core/tangent.py", "inverse/controller.py", "inverse/condensed.py"):
        path = ROOT / name
        if path.exists():
            called = {
                n.func.id for n in ast.walk(tree(path)) if isinstance(n, ast.Call) and hasattr(n.func, "id")
            }
            assert not called & {"isinstance", "issubclass", "hasattr", "type"}, name


def test_the_step_is_one_short_file_and_written_once():
    """condense → solve → recover, in this order; everything that moves a robot goes through it or through its
    parts.
    """
    path = ROOT / "core" / "step.py"
    assert len(path.read_text().splitlines()) <= 150
    body = next(n for n in tree(path).body if isinstance(n, ast.FunctionDef) and n.name == "step")
    named = [n.id for n in ast.walk(body) if isinstance(n, ast.Name)]
    places = [named.index(word) for word in ("condensed", "solve", "recover")]
    assert places == sorted(places)


def test_one_place_catches_a_bad_pivot():
    caught = {
        str(path.relative_to(ROOT))
        for path in MODULES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ExceptHandler) and node.type and "NotPositiveDefinite" in ast.dump(node.type)
    }
    assert caught == {"core/tangent.py"}


def test_importing_the_package_is_light():
    code = f"import sys, pliant; print([m for m in {HEAVY!r} if m in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY, check=True
    )
    assert run.stdout.strip() == "[]"
    assert not run.stderr


# Errors


def test_errors_have_one_root():
    """No file raises a bare Python error at a user."""
    found = []
    for path in MODULES:
        for node in ast.walk(tree(path)):
            raised = node.exc if isinstance(node, ast.Raise) else None
            raised = raised.func if isinstance(raised, ast.Call) else raised
            if isinstance(raised, ast.Name) and raised.id in BARE:
                found.append(f"{name_of(path)}:{node.lineno} raises {raised.id}")
    assert not found, "\n".join(found)


def test_every_error_descends_from_the_root():
    classes = [c for _, c in inspect.getmembers(pl.errors, inspect.isclass) if issubclass(c, Exception)]
    ours = [c for c in classes if c.__module__ == "pliant.errors" and not issubclass(c, Warning)]
    assert all(issubclass(c, pl.PliantError) for c in ours) and len(ours) >= 5
    assert all(c.__doc__ for c in classes)


def test_the_library_does_not_print():
    speakers = {"cli", "bench", "doctor", "__main__", "studio"}
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in MODULES
        if part(path) not in speakers and "workers" not in path.parts
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print"
    ]
    assert not found


# Public names


def public() -> dict[str, object]:
    """What the package root offers, without the submodules that Python adds by itself."""
    chosen = {
        a.asname or a.name
        for n in ast.walk(tree(ROOT / "__init__.py"))
        if isinstance(n, ast.ImportFrom) and n.module != "typing"
        for a in n.names
    }
    used = ("pin_blas", "lazy")
    return {name: getattr(pl, name) for name in chosen if not name.startswith("_") and name not in used}


def test_the_root_has_few_names():
    names = [name for name, thing in public().items() if not inspect.ismodule(thing)]
    assert len(names) <= 50, sorted(names)


@pytest.mark.parametrize("name", sorted(public()))
def test_every_public_name_is_documented(name):
    thing = public()[name]
    text = inspect.getdoc(thing) or ""
    assert len(text) > 10 and not text.startswith(f"{name}("), f"{name} has no docstring of its own"
    if inspect.isclass(thing):
        for key, member in vars(thing).items():
            described = inspect.isfunction(member) or isinstance(member, property)
            if described and not key.startswith("_"):
                inherited = next(
                    (
                        getattr(getattr(b, key, None), "__doc__", None)
                        for b in thing.__mro__[1:]
                        if hasattr(b, key)
                    ),
                    None,
                )
                assert member.__doc__ or inherited, f"{name}.{key} has no docstring"


def test_public_names_of_packages_exist():
    for package in (pl.mesh, pl.materials, pl.interactions, pl.solvers, pl.robots):
        missing = [name for name in getattr(package, "__all__", ()) if not hasattr(package, name)]
        assert not missing, f"{package.__name__}: {missing}"


def test_every_module_is_documented():
    without = [name_of(p) for p in MODULES if not ast.get_docstring(tree(p))]
    assert not without


def test_public_functions_say_what_they_take():
    """Types stand in annotations."""
    for name, thing in public().items():
        if inspect.isfunction(thing):
            signature = inspect.signature(thing)
            bare = [p.name for p in signature.parameters.values() if p.annotation is inspect.Parameter.empty]
            assert not bare and signature.return_annotation is not inspect.Signature.empty, f"{name}: {bare}"


# Size and cleanliness


def test_files_are_short():
    long = {name_of(p): n for p in MODULES if (n := len(p.read_text(encoding="utf-8").splitlines())) > 400}
    assert not long


def test_functions_are_short():
    """Most under 40 lines; none so long that it cannot be seen at once."""
    lengths = {
        f"{name_of(path)}: {node.name}": node.end_lineno - node.lineno + 1
        for path in MODULES
        for node in ast.walk(tree(path))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    assert sum(n <= 40 for n in lengths.values()) > 0.95 * len(lengths)
    assert not {name: n for name, n in lengths.items() if n > 100}


def text_files() -> list[Path]:
    folders = ("pliant", "tests", "docs", "examples", "benchmarks", ".ci", ".github")
    kinds = {
        ".py",
        ".md",
        ".toml",
        ".yml",
        ".yaml",
        ".json",
        ".txt",
        ".cfg",
        ".sh",
        ".rst",
        ".js",
        ".html",
        ".css",
    }
    found = [p for folder in folders for p in (REPOSITORY / folder).rglob("*") if p.suffix in kinds]
    return sorted([*found, *(p for p in REPOSITORY.glob("*") if p.is_file() and p.suffix in kinds | {""})])


def test_no_file_names_a_machine():
    """Paths of the machine that a file was written on."""
    roots = ["/" + name + "/" for name in ("work", "home", "root", "Users", "mnt", "opt")]
    roots += ["C:" + "\\", "/" + "tmp" + "/"]
    found = [
        f"{path.relative_to(REPOSITORY)}: {root}"
        for path in text_files()
        for root in roots
        if root in path.read_text(encoding="utf-8", errors="ignore")
    ]
    assert not found, "\n".join(found)
