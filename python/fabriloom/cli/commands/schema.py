"""``fabriloom schema``: the schema of scenario files."""

from ..exits import say
from ..frame import Call, command, document
from ..house import scenario


@command()
def schema(call: Call) -> None:
    """Print the JSON Schema of a scenario file, for editors."""
    say(document(scenario.json_schema()))
