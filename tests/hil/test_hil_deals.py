"""Checks the generated deals, with which somebody can test another table daemon. The deals follow the rules, can be
played at the bench, and shrink to the shortest deal that fails."""

from __future__ import annotations

from collections import Counter

from hypothesis import Phase, find, given, settings

from controller.bench.daemon import Table
from controller.bench.deals import Deal, DealtRound, Step, deals
from controller.bench.far_shoe import FarShoe
from controller.bench.header import Pins
from controller.bench.waiting import Eventually
from controller.table.facts import CardDrawn, ShoeResultReported
from drivers.shoe.angel_eye import AngelEyeCodec
from drivers.shoe.beetek import BeeTekCodec

_AGAIN = settings(max_examples=100, database=None, derandomize=True, deadline=None, phases=set(Phase) - {Phase.explain})


@settings(max_examples=30, deadline=None)
@given(deal=deals(plugs=True))
def test_a_deal_is_a_shoe_as_the_products_own_codec_and_an_angel_eye_have_it(deal: Deal) -> None:
    facts = AngelEyeCodec().feed(deal.wire("angel_eye"))
    told = [fact.result.name.lower() for fact in facts if isinstance(fact, ShoeResultReported)]
    assert told == [dealt.outcome for dealt in deal.rounds]
    cards = [str(fact.card) for fact in facts if isinstance(fact, CardDrawn) and fact.card is not None]
    assert cards == [step.what for step in deal.steps if step.do == "draw"]
    assert max(Counter(step.what for step in deal.steps if step.do in ("draw", "misread")).values()) <= 8


def _cards_of_theirs(said: bytes) -> int:
    """Return how many cards a daemon with a planted defect would see in the bytes `said` of a BeeTek shoe. The defect
    is that the daemon ignores a line with a wrong checksum."""
    lines = [line.removeprefix(b"*") for line in said.split(b"\r\n") if line]
    return sum(line[-2:] == b"%02X" % (sum(line[:-2]) % 256) for line in lines)


def test_a_planted_defect_is_shrunk_to_the_shortest_deal_that_shows_it() -> None:
    def fails(deal: Deal) -> bool:
        drawn = sum(step.do in ("draw", "misread") for step in deal.steps)
        return _cards_of_theirs(deal.wire("beetek")) != drawn

    deal = find(deals(misreads=("damage",), most_rounds=2, seats=1), fails, settings=_AGAIN)
    told = "press new_shoe; new_shoe; draw AD; draw KH; press deal; misread AD damage; draw AD; draw AD; "
    assert str(deal).startswith(told)
    assert [(len(of.player), of.seats) for of in deal.rounds] == [(3, ())]


@settings(max_examples=10, deadline=None)
@given(deal=deals(misreads=("damage", "lose"), most_rounds=2))
def test_a_second_brand_misreads_in_its_own_way(deal: Deal) -> None:
    read = [fact for fact in BeeTekCodec().feed(deal.wire("beetek")) if isinstance(fact, CardDrawn)]
    assert [str(fact.card) for fact in read] == [step.what for step in deal.steps if step.do == "draw"]


def test_a_deal_is_played_at_the_bench(table: Table, shoe: FarShoe, pins: Pins, eventually: Eventually) -> None:
    begins = [Step("press", "new_shoe"), Step("new_shoe"), Step("draw", "AD"), Step("draw", "KH")]
    dealt = [Step("draw", card) for card in ("KS", "2D", "9S", "3C")]
    steps = (*begins, Step("cover", "2"), Step("press", "deal"), *dealt, Step("uncover", "2"))
    deal = Deal(steps, (DealtRound(("KS", "9S"), ("2D", "3C"), "player", (2,)),))

    def answered(step: Step) -> bool:
        return table.phase == {"new_shoe": "first_card_due", "deal": "wagers_locked"}[step.what]

    deal.play(shoe, pins, answered)
    felt = deal.rounds[0]
    eventually(lambda: table.hands == {"player": [*felt.player], "banker": [*felt.banker]})
    eventually(lambda: table.face.outcome == felt.outcome)
