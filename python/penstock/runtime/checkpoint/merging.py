"""What logs of a chain have touched, so that one log can stand for them: with the values that there are now."""

from __future__ import annotations

from penstock.runtime.buffers.codec import decode_value
from penstock.runtime.checkpoint.chain import Chain, opened
from penstock.runtime.state.class_changes import Reading
from penstock.runtime.state.files import AboutOperator
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.replay import note_touched
from penstock.runtime.state.sections import Earlier


def read_earlier(folder: str, logs: Chain, keyed: KeyedState | None, about: AboutOperator) -> Earlier:
    """What some logs, one after the other, have touched. O(their entries).

    Args:
        folder: where they lie.
        logs: the last ones of a chain.
        keyed: the state that they belong to, as it is now.
        about: whose.

    Raises:
        StateError: one is missing or damaged.
    """
    earlier = Earlier()
    for file in logs:
        with opened(folder, file, about, whole=True) as reader:
            if keyed is not None:
                header = reader.header
                sections = reader.sections(about.groups)
                note_touched(earlier, keyed, header.states, header.timers, sections, Reading(header.classes))
            data = reader.operator_state()
            if data is not None:
                earlier.places.update(decode_value(data))
    return earlier
