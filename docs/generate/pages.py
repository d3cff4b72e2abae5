"""The pages of ``docs/reference``: one per public module, the commands, the games, the index."""

from __future__ import annotations

import os
from pathlib import Path

import click

from docs.generate.docstrings import slug, summary, to_markdown
from docs.generate.game_pages import game_pages
from docs.generate.interface_page import INTERFACE_PAGE, interface_page
from docs.generate.sources import ROOT, Member, Module, public_modules

__all__ = ["HAND_WRITTEN", "REFERENCE", "pages", "write_pages"]

REFERENCE = ROOT / "docs" / "reference"
HAND_WRITTEN = (Path("file-formats.md"),)
"""Pages of the reference that people write."""

_NOTICE = "<!-- Written by `python -m docs.generate` from the sources; edit those. -->"
_WIDEST_SIGNATURE = 100
_ROOMS = {
    "glem.core": "Core: knows no game",
    "glem.games": "Games: rules, notations and file formats",
    "glem.plugins": "Plugins: what each game gives to learning",
}


def pages() -> dict[Path, str]:
    """Text of every generated page by its path relative to :data:`REFERENCE`."""
    modules = public_modules()
    targets = _link_targets(modules)
    found = {module.page: _module_page(module, targets) for module in modules}
    found[Path("README.md")] = _index_page(modules)
    found[Path("commands.md")] = _commands_page()
    found[INTERFACE_PAGE] = interface_page(modules, lambda module: _Linker(module, targets), _NOTICE)
    for place, text in game_pages(modules, _NOTICE).items():
        if place in found:
            raise LookupError(f"{place} is the page of a module and of a game: make the game a package")
        found[place] = text
    return found


def write_pages() -> None:
    """Write all pages and remove those whose source has gone."""
    wanted = pages()
    for path in REFERENCE.rglob("*.md"):
        if path.relative_to(REFERENCE) not in {*wanted, *HAND_WRITTEN}:
            path.unlink()
    for place, text in wanted.items():
        target = REFERENCE / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


# A page per module.


def _link_targets(modules: list[Module]) -> dict[str, tuple[Path, str]]:
    """Full name of every module and name to its page and anchor; names that are not exported have none."""
    targets: dict[str, tuple[Path, str]] = {}
    for module in modules:
        targets[module.name] = (module.page, "")
        targets |= {f"{module.name}.{name}": (module.page, "") for name in module.definitions}
        for member in module.members:
            for named in (member, *member.members):
                targets[f"{module.name}.{named.name}"] = (module.page, slug(named.name))
    for module in modules:
        for name, origin in module.reexports.items():
            if origin in targets:
                targets[f"{module.name}.{name}"] = targets[origin]
    return targets


class _Linker:
    """Resolves the names in one module's docstrings as a reader of that module would."""

    def __init__(self, module: Module, targets: dict[str, tuple[Path, str]]) -> None:
        self.module = module
        self.targets = targets

    def __call__(self, name: str) -> str | None:
        found = self.targets.get(f"{self.module.name}.{name}") or self.targets.get(name)
        if found is None:
            if name.startswith("glem."):
                raise LookupError(f"{self.module.name}: a docstring refers to {name!r}, which is nowhere")
            elsewhere = {target for full, target in self.targets.items() if full.endswith(f".{name}")}
            if len(elsewhere) != 1:
                return None
            found = elsewhere.pop()
        page, anchor = found
        path = "" if page == self.module.page else os.path.relpath(page, self.module.page.parent)
        return f"{path}#{anchor}" if anchor else path or None


def _module_page(module: Module, targets: dict[str, tuple[Path, str]]) -> str:
    link = _Linker(module, targets)
    parts = [_NOTICE, f"# {module.name}", to_markdown(module.docstring, link)]
    if module.reexports:
        names = [f"[`{name}`]({link(name)})" for name in sorted(module.reexports) if link(name)]
        parts.append(f"It offers {', '.join(names)}.")
    for member in module.members:
        parts += [f"## {member.name}", _signature(member), to_markdown(member.docstring, link)]
        for inner in member.members:
            parts += [f"### {inner.name}", _signature(inner), to_markdown(inner.docstring, link)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _signature(member: Member) -> str:
    """Definition as code, one argument a line where it is too wide for a page."""
    text = member.signature
    if max(map(len, text.splitlines())) > _WIDEST_SIGNATURE and "(" in text:
        head, _, rest = text.partition("(")
        inside, _, tail = rest.rpartition(")")
        lines = "".join(f"    {argument},\n" for argument in _split_arguments(inside))
        text = f"{head}(\n{lines}){tail}"
    return f"```python\n{text}\n```"


def _split_arguments(text: str) -> list[str]:
    """Split at the commas that lie in no bracket and no string."""
    arguments, depth, start, quote = [], 0, 0, ""
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            arguments.append(text[start:place].strip())
            start = place + 1
    return [*arguments, text[start:].strip()]


def _index_page(modules: list[Module]) -> str:
    parts = [
        _NOTICE,
        "# Reference",
        "- [Commands](commands.md): every command of `glem` and its options\n"
        "- [Games](games.md): the installed games and the facts that glem knows of them\n"
        "- [The interface of games](interface.md): what a plugin gives, in types, units and contracts\n"
        "- [File formats](file-formats.md): what glem reads and writes",
        f"- [`glem`](glem.md): {summary(modules[0].docstring)}",
    ]
    for room, title in _ROOMS.items():
        rows = [
            f"- [`{module.name}`]({module.page.as_posix()}): {_plain_summary(module)}"
            for module in modules
            if module.name == room or module.name.startswith(f"{room}.")
        ]
        parts += [f"## {title}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def _plain_summary(module: Module) -> str:
    return to_markdown(summary(module.docstring), lambda _name: None)


# Commands, from what click knows of them.


def _commands_page() -> str:
    from glem.core.cli import command_group

    context = click.Context(command_group, info_name="glem", **command_group.context_settings)
    parts = [_NOTICE, "# Commands", to_markdown(command_group.help, lambda _name: None)]
    for name in command_group.list_commands(context):
        command = command_group.get_command(context, name)
        if command is None:
            raise LookupError(f"the command {name!r} is listed and cannot be loaded")
        inner = click.Context(command, info_name=name, parent=context)
        usage = " ".join([f"glem {name}", *command.collect_usage_pieces(inner)])
        parts += [f"## glem {name}", f"```text\n{usage}\n```", _help_text(command.help)]
        rows = [_option_row(parameter, inner) for parameter in command.get_params(inner)]
        rows = [row for row in rows if row]
        if rows:
            parts.append("| Option | Meaning |\n|---|---|\n" + "\n".join(rows))
    return "\n\n".join(part for part in parts if part) + "\n"


def _help_text(text: str | None) -> str:
    """Turn a command's help into Markdown; click's mark for a paragraph that keeps its lines gives a code block."""
    paragraphs = []
    for paragraph in to_markdown((text or "").replace("\f", ""), lambda _name: None).split("\n\n"):
        kept = paragraph.removeprefix("\b\n")
        paragraphs.append(kept if kept == paragraph else f"```text\n{kept}\n```")
    return "\n\n".join(paragraphs)


def _option_row(parameter: click.Parameter, context: click.Context) -> str:
    if not isinstance(parameter, click.Option) or "--help" in parameter.opts:
        return ""
    record = parameter.get_help_record(context)
    if record is None:
        return ""
    names, meaning = (" ".join(text.split()).replace("|", "\\|") for text in record)
    return f"| `{names}` | {meaning} |"
