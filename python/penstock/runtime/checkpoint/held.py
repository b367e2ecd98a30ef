"""State that a task hands over to the one that runs its subtask next in the same process.

It may be some steps old: then the logs that it has missed are replayed. It is right as long as the file that it was
built from is in the subtask's chain; what a step that did not count has made of it is in no chain.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_state import OperatorState


@dataclass
class Held:
    """State of an operator's subtask.

    Attributes:
        keyed: keyed state, or None.
        operator_state: the rest.
        file: name of the last file of the chain that it is at; "" for none.
    """

    keyed: KeyedState | None
    operator_state: OperatorState = field(default_factory=OperatorState)
    file: str = ""
