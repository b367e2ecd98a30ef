"""A driver that was paused, and wakes up when another one goes on with its job, does not stop that one."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from penstock.connectors.kafka import transactions
from penstock.connectors.kafka.client import StuckError
from penstock.connectors.kafka.transactions import Sender
from penstock.errors import FencedError, ShutOutError

TAKES_OVER = ["looks", "takes over", "looks"]


class Clients:
    """Stands for the clients of a sender: says who has taken over the transactional id, and fails where it is told."""

    def __init__(self, events: list[str], failures: list[Exception]) -> None:
        self.events, self.failures = events, failures

    def __call__(self, *_: object) -> Clients:
        return self

    def begin(self) -> None:
        self.events.append("takes over")

    def run(self, waiting: object) -> None:
        if self.failures:
            self.events.append("fails")
            raise self.failures.pop()
        self.events.append("sends")

    def close(self) -> None:
        self.events.append("closes")


@pytest.fixture
def sending(tmp_path, monkeypatch):
    file = tmp_path / "records"
    file.write_bytes(b"some")

    def begun(replaced_after: int = 100, failures: Sequence[Exception] = (), has_folder: bool = True):
        """A sender, and what it does; another driver comes when this one has looked so often."""
        events: list[str] = []

        def check() -> None:
            events.append("looks")
            if events.count("looks") > replaced_after:
                raise FencedError("another driver has the folder")

        monkeypatch.setattr(transactions, "Transactions", Clients(events, list(failures)))
        sender = Sender({}, "prefix", "job")
        sender.check = check if has_folder else None
        return SimpleNamespace(send=lambda: sender.send([str(file)], 1, 0), events=events)

    return begun


def test_it_looks_before_and_after_it_takes_over_the_transactional_id(sending) -> None:
    one = sending(replaced_after=2)
    one.send()
    one.send()
    assert one.events == ["looks", "takes over", "looks", "sends", "sends"]


def test_paused_before_it_begins_to_send_it_leaves_its_successor_alone(sending) -> None:
    one = sending(replaced_after=0)
    for _ in range(2):
        with pytest.raises(FencedError):
            one.send()
    assert "takes over" not in one.events


def test_paused_just_before_it_takes_over_the_id_it_sends_nothing(sending) -> None:
    one = sending(replaced_after=1)
    with pytest.raises(FencedError):
        one.send()
    assert one.events == ["looks", "takes over", "looks", "closes"]


def test_paused_within_a_transaction_it_does_not_take_the_id_back(sending) -> None:
    one = sending(replaced_after=2, failures=[StuckError("Kafka's client did not write the marker")])
    with pytest.raises(FencedError):
        one.send()
    assert one.events == [*TAKES_OVER, "fails", "closes", "looks"]


def test_a_client_that_is_stuck_is_replaced_once(sending) -> None:
    stuck = StuckError("Kafka's client did not write the marker")
    one = sending(failures=[stuck])
    one.send()
    assert one.events == [*TAKES_OVER, "fails", "closes", *TAKES_OVER, "sends"]
    one = sending(failures=[stuck, stuck])
    with pytest.raises(StuckError):
        one.send()


def test_shut_out_though_it_has_the_job_folder_it_takes_the_id_back_three_times(sending) -> None:
    one = sending(failures=[ShutOutError("another has taken over")] * 4)
    with pytest.raises(ShutOutError):
        one.send()
    assert one.events == [*TAKES_OVER, "fails", "closes"] * 4
    with pytest.raises(ShutOutError):
        one.send()
    assert len(one.events) == 20


def test_shut_out_without_a_job_folder_it_ends(sending) -> None:
    one = sending(failures=[ShutOutError("another has taken over")], has_folder=False)
    with pytest.raises(ShutOutError):
        one.send()
    assert one.events == ["takes over", "fails", "closes"]
