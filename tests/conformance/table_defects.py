"""Defects of the table for the conformance tests. Each breaks a clause of the contract and is planted in a copy of the
table's program, like the pit's defects in `defects.py`."""

from __future__ import annotations

from tests.conformance.defects import Defect

_STREAM, _GUARANTEE = "controller/daemon/delivery/stream.py", "controller/daemon/delivery/guarantee.py"
_LEVELS, _TRUST = "controller/daemon/delivery/levels.py", "controller/daemon/delivery/pit_trust.py"
_AWARDS, _ACTS = "controller/table/awards.py", "controller/table/acts/pit.py"
_DEALING, _MQTT = "controller/table/dealing.py", "drivers/mqtt.py"
_VOIDING = "controller/table/voiding.py"
_SENDING, _PIT_SAID = "controller/daemon/delivery/sending.py", "controller/daemon/delivery/pit_said.py"
_RECOGNITION_SAID = "controller/daemon/delivery/recognition_said.py"
_RECOGNITION_TRUST = "controller/daemon/delivery/recognition_trust.py"
_RECOGNITION = "controller/table/acts/recognition.py"
_WITNESS = "controller/daemon/delivery/witness.py"
_FRESH = "not self._trust.undecided and self._delivery.fresh(now_s) and self.levels.fresh(now_s)"

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
        _SENDING,
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
        "controller/daemon/delivery/told.py",
        "            unacknowledged=self._delivery.unacknowledged,\n            pit=",
        "            unacknowledged=self._delivery.head_seq,\n            pit=",
    ),
    Defect(
        "an event that is read from the disk has other bytes",
        "T06",
        _SENDING,
        "len(due))):\n                self._outbox[message.seq] = message",
        "len(due))):\n"
        '                message = __import__("msgspec").structs.replace(message, body=message.body + b" ")\n'
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
    Defect("signatures are not looked at", "T10", _PIT_SAID, "if self._trust.signed(message):", "if True:"),
    Defect(
        "nobody is told of forged words",
        "T10",
        _PIT_SAID,
        "self._alarms.alarm(\n"
        '                f"pit_word_forged on {topic}", PitWordForged(kind),'
        ' "the pit\'s key has not signed this message"\n            )',
        "pass",
    ),
    Defect(
        "the table of an ack is not looked at",
        "T11",
        _PIT_SAID,
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
        "the time of an ack alone decides",
        "T35",
        _GUARANTEE,
        "(early and not self.certainly_later(ack, own_chain))",
        "early",
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
    Defect(
        "a pit cannot take its word back",
        "T14",
        _GUARANTEE,
        "if behind and (not fits or early or ack.at == self._last_at):",
        "if behind:",
    ),
    Defect(
        "bytes that are no ack end the program",
        "T15",
        _PIT_SAID,
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
        "a hand-over is believed after an absence",
        "T40",
        _TRUST,
        "if not present or self.successor is not None:",
        "if False:",
    ),
    Defect(
        "nobody is told of another key",
        "T17",
        _PIT_SAID,
        'self._alarms.alarm("pit_key_differs", PitKeyDiffers(offered, pinned), what)',
        "pass",
    ),
    Defect("no hand-over is followed", "T18", _TRUST, "key = bytes.fromhex(rotation.public_key)", "pass"),
    Defect(
        "the former key is still believed",
        "T18",
        _TRUST,
        "self.pinned = self.offered\n        return Offer.ROTATED",
        "self.former, self.pinned = self.pinned, self.offered\n        return Offer.ROTATED",
        "return self.pinned is not None and self.successor is None and signature_holds(message, self.pinned)",
        "keys = (self.pinned, getattr(self, 'former', None))\n"
        "        return any(key is not None and signature_holds(message, key) for key in keys)",
    ),
    Defect("no progressive bet plays", "T19", _STREAM, f"return {_FRESH}", "return False"),
    Defect("levels never get old", "T20", _STREAM, _FRESH, _FRESH.replace(" and self.levels.fresh(now_s)", "")),
    Defect("acks are not missed", "T21", _STREAM, _FRESH, _FRESH.replace(" and self._delivery.fresh(now_s)", "")),
    Defect(
        "levels need no signature",
        "T22",
        _PIT_SAID,
        "if said is not None and not self.is_the_pits(self._topics.meters, message):",
        "if False:",
    ),
    Defect("old levels are fresh", "T22", _LEVELS, "if word.seq < self._seq:", "if False:"),
    Defect("numbers may leap", "T22", _LEVELS, "if (why := leaps(word, today)) is not None:", "if why := '':"),
    Defect(
        "the first levels stay",
        "T23",
        _LEVELS,
        "self._seq, self.cents = word.seq, dict(word.meters)",
        "self._seq, self.cents = word.seq, self.cents or dict(word.meters)",
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
        _PIT_SAID,
        "return (hit.seat, hit.tier, meter) == (step.seat, step.tier, step.meter)",
        "return meter == step.meter",
    ),
    Defect(
        "the table of a step is not looked at",
        "T26",
        _PIT_SAID,
        "if (said.table, said.epoch) == (self._table_id, self._delivery.epoch):",
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
        "controller/contract/state.py",
        "canonical(to_builtins(state))",
        'canonical(to_builtins(state) | {"mood": "good"})',
    ),
    Defect(
        "an event is changed after it was signed",
        "T31",
        _SENDING,
        "message.body, event_type=",
        """message.body.replace(b'"shoe":1', b'"shoe":9'), event_type=""",
    ),
    Defect(
        "events are not canonical", "T31", _SENDING, "message.body, event_type=", 'message.body + b" ", event_type='
    ),
    Defect(
        "ids do not fit",
        "T32",
        _SENDING,
        "message.body, event_type=",
        """message.body.replace(f'/{seq}"'.encode(), f'/{seq + 7}"'.encode()), event_type=""",
    ),
    Defect(
        "every event has one chain",
        "T33",
        _SENDING,
        "message.body, event_type=",
        'message.body.replace(message.head.chain.encode(), b"ab" * 32), event_type=',
        "        if seq in self._outbox:\n"
        "            return self._outbox[seq]\n"
        "        message = await self._read(lambda: self._journal.message(seq))\n",
        "        message = self._outbox.get(seq) or await self._read(lambda: self._journal.message(seq))\n"
        "        if message is not None:\n"
        '            body = message.body.replace(message.head.chain.encode(), b"ab" * 32)\n'
        '            message = __import__("msgspec").structs.replace(message, body=body)\n',
    ),
    Defect(
        "messages have QoS 2", "T34", _MQTT, "publish(topic, payload, 1, retain,", "publish(topic, payload, 2, retain,"
    ),
    Defect(
        "events are retained",
        "T34",
        _SENDING,
        "message.body, event_type=message.head.type)",
        "message.body, True, event_type=message.head.type)",
    ),
    Defect(
        "events do not name their type",
        "T34",
        _SENDING,
        "event_type=message.head.type",
        "event_type=None",
    ),
    Defect(
        "whoever may publish is bet recognition",
        "T36",
        _RECOGNITION_TRUST,
        "if not signature_holds(message, bytes.fromhex(self.adopted)):",
        "if False:",
    ),
    Defect(
        "nobody is told of forged wagers",
        "T36",
        _RECOGNITION_SAID,
        "fact = WagerWordForged(doubt.value)",
        "return",
    ),
    Defect(
        "a second key of bet recognition is not believed",
        "T37",
        _RECOGNITION_SAID,
        "self._trust.adopted = key\n",
        "self._trust.adopted = self._trust.adopted or key\n",
    ),
    Defect("a wager counts as often as it comes", "T38", _RECOGNITION, "if self.seq <= table.wager_seq:", "if False:"),
    Defect(
        "the numbers of refused wagers are forgotten",
        "T38",
        "controller/table/step.py",
        "return replace(table, placed=placed, wager_seq=fact.seq)",
        "return replace(table, placed=placed, wager_seq=table.wager_seq if fact.refusal else fact.seq)",
    ),
    Defect(
        "the round of a wager is not looked at",
        "T39",
        _RECOGNITION,
        "BET_RECOGNITION, (self.shoe, self.round))",
        "BET_RECOGNITION)",
    ),
    Defect(
        "another table's wagers count",
        "T39",
        _RECOGNITION_TRUST,
        "if word.table != self._table:",
        "if False:",
    ),
    Defect(
        "a number from the future makes true wagers old",
        "T39",
        _RECOGNITION_TRUST,
        "return word if leaps(word, now) is None else Doubt.LEAPS",
        "return word",
    ),
    Defect(
        "a win is told as often as an old word comes",
        "T41",
        "controller/table/acts/pit.py",
        "if self.win.seq <= table.win_seq <= ambient.latest_seq:",
        "if False:",
    ),
    Defect(
        "a lock does not say by which word it was made",
        "T42",
        "controller/table/step.py",
        "told=_told(fact),",
        "told=None,",
    ),
    Defect(
        "each pit is shown checkpoints",
        "T43",
        _WITNESS,
        "        self._signed = note\n",
        "        self._signed, self._size, self._due = note, self._size or 0, True\n",
    ),
    Defect(
        "a checkpoint comes without its proof",
        "T43",
        _WITNESS,
        "ShownCheckpoint.of(note, old, proof)",
        "ShownCheckpoint.of(note, old, ())",
    ),
    Defect(
        "a checkpoint is shown from the beginning each time",
        "T43",
        _WITNESS,
        "await self._show(self._signed, self._size)",
        "await self._show(self._signed, 0)",
    ),
    Defect(
        "another tree that was cosigned is no matter",
        "T44",
        _WITNESS,
        'if word.refused == "forked" or (word.size and cosigned is None):',
        'if word.refused == "forked":',
    ),
)
"""Every clause has a defect of its own at least."""
