"""The pages of the rules as Markdown, made of their docstrings."""

from __future__ import annotations

from penstock.lint.rule import Rule
from penstock.lint.rules import GROUPS, RULES


def page(rule: type[Rule]) -> str:
    """The page of a rule: what is wrong, why, the two programs, and how a finding is suppressed."""
    examples = rule.examples()
    counts = "Counts by default." if rule.default else f"Counts where it is selected: `--extend-select {rule.code}`."
    needs = f" Needs {rule.found_by}." if rule.found_by else ""
    return "\n".join(
        [
            f"# {rule.code} {rule.name()}",
            "",
            f"**{rule.summary()}** {counts}{needs}",
            "",
            rule.why(),
            "",
            "Found (the streams are those of [all examples](index.md#the-examples)):",
            "",
            f"```py\n{examples['Bad']}\n```",
            "",
            "Not found:",
            "",
            f"```py\n{examples['Good']}\n```",
            "",
            f"To suppress it in one place, end the line of the call with `# penstock: ignore[{rule.code}]`; see",
            "[Lints](index.md#suppress).",
            "",
        ]
    )


def table() -> str:
    """All rules by group, with links to their pages."""
    lines: list[str] = []
    for digit, title in GROUPS.items():
        lines += [f"### {title}", "", "| Code | Rule | Default |", "| --- | --- | --- |"]
        for code, rule in RULES.items():
            if code[2] == digit:
                lines.append(f"| [{code}]({code}.md) | {rule.summary()} | {'yes' if rule.default else 'no'} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"
