"""Writes the state of an operator's subtask down, step by step, and brings it back.

A step writes a *log* of what has changed, or a *snapshot* of everything when the logs since the last one would outgrow
it. A chain is a snapshot and the logs after it. By that no more than about twice the bytes of what changes is written.

Files have names that nobody else chooses, and are never changed; who has written one tells its
:class:`~penstock.runtime.config.tasks.StateFile`, and only what a manifest names counts.
"""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Mapping, Sequence

from penstock.errors import InvalidProgramError, PenstockError
from penstock.runtime.buffers.codec import decode_value, dumps
from penstock.runtime.checkpoint.chain import Chain, check_order, merged_from, opened
from penstock.runtime.checkpoint.merging import read_earlier
from penstock.runtime.config.tasks import StateFile
from penstock.runtime.io.storage import join
from penstock.runtime.io.stores import storage_of
from penstock.runtime.state.class_changes import Reading
from penstock.runtime.state.classes import ClassForm
from penstock.runtime.state.evolution import MIGRATION
from penstock.runtime.state.files import LOG, SNAPSHOT, AboutOperator, Header, StateReader, packed
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_state import OperatorState
from penstock.runtime.state.replay import Replay
from penstock.runtime.state.sections import Content, Section, StateInfo, TimersInfo, log_of, snapshot_of
from penstock.runtime.state.type_changes import Refusal

_HEADER_BYTES = 1_000
"""About how long the header of a log is."""

NOTHING = Content(None, (), (TimersInfo(True, 0), TimersInfo(True, 0)), (), 0)
_Places = dict[tuple[str, str], bytes]


def save(
    folder: str,
    keyed: KeyedState | None,
    operator_state: OperatorState | None,
    about: AboutOperator,
    chain: Chain,
    version: int,
    whole: bool = False,
) -> Chain:
    """Write down what has changed since the last file of a chain.

    Args:
        folder: where state files lie; a path or the URL of a store.
        keyed: keyed state, which is tracked; None if the operator has none.
        operator_state: the rest, or None.
        about: whose state.
        chain: of files so far; () writes everything.
        version: of the job's state that this is a part of.
        whole: whether a chain begins even if there is nothing to say, as others' files say something else.

    Returns: the chain that the state is in now, the same if nothing has changed. OSError: a file cannot be written.
    Cost: O(what has changed), or O(state) for a snapshot; operator state is pickled in any case.
    """
    state = operator_state or OperatorState()
    anew = (_is_other(keyed, state) and bool(chain)) or whole
    chain, changed = () if anew else chain, state.changed()
    if chain and not changed and not (keyed and keyed.has_changed()):
        return chain
    coming = 0 if not chain else _size_of_log(chain, keyed, sum(map(len, changed.values())))
    if chain and sum(log.bytes for log in chain[1:]) + coming <= chain[0].bytes:
        chain, changed, content = _log(folder, chain, keyed, state, changed, about, coming)
        chain = (*chain, _write(folder, content, changed, about, chain, version, keyed, state))
    else:
        content = NOTHING if keyed is None else snapshot_of(keyed)
        changed = state.snapshot() if chain or anew else changed
        if chain or anew or content.entries or changed:
            chain = (_write(folder, content, changed, about, (), version, keyed, state),)
    _written(keyed, state, changed)
    return chain


def _written(keyed: KeyedState | None, state: OperatorState, places: _Places) -> None:
    if keyed:
        keyed.written()
    state.written(places)


def _is_other(keyed: KeyedState | None, state: OperatorState) -> bool:
    """Whether something is not what it was in files, so that all is to be written."""
    if not (state.rewrite or (keyed and keyed.rewrite)):
        return False
    if keyed:
        keyed.rewrite = False
    state.rewrite = False
    state.forget_written()
    return True


def _log(
    folder: str,
    chain: Chain,
    keyed: KeyedState | None,
    state: OperatorState,
    changed: _Places,
    about: AboutOperator,
    coming: int,
) -> tuple[Chain, _Places, Content]:
    """What goes into the next log, and the files that it comes after."""
    kept = chain[: merged_from(chain, coming)]
    earlier = read_earlier(folder, chain[len(kept) :], keyed, about)
    if earlier.places:
        changed = {**{place: data for place, data in state.snapshot().items() if place in earlier.places}, **changed}
    return kept, changed, NOTHING if keyed is None else log_of(keyed, earlier)


def _size_of_log(chain: Chain, keyed: KeyedState | None, more: int) -> int:
    """About how long a log would be, by the size of the entries of the snapshot."""
    entries = 0 if keyed is None else keyed.changed_entries()
    return _HEADER_BYTES + more + entries * chain[0].bytes // max(1, chain[0].keys)


def _write(
    folder: str,
    content: Content,
    places: _Places,
    about: AboutOperator,
    chain: Chain,
    version: int,
    keyed: KeyedState | None,
    state: OperatorState,
) -> StateFile:
    noted: dict[str, ClassForm] = {**state.noted.forms, **({} if keyed is None else keyed.noted.forms)}
    return write_file(folder, content, places, about, version, chain, tuple(state.infos.values()), noted)


def write_file(
    folder: str,
    content: Content,
    places: Mapping[tuple[str, str], bytes],
    about: AboutOperator,
    version: int,
    chain: Chain,
    broadcast: tuple[StateInfo, ...],
    classes: Mapping[str, ClassForm],
) -> StateFile:
    """Write one state file, under a name that nobody else chooses.

    Args:
        folder: where state files lie.
        content: keyed state.
        places: operator state.
        about: whose.
        version: of the job's state that it is a part of.
        chain: what it comes after, as a log; () for a snapshot.
        broadcast: what is known of broadcast states.
        classes: what is known of the classes of values, by name.

    Returns: what a manifest says of it. OSError: it cannot be written.
    """
    header = Header(
        kind=LOG if chain else SNAPSHOT,
        about=about,
        version=version,
        follows=chain[-1].name if chain else None,
        key=content.key,
        states=content.states,
        timers=content.timers,
        entries=content.entries,
        sections=(),
        operator_state=None,
        broadcast=broadcast,
        classes=dict(sorted(classes.items())),
    )
    return put_file(folder, header, content.sections, dumps(places) if places else None)


def put_file(folder: str, header: Header, sections: Sequence[Section], operator_state: bytes | None) -> StateFile:
    """Write a state file with a header, see :func:`write_file`.

    Args:
        folder: where state files lie.
        header: without its sections.
        sections: keyed state.
        operator_state: the rest, pickled; None if there is none.
    """
    about = header.about
    name = f"{about.operator_id}-{about.subtask}-{header.version}-{uuid.uuid4().hex[:8]}"
    data, checksum = packed(header, sections, operator_state)
    storage_of(folder).put(join(folder, name), data)
    return StateFile(about.operator_id, name, header.kind, len(data), checksum, header.entries)


def load(
    folder: str,
    chains: Sequence[Chain],
    keyed: KeyedState | None,
    operator_state: OperatorState | None,
    about: AboutOperator,
    *,
    flink: str = "1.11",
) -> None:
    """Bring back the state of a subtask from what subtasks have written, however many there were then: the key groups
    that it owns, and its part of operator state.

    Args:
        folder: where the files lie.
        chains: those of all subtasks of the operator then, in order.
        keyed: takes keyed state; empty. None if the operator has none.
        operator_state: takes the rest; empty, or None.
        about: who reads.
        flink: the version of Flink by whose rules operator state is dealt out.

    Raises:
        StateError: a file is missing, damaged, of another operator or too new.

    Cost: of keyed state only sections with key groups of this subtask are read.
    """
    found: list[_Places] = []
    for chain in chains:
        check_order(folder, chain, about)
        replay = None if keyed is None else Replay(keyed, about.groups)
        places: _Places = {}
        for before, file in zip((None, *chain), chain, strict=False):
            with opened(folder, file, about, whole=len(chains) == 1) as reader:
                places.update(_apply(reader, file, before, replay, about, operator_state))
        if replay is not None and chain:
            replay.finish()
        found.append(places)
    if operator_state is not None:
        operator_state.restore(found, about.parallelism, about.subtask, flink=flink)


def repair(
    folder: str,
    chain: Chain,
    keyed: KeyedState | None,
    operator_state: OperatorState | None,
    about: AboutOperator,
    name: str,
) -> None:
    """Bring state that was at one file of a chain to its end.

    Args:
        folder: where the files lie.
        chain: of the subtask.
        keyed: keyed state as it was then, or None.
        operator_state: the rest as it was then, or None.
        about: who reads.
        name: of that file.

    Raises:
        StateError: as for :func:`load`.
    """
    first = [file.name for file in chain].index(name) + 1
    replay = None if keyed is None else Replay(keyed, about.groups, resumed=True)
    for before, file in zip(chain[first - 1 :], chain[first:], strict=False):
        with opened(folder, file, about, whole=True) as reader:
            places = _apply(reader, file, before, replay, about, operator_state)
        if operator_state is not None:
            operator_state.replace(places)
            operator_state.written(places)
    if replay is not None:
        replay.finish()


def _apply(
    reader: StateReader,
    file: StateFile,
    before: StateFile | None,
    replay: Replay | None,
    about: AboutOperator,
    state: OperatorState | None,
) -> _Places:
    """The next file of a chain; returns its operator state."""
    header, follows = reader.header, None if before is None else before.name
    if (header.checksum, header.kind) != (file.checksum, file.kind):
        raise reader.error("is not the one that was written: it has another checksum")
    if (header.about.operator_id, header.follows) != (file.operator_id, follows):
        raise reader.error(f"belongs to {header.about} after the file {header.follows!r}, and not after {follows!r}")
    if header.about.max_parallelism != about.max_parallelism:
        raise reader.error(
            f"has {header.about.max_parallelism} key groups, and the operator {about.max_parallelism}",
            f"Set its max parallelism to {header.about.max_parallelism}.",
        )
    try:
        reading = Reading(header.classes)
        if state is not None:
            state.notes.update(dict.fromkeys(reading.notes, 0))
        if replay is not None and header.key is not None:
            check = replay.expect(header.key[1], header.states, reading)
            replay.apply(header.states, header.timers, reader.sections(about.groups), reading, check)
        data = reader.operator_state()
        places: _Places = {} if data is None else decode_value(data)
        return places if state is None else _as_now(places, reading, state, header)
    except PenstockError:
        raise
    except Refusal as reason:
        raise _refused(about, reason) from reason
    except (AttributeError, ImportError, LookupError, pickle.UnpicklingError, TypeError, ValueError) as error:
        raise reader.error(
            f"has a value that cannot be read: {type(error).__name__}: {error}",
            "Does the program still have the classes of its state and keys, under the same names? One that is called "
            "otherwise now says so by @formerly('module.Name').",
        ) from error


def _refused(about: AboutOperator, reason: Refusal) -> InvalidProgramError:
    return InvalidProgramError(
        f"The program cannot go on with the state of {about}: {reason}. Nothing has changed; to begin without it, give "
        "the operator another uid.",
        flink_class=MIGRATION,
    )


def _as_now(places: _Places, reading: Reading, state: OperatorState, header: Header) -> _Places:
    """Operator state as the program of today would have written it."""
    for info in header.broadcast:
        state.forms[info.name] = state.infos[info.name] = info
    if reading.loads is decode_value:
        return places
    state.rewrite |= bool(reading.changed)
    return {place: state.noted.dumps(reading.loads(data)) for place, data in places.items()}
