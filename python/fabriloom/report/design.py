"""The report of a design, for a review board: the requirements, the result, and what would change it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..results.columns import flatten
from ..results.figures import figures, in_percent
from .page import (
    Axis,
    Cell,
    Chart,
    Page,
    Prose,
    Series,
    Table,
    Text,
    amount,
    json_text,
    micro,
    number,
    plus_minus,
    render,
    spot,
)

if TYPE_CHECKING:
    from ..design import Design
    from ..design.sieve import Looked


def for_design(design: Design) -> str:
    best, asked = design.best, design.requirements
    page = Page(title=asked.name or "A design", kind="design", description=asked.description)
    page.verdicts = {"": _verdict(design)}
    if design.interrupted:
        page.interrupt("What was known then: run it again, and it continues from there.")
    if best is not None:
        page.facts = _facts(design, best)
    page.sections = [_asked(design), _looked_at(design)]
    if design.met:
        page.sections += [_ranking(design), front(design), _why(design)]
    page.sections += [*_refused(design), *_sensitivity(design), *_texts(design)]
    page.provenance = [
        ("Requirements", asked.source.file or asked.name),
        ("Seed", str(asked.seed)),
        ("Fabriloom", __version__),
        (
            "To run it again",
            "copy the requirements below into requirements.json, and: fabriloom design requirements.json",
        ),
    ]
    return render(page)


def _verdict(design: Design) -> str:
    best = design.best
    if best is None:
        near = design.nearest
        told = "" if near is None else f"; the nearest is {near.candidate.name}: {near.misses[0].text}"
        return f"No network that was looked at meets everything{told}"
    most = figures(best.facts.get("carries"), 3)
    money = _money(design, best.cost)
    told = f"The cheapest that meets everything is {best.candidate.name}, for {money}"
    return f"{told}; it carries {most} times the traffic"


def _money(design: Design, cost: float) -> str:
    return f"{number(cost)} {design.requirements.cost.unit}".rstrip()


def _facts(design: Design, best: Looked) -> list[tuple[str, str, str]]:
    facts, asked = best.facts, design.requirements.require
    late = plus_minus(micro(facts.get("tail_ns")), micro(facts.get("tail_ns_ci95")))
    most_ps = asked.latency_ps
    limit = "any is allowed" if most_ps is None else f"{number(most_ps / 1e6)} µs are allowed"
    return [
        ("Cost", _money(design, best.cost), f"{number(best.cost / asked.terminals)} a terminal"),
        (
            "Carries",
            f"{number(facts.get('carries'), 3)} x",
            f"of the traffic; {number(asked.margin, 3)} x are asked",
        ),
        (f"{asked.percentile:g} % within", f"{late} µs", limit),
        (
            "Parts",
            f"{number(facts['switches'])} switches",
            f"{number(facts['ports'])} ports in use, {number(facts['cables'])} cables",
        ),
    ]


def _asked(design: Design) -> Table:
    rows = []
    for section in ("require", "limits", "traffic", "program", "cost"):
        for name, value in flatten(design.requirements.raw.get(section, {})).items():
            text = value if isinstance(value, str) else json.dumps(value)
            rows.append([Cell(section), Cell(name), Cell(text)])
    note = "What is not here is not limited. Costs are the user's."
    return Table("What was asked", ["Section", "Setting", "Value"], rows, [False, False, False], note)


def _looked_at(design: Design) -> Table:
    rows = []
    for row in design.families():
        counts = [amount(row[name]) for name in ("candidates", "built", "simulated", "met")]
        near = f"{row['nearest']}: {row['why']}" if row["why"] else "–"
        rows.append([Cell(row["family"]), *counts, Cell(near)])
    head = ["Family", "Candidates", "Built", "Simulated", "Met", "The nearest of those refused, and why"]
    note = (
        "Arithmetic on ports, cables, cost and narrow places comes first. What it lets through is built, the "
        "cheapest first, and its routing, the load of every link, failures and latency without other traffic "
        "are checked. What is left is simulated, again the cheapest first, until enough meet everything."
    )
    return Table("What was looked at", head, rows, [False, True, True, True, True, False], note)


def _ranking(design: Design) -> Table:
    rows = []
    for place, one in enumerate(design.met, 1):
        facts = one.facts
        late = plus_minus(micro(facts.get("tail_ns")), micro(facts.get("tail_ns_ci95")))
        rows.append(
            [
                Cell(str(place), None, place),
                Cell(one.candidate.name, below=facts.get("held_by", "")),
                Cell(number(one.cost), one.cost / max(other.cost for other in design.met), one.cost),
                *(amount(facts[what]) for what in ("switches", "ports", "cables")),
                amount(one.bound, 3),
                amount(facts.get("carries"), 3),
                Cell(late, None, facts.get("tail_ns")),
            ]
        )
    asked = design.requirements.require
    unit = f"Cost {design.requirements.cost.unit}".rstrip()
    head = ["", "Network", unit, "Switches", "Ports", "Cables", "Links allow", "Carries"]
    head.append(f"{asked.percentile:g} % (µs)")
    note = (
        "Links allow and carries: times the traffic that is asked for, by the load of every link and in "
        "simulation. The latency is from the creation of a packet, or of an event of a program, with a 95 % "
        "interval over seeds. Under the name: what is nearest to its limit, or limits."
    )
    return Table("Networks that meet everything", head, rows, [True, False, *[True] * 7], note)


def front(design: Design) -> Chart:
    """Return a chart of cost against throughput: designs that meet everything, and failed ones."""
    front = {id(one) for _, one in design.growing_load()}
    met = [_spot(one, one.facts.get("carries")) for one in design.met if id(one) not in front]
    best = [_spot(one, most) for most, one in design.growing_load()]
    short = [
        _spot(one, miss.have)
        for one in design.looked
        for miss in one.misses
        if one.facts.get("simulated") and miss.requirement == "require.margin"
    ]
    series = [
        Series("cheapest for what they carry", best, "step" if len(best) > 1 else "points"),
        Series("meet everything too", met, "points"),
        Series("carry too little", short, "points"),
    ]
    unit = design.requirements.cost.unit
    x, y = Axis(f"cost ({unit})" if unit else "cost"), Axis("times the traffic that is asked for")
    note = f"{figures(design.requirements.require.margin, 3)} times are asked for."
    return Chart("Cost against what is carried", x, y, [one for one in series if one.points], note)


def _spot(one: Looked, most: float | None) -> list[Any]:
    return spot(one.cost, most, one.candidate.name)


def _why(design: Design) -> Prose:
    """Explain the first choice in sentences: why cheaper ones fail, and what the next ones cost."""
    best = design.met[0]
    cheaper = [one for one in design.looked if one.misses and one.cost < best.cost]
    said = [
        f"{best.candidate.name} is the cheapest of {len(design.looked):,} candidates that meets everything."
    ]
    if cheaper:
        near = min(cheaper, key=lambda one: sum(miss.by for miss in one.misses))
        said.append(
            f"{len(cheaper):,} cheaper ones were refused; the nearest of them, {near.candidate.name} for "
            f"{_money(design, near.cost)}, is {in_percent(near.misses[0].by, 2)} away: {near.misses[0].text}."
        )
    if len(design.met) > 1:
        after = design.met[1]
        said.append(f"Next comes {after.candidate.name} for {_money(design, after.cost)}.")
    return Prose("Why this one", " ".join(said))


def _refused(design: Design) -> list[Table]:
    rows = []
    for name, (count, one) in design.misses().items():
        miss = next(miss for miss in one.misses if miss.requirement == name)
        cells = [Cell(name), amount(count), Cell(one.candidate.name), Cell(miss.text)]
        rows.append([*cells, Cell(in_percent(miss.by, 2), None, miss.by)])
    if not rows:
        return []
    head = ["Requirement", "Refused", "The nearest", "Why", "By"]
    note = "Every candidate with the requirement that it breaks and by how much is in candidates.parquet."
    return [Table("What was refused", head, rows, [False, True, False, False, True], note)]


def _sensitivity(design: Design) -> list[Any]:
    found: list[Any] = []
    if unsure := design.unsure():
        found.append(Prose("What is not sure", " ".join(unsure)))
    if failing := design.failing():
        note = "Routing tables stay as they are, and groups shrink to the links that are left. "
        found.append(Prose("After the worst single failure", note + " ".join(failing)))
    said = [
        f"Up to {figures(most, 3)} times the traffic the cheapest of these is {one.candidate.name}."
        for most, one in design.growing_load()
    ]
    said += [f"{text}." for text in design.turning()]
    if said:
        found.append(Prose("What would change the answer", " ".join(said)))
    for path in dict.fromkeys(other.path for other in design.others):
        rows = []
        for other in (one for one in design.others if one.path == path):
            best, near = other.best, other.nearest
            why = "" if best or near is None else f"{near.candidate.name}: {near.misses[0].text}"
            cost = None if best is None else best.cost
            value = Cell(
                str(other.value), None, other.value if isinstance(other.value, int | float) else None
            )
            name = best.candidate.name if best else "none meets everything"
            rows.append([value, Cell(name, below=why), amount(cost)])
        head = [path, "The cheapest", "Cost"]
        found.append(Table(f"If {path} were another", head, rows, [True, False, True]))
    return found


def _texts(design: Design) -> list[Text]:
    written = design.requirements.source.text
    texts = [Text("The requirements", written)] if written else []
    texts.append(json_text("The requirements as they were used", design.requirements.raw))
    if (best := design.recommended()) is not None:
        texts.append(json_text("The scenario of the first network, with every default filled in", best))
    return texts
