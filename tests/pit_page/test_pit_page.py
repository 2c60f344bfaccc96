"""Checks of the pit's page and metrics with a real pit, ledger and broker, under the system-call filters of their
systemd units."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from controller.people.pit_page.look import Look
from controller.people.pit_page.metrics import pit_metrics
from controller.people.pit_page.subscriber import HeardState, Subscriber
from controller.people.pit_page.view import parts
from controller.pit.reference.__main__ import main as pitctl
from controller.pit.reference.clock import now_in_ms
from controller.pit.reference.standing import HeardTable, Standing, read_standing
from tests.pit.test_meters import give, opened
from tests.pit.test_order_of_wins import PIT, Seat, two
from tests.pit_page.scene import Scene
from tests.screen.browser import Browser, needs_a_browser, needs_axe
from tests.support.metrics import BOARD, RULES, asked_names, samples_of, told_names
from tests.support.waiting import eventually_now

pytestmark = pytest.mark.long("browser")

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed: apt-get install prometheus"
)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with ExitStack() as ends:
        yield Scene(tmp_path_factory.mktemp("house"), ends)


def test_a_pit_that_says_nothing_for_longer_than_ten_seconds_is_a_trouble() -> None:
    def silent(heard_ms: int | None) -> bool:
        pit = parts(Look(20_000, None, None, None, {}, None, heard_ms))["pit"]
        return "The pit says nothing" in json.dumps(pit)

    assert [silent(heard_ms) for heard_ms in (None, 9_999, 10_000, 20_000)] == [True, True, False, False]


def test_the_metrics_tell_what_ledger_and_tables_say(scene: Scene) -> None:
    eventually_now(lambda: samples_of(scene.metrics(), "pit_account_findings"), "the account")
    eventually_now(lambda: len(samples_of(scene.metrics(), "pit_table_online")) == 3, "the tables' states")
    eventually_now(lambda: samples_of(scene.metrics(), "pit_alarms_total"), "the alarm, which is kept after the ack")
    said = scene.metrics()
    assert asked_names("pit_") <= told_names(said), "the board or a rule asks for a metric that there is not"
    level = 1_500_00 + 41 * 2 * 500 // 500
    assert samples_of(said, "pit_meter_cents")['{meter="player_personal"}'] == level
    assert samples_of(said, "pit_account_meter_cents") == samples_of(said, "pit_meter_cents")
    assert samples_of(said, "pit_awards_owed_cents") == {"": level}
    assert samples_of(said, "pit_hits_waiting") == {'{step="pending"}': 1, '{step="verified"}': 0}
    assert samples_of(said, "pit_hit_oldest_age_seconds")['{step="verified"}'] == 0
    assert samples_of(said, "pit_alarms_total") == {'{code="event_malformed"}': 1}
    assert samples_of(said, "pit_events_committed")['{table="royal9-01"}'] == len(scene.one.sent)
    assert samples_of(said, "pit_table_online") == {
        '{table="royal9-01"}': 1,
        '{table="royal9-02"}': 1,
        '{table="royal9-03"}': 0,
    }
    assert samples_of(said, "pit_table_fault") == {'{table="royal9-02",code="journal_failed"}': 1}
    assert samples_of(said, "pit_table_unacknowledged_events")['{table="royal9-02"}'] == 7
    assert samples_of(said, "pit_table_link_up")['{table="royal9-02",link="shoe"}'] == 0
    eventually_now(lambda: samples_of(scene.metrics(), "pit_heard_age_seconds").get("", 99) < 10, "the pit's voice")
    assert samples_of(scene.metrics(), "pit_running") == {"": 1}


@pytest.mark.parametrize("path", ["", "events", "metrics", "pages/pit.js"])
def test_nobody_can_write(scene: Scene, path: str) -> None:
    for method in ("POST", "PUT", "DELETE"):
        with pytest.raises(HTTPError) as refused:
            urlopen(Request(scene.page_at + path, data=b"x", method=method), timeout=20)
        assert refused.value.code == 405


@needs_a_browser
@needs_axe
def test_axe_finds_no_barrier(scene: Scene, chromium: Browser) -> None:
    chromium.open(scene.page_at)
    chromium.until("document.querySelectorAll('#tables tbody tr').length === 3")
    assert chromium.barriers() == []


@needs_a_browser
def test_the_page_shows_what_waits_until_people_have_decided(
    scene: Scene, chromium: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    browser = chromium
    browser.complaints()
    browser.size("monitor")
    browser.open(scene.page_at)
    browser.until("document.querySelectorAll('#tables tbody tr').length === 3")
    browser.until("!document.getElementById('account').hidden")
    assert "$1,500.82" in browser.text("#hits li b")
    assert browser.text("#hits .where small", "vi") == "K9 riêng, Cái"
    assert browser.read("document.querySelector('#tables tbody tr').textContent.includes('royal9-02')"), "worst first"
    assert "event_malformed" in browser.text("#alarms li")
    assert browser.read("document.getElementById('state').className") == "is-not-well"
    assert browser.faint() == []
    for size in ("phone", "portrait", "monitor"):
        browser.size(size)
        assert browser.read("document.documentElement.scrollWidth <= innerWidth"), size

    proposes = ["award", "reject", "royal9-01.1", "--control", str(scene.house.control), "--as", "Ann"]
    assert pitctl(proposes) == 0, capsys.readouterr().err
    browser.until("document.querySelectorAll('#proposals li').length === 1")
    waits = browser.text("#proposals li")
    assert ("practice:Ann" in waits, "royal9-01.1  pending" in waits) == (True, True), waits
    for step, by in (("verify", "Ann"), ("pay", "Cas")):
        assert scene.house.decide("award", step, "royal9-01.1", by=by) == 0, capsys.readouterr().err
    browser.until("document.querySelectorAll('#hits li').length === 0")
    eventually_now(lambda: samples_of(scene.metrics(), "pit_awards_paid_cents") == {"": 150082})

    scene.state("royal9-03", fault="<b>x</b>", pit="<script>", phase=7, shoe=-1, unacknowledged="many", links="none")
    browser.until("!document.getElementById('tables').textContent.includes('OFF')")
    assert "<" not in browser.text("#tables tbody"), "what is no code is not shown"
    browser.open(f"{scene.page_at}?lang=vi")
    browser.until("document.querySelectorAll('#tables tbody tr').length === 3")
    assert browser.read("[...document.querySelectorAll('span[lang=en]')].some(each => each.checkVisibility())") is False
    browser.open(scene.page_at)
    assert browser.complaints() == []

    scene.pit.ended(signal.SIGKILL)
    browser.until("document.getElementById('troubles').textContent.includes('No pit runs')")
    assert samples_of(scene.metrics(), "pit_running") == {"": 0}
    scene.house.broker.kill()
    browser.until("document.getElementById('troubles').textContent.includes('broker')")
    said = scene.metrics()
    assert samples_of(said, "pit_broker_connected") == {"": 0}
    assert "pit_table_online" not in told_names(said), "what was heard before is not told as if it were so now"


def test_a_table_that_tells_an_impossible_number_is_passed_over() -> None:
    told = {"online": True, "unacknowledged": 10**400, "shoe": 10**400, "phase": "dealing"}
    look = Look(0, None, None, None, {"t": HeardState(told, 0)}, None, None)
    assert samples_of(pit_metrics(look), "pit_table_unacknowledged_events") == {}
    assert json.loads(json.dumps(parts(look)["tables"]))[0]["waits"] is None


def test_of_what_anybody_can_say_little_is_kept() -> None:
    """The page keeps only those fields of a table's published state that the page shows. An earlier version kept the
    whole states of ten thousand tables, of 250,000 bytes each."""
    subscriber = Subscriber("nowhere", 1, "pit/v1", None)
    long = {"online": True, "phase": "x" * 200_000, "links": {"shoe": True, "x" * 40_000: True}, "more": [[]] * 99}
    subscriber.link_message("pit/v1/t-1/state", json.dumps(long).encode(), True)
    subscriber.link_message("pit/v1/\u202et-1/state", b'{"online":true}', True)
    subscriber.link_message(f"pit/v1/{'t' * 61}/state", b'{"online":true}', True)
    assert {table: heard.state for table, heard in subscriber.states.items()} == {
        "t-1": {"online": True, "links": {"shoe": True, "journal": False}}
    }


def test_an_adopted_table_at_which_somebody_has_to_look_comes_before_those_that_anybody_invents() -> None:
    heard = tuple(HeardTable(table, "ab", "", 1) for table in ("t-1", "t-2"))
    standing = Standing(True, None, heard, {}, {}, (), 0, 0, (), {})
    states = {name: HeardState({"online": name != "t-2", "epoch": "ab"}, 0) for name in ("a-1", "t-1", "t-2")}
    tables = json.loads(json.dumps(parts(Look(0, standing, None, None, states, None, 0))["tables"]))
    assert [each["table"] for each in tables] == ["t-2", "a-1", "t-1"]


def test_the_board_asks_prometheus_alone() -> None:
    board = json.loads(BOARD.read_text("utf-8"))
    assert {panel["datasource"]["type"] for panel in board["panels"]} == {"prometheus"}
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


def test_a_sentence_of_the_alert_rules_stands_in_quotes_where_yaml_would_read_more_than_a_sentence() -> None:
    """In the file of alert rules, a sentence is written in quotation marks if YAML would not read the sentence as plain
    text. An earlier file had a colon in a sentence. YAML read the words before the colon as a key, and Prometheus did
    not start."""
    values = re.findall(r"^ +(?:- )?[a-z]+: (.+)$", RULES.read_text("utf-8"), re.MULTILINE)
    plain = [value for value in values if value[0] not in "\"'{"]
    assert len(plain) > 40
    assert [value for value in plain if ": " in value or " #" in value or value.endswith(":")] == []


def test_an_adopted_table_that_was_never_heard_is_told_as_away() -> None:
    heard = tuple(HeardTable(table, "ab", "", 1) for table in ("t-1", "t-2"))
    standing = Standing(True, None, heard, {}, {}, (), 0, 0, (), {})
    look = Look(0, standing, None, None, {"t-2": HeardState({"online": True}, 0)}, None, 0)
    assert samples_of(pit_metrics(look), "pit_table_online") == {'{table="t-1"}': 0, '{table="t-2"}': 1}


@needs_promtool
def test_the_alert_rules_wake_a_person_when_they_should() -> None:
    """Each alert rule fires when it should. In an earlier version the first alarm with a given code alerted nobody,
    because its series began at 1, and Prometheus saw no increase."""
    words = ["promtool", "test", "rules", str(Path(__file__).with_name("rules_test.yml"))]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.proof
@needs_promtool
def test_prometheus_itself_takes_the_metrics_and_the_rules(tmp_path: Path) -> None:
    with ExitStack() as ends:
        text = Scene(tmp_path, ends).metrics()
    for command, said in (("metrics", text), (f"config {RULES.with_name('prometheus.yml')}", "")):
        words = ["promtool", "check", *command.split()]
        run = subprocess.run(words, input=said, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr


def test_the_page_names_the_table_for_which_an_award_waits(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "ledger")) as ledger:
        ledger.sign_by(PIT, [PIT.public])
        Seat.begun_ms = now_in_ms()
        _, late = two(ledger)
        give(ledger, late, late.locked(ledger, 1_000), *late.won())
        standing = read_standing(tmp_path / "ledger")
    (hit,) = json.loads(json.dumps(parts(Look(0, standing, None, None, {}, None, 0))["hits"]))
    (waits,) = hit["waits"]
    assert {"en", "vi"} <= {*waits}
    assert all("t-0" in said for said in waits.values())
