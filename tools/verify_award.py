#!/usr/bin/env python3
"""Judge the evidence of one award, without the pit that paid it.

    python3 verify_award.py EVIDENCE [PIT_KEY [TABLE_KEY]] [--round ROUND_EVIDENCE]

It needs `verify.py` beside it, and what that needs. It reads as the argument goes: the pit signed the whole file;
people adopted the table's key; the table signed the round and the hit; people verified and paid the award, each step
signed; and the table was told of the same steps. ROUND_EVIDENCE is the table's own file of the round: `verify.py`
judges it, and both files must tell of one hit, in the same bytes. The program stops at the first thing that does not
hold, and says which; at the end it says what all this leaves open. The keys are fingerprints, as people compared them.
Without them anybody's key will do.
"""

# fmt: off
import hashlib
import json
import sys
from pathlib import Path

from verify import Refused, canonical, fingerprint, holds, needs, unhex, unspelt
from verify import judge as judge_round


def judge(data, pit_key=None, table_key=None, of_round=None):
    """What holds, and what is left open, in sentences. Raises Refused."""
    try:
        held = json.loads(data)
        needs(repr(held["award_evidence"]) == "1" and len(held) == 12, "This is no evidence of an award of form 1.")
        needs(canonical(held) == data, "The file is not spelt as evidence must be: somebody changed it.")
        return [*argument(held, pit_key, table_key, of_round)]
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError) as error:
        raise Refused(f"REFUSED: What the file says cannot be read ({type(error).__name__}: {error}).") from error

def argument(held, pit_key, table_key, of_round):
    pit, table = unhex(held["pit_key"]), unhex(held["table_key"])
    needs(pit_key in (None, fingerprint(pit)), f"Another pit signed this: {fingerprint(pit)}.")
    needs(table_key in (None, fingerprint(table)), f"The table has another key: {fingerprint(table)}.")
    signed_by([pit], held, "The pit did not sign this file.")
    yield f"The pit signed this file of award {held['award']} at {held['at']}, with the key {fingerprint(pit)}."
    keys = [pit]
    for each in reversed(held["rotations"]):
        needs(each["public_key"] == keys[-1].hex(), "The pit's keys did not follow each other so.")
        signed_by([unhex(each["former"])], each, "A former key of the pit did not hand over to the next.")
        keys.append(unhex(each["former"]))
        yield f"Its former key {fingerprint(keys[-1])} had handed over to {fingerprint(keys[-2])}."
    decided = held["decisions"]
    for each in decided:
        needs("signature" in each, "An earlier version of the pit did not sign what people decided.")
        signed_by(keys, each, f"The pit did not sign decision {each['decision']}.")
    places = [each["decision"] for each in decided]
    needs(places == sorted({*places}), "The decisions are out of their order.")
    for one, two in zip(decided, decided[1:]):
        follows = one["decision"] + 1 < two["decision"] or two["before"] == hashlib.sha256(canonical(one)).hexdigest()
        needs(follows, "The decisions do not follow each other.")
    adopted = [each for each in decided if "adopted" in each]
    needs(adopted and adopted[-1]["public_key"] == table.hex(), "Nobody adopted the table's key.")
    yield f"The table's key {fingerprint(table)} was adopted by {people(adopted[-1])}."
    hit = yield from round_of(held, table)
    yield from steps_of(held["award"], hit, decided, held["events"])
    if held["set_aside"]:
        yield "Two people took back that adoption later: nothing of this stream counts any more."
    yield f"The pit's terms had the digest {held['terms_digest']} when it made this file."
    yield "NOT SHOWN: that the meter stood at this amount. Head office plays all events again by the terms."
    if of_round is None:
        yield "NOT SHOWN: that the rules deal and pay so. The evidence of the round shows it: give its file as --round."
    else:
        yield from same_hit(held, hit, of_round)
    yield "NOT SHOWN: that cash was handed over."
    yield "NOT SHOWN: whose keys and accounts these are, unless you compared them elsewhere."

def round_of(held, table):
    """The hit, once its round is found to be as the table signed it, and won."""
    events = held["events"]
    for event in events:
        signed_by([table], event, f"Event {event['id']} is not as the table signed it.")
        needs(event["contract"] >= 4, "An earlier version of the table made these events.")
        needs(event["id"] == f"{event['table']}/{event['epoch']}/{event['seq']}", "An event has another name.")
    stream = {(event["table"], event["epoch"], event["shoe"], event["round"]) for event in events}
    places = [event["seq"] for event in events]
    needs(len(stream) == 1 and places == sorted({*places}), "The events are not of one round, in their order.")
    (hit,) = [event for event in events if event["id"] == held["hit"]]
    needs(hit["type"] == "hit", "The award is of no hit.")
    won = {"spot": hit["spot"], "seat": hit["seat"], "tier": hit["tier"]}
    where = f"Seat {hit['seat']} won {hit['tier']} on {hit['spot']} in round {hit['round']} of shoe {hit['shoe']}"
    locked = [bet for event in events if event["type"] == "wagers_locked" for bet in event["progressive"]]
    lay = any(bet["spot"] == hit["spot"] and hit["seat"] in bet["seats"] for bet in locked)
    needs(lay, "The seat had no wager on that bet.")
    ends = [event for event in events if event["type"] in ("round", "void", "correction")]
    needs(ends and ends[0]["type"] == "round" and ends[0]["seq"] < hit["seq"], "The hit does not follow a round.")
    needs(won in ends[0]["awards"], "The round gave no such award.")
    yield f"The table signed its wagers, its round and its hit. {where} at {hit['at']}."
    for doubt in hit["doubts"]:
        yield f"The table itself doubts the round's cards: {doubt}."
    for event in ends[1:]:
        still = event["type"] == "correction" and won in event["awards"]
        yield f"A later {event['type']} by {event['by']} {'leaves' if still else 'TAKES AWAY'} that award."
    return hit

def steps_of(award, hit, decided, events):
    """Who decided what on the award, and that the table was told of the same."""
    step, cents, verified, dismissed, taken = "pending", None, set(), False, set()
    for each in decided:
        if each.get("award") == award:
            step, who = each["step"], accounts(each)
            needs(step in ("verified", "paid", "rejected"), "An award has no such step.")
            needs(step != "paid" or verified or len(who) == 2, f"{people(each)} paid what nobody had verified.")
            needs(step != "paid" or not who & verified, f"{people(each)} paid what they verified themselves.")
            cents, verified = each["cents"], who if step == "verified" else verified
            taken.add((step, cents))
            needs(hit["fixed"] is None or step == "rejected" or cents == hit["fixed"]["cents"],
                  "The award is not of the hit's amount.")
            yield f"{people(each)} decided at {each['at']}: {step}, {cents} cents."
        elif each.get("of_award") == award:
            still = "" if each["cents"] == cents else ", which is not the amount of the last step"
            yield f"{people(each)} printed slip {each['slip']} at {each['at']}: {each['cents']} cents{still}."
        elif each.get("dismissed") == award:
            dismissed = True
            yield f"{people(each)} dismissed at {each['at']} what the table had told."
    told = [event for event in events if event["type"] == "award" and event["hit"] == hit["id"]]
    for event in told:
        yield f"The table told of it at {event['at']}: {event['step']}, {event['cents']} cents, by {event['by']}."
        payment = event["step"] == "paid" and ("paid", event["cents"]) not in taken
        early = event["step"] != "pending" and not taken
        needs(dismissed or not (payment or early), "The table was told of a step that nobody decided here.")
    if step == "pending":
        yield "Nobody has decided on this award."
    elif not any(event["step"] == step for event in told):
        yield f"NOT SHOWN: that the table was told that it is {step}."

def same_hit(held, hit, of_round):
    """Whether the round's file holds by this table's key, and has the same bytes of the lock, the round and the hit."""
    yield from judge_round(of_round, fingerprint(unhex(held["table_key"])))
    bodies = [body for row in json.loads(of_round)["rows"] for body in row["messages"]]
    there, here = ({event["id"]: event for event in events} for events in (map(json.loads, bodies), held["events"]))
    both = here.keys() & there.keys()
    for each in sorted(both):
        needs(canonical(here[each]) == canonical(there[each]), f"The round's file has another event {each}.")
    kinds = {here[each]["type"] for each in both}
    needs(hit["id"] in both and kinds >= {"wagers_locked", "round"}, "The round's file is not of this hit.")
    where = f"the lock, the round and the hit of seat {hit['seat']} in round {hit['round']} of shoe {hit['shoe']}"
    yield f"Both files have {len(both)} events in the same bytes: among them {where}."
    for name, alone in (("award", here.keys() - both), ("round", there.keys() - both)):
        for event in ({**here, **there}[each] for each in sorted(alone)):
            if event["round"] == hit["round"]:
                yield f"Only the file of the {name} has event {event['id']}: {event['type']} at {event['at']}."

# Who said it.
def signed_by(keys, message, wrong):
    told = {name: value for name, value in message.items() if name != "signature"}
    signature = unspelt(message["signature"])
    for key in keys[:-1]:
        try:
            return holds(key, signature, canonical(told), wrong)
        except Refused:
            continue  # perhaps a key before that one
    return holds(keys[-1], signature, canonical(told), wrong)

def accounts(decision):
    return {each["account"] for each in (decision["by"], decision["witness"]) if each is not None}
def people(decision):
    both = [each for each in (decision["by"], decision["witness"]) if each is not None]
    return " and ".join(f"{each['name'] or 'account'} ({each['account']})" for each in both)

if __name__ == "__main__":
    words, file = (sys.argv[1:-2], sys.argv[-1]) if sys.argv[-2:-1] == ["--round"] else (sys.argv[1:], None)
    if not 1 <= len(words) <= 3:
        sys.exit(__doc__)
    of_round = None if file is None else Path(file).read_bytes()
    told = judge(Path(words[0]).read_bytes(), *words[1:], of_round=of_round)
    print(*told, "ALL THAT IS SHOWN HOLDS.", sep="\n")
