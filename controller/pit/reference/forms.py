"""The SQL statements that make a new ledger, and those that update a ledger of an earlier form. A form is a version of
the ledger's database schema."""

from __future__ import annotations

from controller.pit.reference import (
    adoptions,
    alarms,
    awards,
    books,
    closing,
    days,
    decisions,
    doubts,
    intake,
    order,
    proposals,
    refused,
    session,
    shown,
    slips,
    terms,
    wins,
    witness,
)

FORM = 19
MIGRATED_FROM = 6
"""Commit 0f50807 wrote it."""

_STREAM = """
CREATE TABLE event (
    number INTEGER PRIMARY KEY, -- the order of commitment, over all tables
    table_id TEXT NOT NULL,
    epoch TEXT NOT NULL, -- or the other name of an epoch whose stream was set aside
    seq INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (table_id, epoch, seq)
) STRICT;
CREATE TABLE meters_message (next_seq INTEGER NOT NULL) STRICT;
INSERT INTO meters_message VALUES (1);
"""
_ACK_TIME = """
CREATE TABLE ack_time (held_ms INTEGER NOT NULL) STRICT; -- no ack has a later time, in ms since 1970
INSERT INTO ack_time VALUES (0);
"""
NEW = (
    *(_STREAM, _ACK_TIME, adoptions.SCHEMA, terms.SCHEMA, books.SCHEMA, awards.SCHEMA, doubts.SCHEMA, decisions.SCHEMA),
    *(intake.SCHEMA, alarms.SCHEMA, session.SCHEMA, slips.SCHEMA, days.SCHEMA),
    *(closing.SCHEMA, decisions.RECORD, proposals.SCHEMA, refused.SCHEMA, wins.SCHEMA, witness.SCHEMA, shown.SCHEMA),
    order.SCHEMA,
)
"""The statements that make a new ledger."""

FROM_FORM = {
    6: (doubts.SCHEMA, decisions.FROM_FORM_6, _ACK_TIME),
    7: (slips.SCHEMA,),
    8: (days.SCHEMA,),
    9: (decisions.RECORD, proposals.SCHEMA, refused.SCHEMA),
    10: (terms.FROM_FORM_10,),
    11: (terms.FROM_FORM_11,),
    12: (wins.SCHEMA,),
    13: (terms.FROM_FORM_13, closing.SCHEMA),
    14: (witness.SCHEMA,),
    15: (shown.SCHEMA,),
    16: (order.SCHEMA,),
    17: (terms.FROM_FORM_17,),
    18: (books.FROM_FORM_18,),
}
"""By the form of a ledger, the statements that give the ledger the next form."""
