"""The same for the table: the defects of its side of the contract."""

from __future__ import annotations

from tests.conformance.defects import Defect

_STREAM, _GUARANTEE = "controller/daemon/delivery/stream.py", "controller/daemon/delivery/guarantee.py"
_LEVELS, _TRUST = "controller/daemon/delivery/levels.py", "controller/daemon/delivery/pit_trust.py"
_AWARDS, _ACTS = "controller/table/awards.py", "controller/table/acts/pit.py"
_DEALING, _MQTT = "controller/table/dealing.py", "drivers/mqtt.py"
_VOIDING = "controller/table/voiding.py"
_FRESH = "self._trust.pinned is not None and self._delivery.fresh(now_s) and self.levels.fresh(now_s)"

TABLE_DEFECTS = (
    Defect(
        "the state is not retained",
        "T01",
        _STREAM,
        "self._broker.publish(self._topics.state, self._state_sent, retain=True)",
        "self._broker.publish(self._topics.state, self._state_sent)",
        "self._broker.publish(self._topics.state, state, retain=True)",
        "self._broker.publish(self._topics.state, state)",
    ),
    Defect(
        "there is no will",
        "T02",
        _MQTT,
        "link.will_set(self._will.topic, self._will.payload, qos=1, retain=True, properties=will)",
        "pass",
    ),
    Defect("the window is too wide", "T03", _GUARANTEE, "WINDOW = 50", "WINDOW = 60"),
    Defect("nothing is sent again", "T04", _GUARANTEE, "RESEND_AFTER_S = 2.0", "RESEND_AFTER_S = 1e9"),
    Defect(
        "events are sent again from the last to the first",
        "T04",
        _STREAM,
        "for seq in due:\n            message",
        "for seq in reversed(due):\n            message",
    ),
    Defect(
        "the broker's acknowledgement counts as the pit's",
        "T04",
        _GUARANTEE,
        "        if reason_code < REFUSED_FROM:\n",
        "        if reason_code < REFUSED_FROM:\n            self.acked_seq = max(self.acked_seq, seq)\n",
    ),
    Defect(
        "the state does not tell acks",
        "T05",
        _STREAM,
        '"unacknowledged": self._delivery.unacknowledged,\n            "pit"',
        '"unacknowledged": self._delivery.head_seq,\n            "pit"',
    ),
    Defect(
        "an event that is read from the disk has other bytes",
        "T06",
        _STREAM,
        "len(due))):\n                self._outbox[message.seq] = message",
        "len(due))):\n"
        '                message = __import__("dataclasses").replace(message, body=message.body + b" ")\n'
        "                self._outbox[message.seq] = message",
    ),
    Defect(
        "the stream ends where nobody listens",
        "T07",
        _GUARANTEE,
        "REFUSED_FROM = 0x80",
        "REFUSED_FROM = 0x10",
        "RETRY_REFUSED_AFTER_S = 5.0",
        "RETRY_REFUSED_AFTER_S = 1e9",
    ),
    Defect("a lost broker is not looked for", "T08", _MQTT, "await asyncio.sleep(retry_s)", "await asyncio.sleep(1e9)"),
    Defect(
        "an ack that goes back is not followed",
        "T09",
        _GUARANTEE,
        "        self.acked_seq = ack.seq\n",
        "        self.acked_seq = max(self.acked_seq, ack.seq)\n",
    ),
    Defect("signatures are not looked at", "T10", _STREAM, "if self._trust.signed(message):", "if True:"),
    Defect(
        "nobody is told of forged words",
        "T10",
        _STREAM,
        'self._alarm(f"pit_word_forged on {topic}", PitWordForged(kind), "the pit\'s key has not signed this message")',
        "pass",
    ),
    Defect(
        "the table of an ack is not looked at",
        "T11",
        _STREAM,
        "(ack.table, ack.epoch) == (self._table_id, self._delivery.epoch)",
        "ack.epoch == self._delivery.epoch",
    ),
    Defect(
        "the time of an ack is not looked at",
        "T12",
        _GUARANTEE,
        "early = ack.at < self._last_at",
        "early = False",
    ),
    Defect(
        "the chain of an ack is not looked at",
        "T13",
        _GUARANTEE,
        "chain_differs = 0 < ack.seq <= self.head_seq and own_chain != ack.chain",
        "chain_differs = False",
    ),
    Defect(
        "events are sent to a pit that another journal has spoken to",
        "T13",
        _GUARANTEE,
        "            self.phase = Phase.BEHIND\n",
        "",
    ),
    Defect("every number is believed", "T14", _GUARANTEE, "not chain_differs and ack.seq <= self._known_seq", "True"),
    Defect("a pit cannot take its word back", "T14", _GUARANTEE, "if behind and not fits:", "if behind:"),
    Defect(
        "bytes that are no ack end the program",
        "T15",
        _STREAM,
        '_log.warning("a message on %s is no acknowledgement and is ignored", self._topics.ack)\n            return',
        'raise ValueError("no acknowledgement")',
    ),
    Defect(
        "no word is too long",
        "T16",
        _STREAM,
        "len(payload) > MOST_PAYLOAD_BYTES",
        "len(payload) > 10**9 + MOST_PAYLOAD_BYTES",
    ),
    Defect("every key is believed", "T17", _TRUST, "if _handed_over(self.pinned, word) != self.offered:", "if False:"),
    Defect(
        "nobody is told of another key",
        "T17",
        _STREAM,
        'self._alarm("pit_key_differs", PitKeyDiffers(offered, pinned), what)',
        "pass",
    ),
    Defect("no hand-over is followed", "T18", _TRUST, "key = bytes.fromhex(rotation.public_key)", "pass"),
    Defect(
        "the former key is still believed",
        "T18",
        _TRUST,
        "self.pinned = self.offered\n        return Offer.ROTATED",
        "self.former, self.pinned = self.pinned, self.offered\n        return Offer.ROTATED",
        "return self.pinned is not None and signature_holds(message, self.pinned)",
        "keys = (self.pinned, getattr(self, 'former', None))\n"
        "        return any(key is not None and signature_holds(message, key) for key in keys)",
    ),
    Defect("no progressive bet plays", "T19", _STREAM, f"return {_FRESH}", "return False"),
    Defect("levels never get old", "T20", _STREAM, _FRESH, _FRESH.replace(" and self.levels.fresh(now_s)", "")),
    Defect("acks are not missed", "T21", _STREAM, _FRESH, _FRESH.replace(" and self._delivery.fresh(now_s)", "")),
    Defect(
        "levels need no signature",
        "T22",
        _STREAM,
        "if said is not None and not self._is_the_pits(self._topics.meters, message):",
        "if False:",
    ),
    Defect("old levels are fresh", "T22", _LEVELS, "if said.seq < self._seq:", "if False:"),
    Defect("numbers may leap", "T22", _LEVELS, "if (why := leaps(said, now)) is not None:", "if why := '':"),
    Defect(
        "the first levels stay",
        "T23",
        _LEVELS,
        "self._seq, self.cents = said.seq, dict(said.meters)",
        "self._seq, self.cents = said.seq, self.cents or dict(said.meters)",
    ),
    Defect(
        "a step is told each time",
        "T24",
        _ACTS,
        "if step.seq <= table.award_seq <=",
        "if step.seq < table.award_seq <=",
    ),
    Defect(
        "the stream tells another amount",
        "T24",
        _AWARDS,
        "cents=fact.cents,\n        step=fact.step,\n        by=fact.by,",
        "cents=fact.cents + 1,\n        step=fact.step,\n        by=fact.by,",
    ),
    Defect("older steps are taken", "T25", _ACTS, "if step.seq <= table.award_seq <= ambient.latest_seq:", "if False:"),
    Defect(
        "the hit of a step is not looked at",
        "T26",
        _STREAM,
        'if (event.get("type"), event.get("seat"), event.get("tier")) != ("hit", step.seat, step.tier):',
        'if event.get("type") != "hit":',
    ),
    Defect(
        "the table of a step is not looked at",
        "T26",
        _STREAM,
        "if (said.table, said.epoch) == (self._table_id, self._journal.epoch):",
        "if True:",
    ),
    Defect(
        "every amount is possible",
        "T27",
        _AWARDS,
        'return step.step == "rejected" or least_cents',
        "return True or least_cents",
    ),
    Defect(
        "a void names nobody",
        "T28",
        _VOIDING,
        "progressive=paying.progressive_shown(wagers),\n        settlement=paying.returned_shown",
        "progressive=(),\n        settlement=paying.returned_shown",
    ),
    Defect(
        "the round does not tell its awards",
        "T29",
        _DEALING,
        "awards=paying.awards_shown(won)",
        "awards=paying.awards_shown(won)[:0]",
    ),
    Defect(
        "the state has a field more",
        "T30",
        _STREAM,
        "            **self._state(),\n",
        '            **self._state(),\n            "mood": "good",\n',
    ),
    Defect(
        "an event is changed after it was signed",
        "T31",
        _STREAM,
        "message.body, event_type=",
        """message.body.replace(b'"shoe":1', b'"shoe":9'), event_type=""",
    ),
    Defect("events are not canonical", "T31", _STREAM, "message.body, event_type=", 'message.body + b" ", event_type='),
    Defect(
        "ids do not fit",
        "T32",
        _STREAM,
        "message.body, event_type=",
        """message.body.replace(f'/{seq}"'.encode(), f'/{seq + 7}"'.encode()), event_type=""",
    ),
    Defect(
        "every event has one chain",
        "T33",
        _STREAM,
        "message.body, event_type=",
        'message.body.replace(message.says["chain"].encode(), b"ab" * 32), event_type=',
        'own_chain = None if own is None else str(own.says["chain"])',
        'own_chain = None if own is None else "ab" * 32',
    ),
    Defect(
        "messages have QoS 2", "T34", _MQTT, "publish(topic, payload, 1, retain,", "publish(topic, payload, 2, retain,"
    ),
    Defect(
        "events are retained",
        "T34",
        _STREAM,
        'message.body, event_type=message.says["type"])',
        'message.body, True, event_type=message.says["type"])',
    ),
    Defect(
        "events do not name their type",
        "T34",
        _STREAM,
        'event_type=message.says["type"]',
        "event_type=None",
    ),
)
"""Every clause has a defect of its own at least."""
