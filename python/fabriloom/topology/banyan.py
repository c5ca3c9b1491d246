"""One-way multistage networks with exactly one path from each terminal to each other terminal.

``n`` stages of ``base`` x ``base`` switches join base^n terminals. A terminal sends to the first stage and
receives from the last. Lines are numbered 0 … base^n - 1 between stages; line ``x`` connects to switch ``x //
base`` at port ``x % base``. The variants differ in the permutation of the lines before each stage and after
the last one (digits of a line number are counted from 0, the least significant):

=================  ======================================================================================
omega              a perfect shuffle before every stage (digits rotate up by one)
flip               the omega network reversed: the inverse shuffle after every stage
butterfly          digits 0 and s swapped before stage s
baseline           blocks of lines split into ``base`` parts by the inverse shuffle, with ever smaller blocks
indirect-cube      stage s exchanges lines that differ in digit s (Pease's indirect binary n-cube)
generalized-cube   the same from the highest digit down (Siegel)
=================  ======================================================================================
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from .family import Several, family
from .graph import MAX_TERMINALS, Graph, GraphError, Ints, check_size, whole

VARIANTS = ("omega", "flip", "butterfly", "baseline", "indirect-cube", "generalized-cube")


Variant = Annotated[
    Literal["omega", "flip", "butterfly", "baseline", "indirect-cube", "generalized-cube"],
    Field(description="How the stages are wired"),
]


@family(
    "banyan", "A one-way multistage network with one path between any two terminals.", routing="self-routing"
)
def banyan(
    terminals: Annotated[Several, Field(description="Number of terminals, a power of the base")],
    variant: Variant = "omega",
    base: Annotated[Several, Field(description="Switches are base x base")] = 2,
) -> Graph:
    """Build a one-way multistage network of switches ``s(stage,number)`` and terminals ``t.i``.

    ``terminals`` must be a power of ``base``. All links are one-way (``link_reverse`` -1).
    """
    before = lines_before(terminals, variant, base)
    stages = len(before) - 1
    per_stage = terminals // base
    switches = stages * per_stage
    line = np.arange(terminals)

    terminal = switches + line
    source = np.column_stack([terminal, (stages - 1) * per_stage + inverse(before[stages]) // base]).ravel()
    target = np.column_stack([before[0] // base, terminal]).ravel()
    port = np.column_stack([np.full(terminals, -1), inverse(before[stages]) % base]).ravel()
    sources, targets, ports = [source], [target], [port]
    for stage in range(stages - 1):
        sources.append(stage * per_stage + line // base)
        targets.append((stage + 1) * per_stage + before[stage + 1] // base)
        ports.append(line % base)
    source, target = np.concatenate(sources), np.concatenate(targets)
    # One path joins a pair of terminals, so no two links join the same pair of switches and link names need
    # no number.
    switch_names = [f"s({stage},{number})" for stage in range(stages) for number in range(per_stage)]
    terminal_names = [f"t.{number}" for number in range(terminals)]
    names = [*switch_names, *terminal_names]
    layout: dict[str, Any] = {
        "base": base,
        "stages": stages,
        "variant": variant,
        "levels": np.repeat(np.arange(stages), per_stage),
        "output_port": np.concatenate(ports),
        "tag_digit": np.array(_tag_digits(variant, stages), np.int64),
    }
    spread = max(1.0, per_stage / (2.0 * max(stages - 1, 1)))
    positions = np.stack(np.divmod(np.arange(switches), per_stage), axis=1) * np.array(
        [max(2.0, spread), 1.0]
    )
    return Graph(
        switch_names=switch_names,
        terminal_names=terminal_names,
        link_source=source,
        link_target=target,
        link_reverse=np.full(len(source), -1, np.int64),
        link_names=[f"{names[a]}>{names[b]}" for a, b in zip(source.tolist(), target.tolist(), strict=True)],
        family="banyan",
        layout=layout,
        positions=positions,
    )


def lines_before(terminals: int, variant: str, base: int) -> list[Ints]:
    """Return, per stage and after the last, the permutation before it. Checks the parameters."""
    if variant not in VARIANTS:
        raise GraphError(f"variant is {variant!r}; it must be one of {', '.join(VARIANTS)}", "variant")
    stages = _stages(terminals, base)
    line = np.arange(terminals)
    return [_permute(variant, stage, line, base, stages) for stage in range(stages + 1)]


def _stages(terminals: int, base: int) -> int:
    if not isinstance(terminals, bool) and isinstance(terminals, int):
        check_size(terminals, terminals, "terminals")
    whole(base, "base", 2, MAX_TERMINALS, "the ports on each side of a switch")
    whole(terminals, "terminals", base, MAX_TERMINALS, "a power of base", f"base is {base}")
    stages, reached = 1, base
    while reached < terminals:
        stages, reached = stages + 1, reached * base
    if reached != terminals:
        raise GraphError(
            f"terminals is {terminals}, which is not a power of base {base}; the nearest are "
            f"{reached // base} and {reached}",
            "terminals",
        )
    check_size(terminals, (terminals * (stages + 1) + 1) // 2, "terminals")
    return stages


def _permute(variant: str, stage: int, line: Ints, base: int, stages: int) -> Ints:
    """Return the permutation of the lines before ``stage`` (``stages``: after the last one)."""
    last = stage == stages
    if variant == "omega":
        return line if last else _rotate_up(line, base, stages)
    if variant == "flip":
        return line if stage == 0 else _rotate_down(line, base, stages)
    if variant == "butterfly":
        return line if last else _swap(line, stage, base)
    if variant == "baseline":
        if stage == 0 or last:
            return line
        block = base ** (stages - stage + 1)
        return line // block * block + _rotate_down(line % block, base, stages - stage + 1)
    digits = range(stages) if variant == "indirect-cube" else range(stages - 1, -1, -1)
    back = line if stage == 0 else _swap(line, digits[stage - 1], base)
    return back if last else _swap(back, digits[stage], base)


def _tag_digits(variant: str, stages: int) -> list[int]:
    """Return which digit of the destination is the output port, stage by stage."""
    if variant in ("flip", "indirect-cube"):
        return list(range(stages))
    if variant == "butterfly":
        return [*range(1, stages), 0]
    return list(range(stages - 1, -1, -1))


def _rotate_up(line: Ints, base: int, digits: int) -> Ints:
    top = base ** (digits - 1)
    return line % top * base + line // top


def _rotate_down(line: Ints, base: int, digits: int) -> Ints:
    return line // base + line % base * base ** (digits - 1)


def _swap(line: Ints, digit: int, base: int) -> Ints:
    weight = base**digit
    low, high = line % base, line // weight % base
    return line + (high - low) + (low - high) * weight if digit else line


def inverse(permutation: Ints) -> Ints:
    back = np.empty_like(permutation)
    back[permutation] = np.arange(len(permutation))
    return back
