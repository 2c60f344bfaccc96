#!/usr/bin/env python3
"""Judge the evidence of one round of a casino table, without the program that dealt it.

    python3 verify.py EVIDENCE [TABLE_KEY [PIT_KEY [HEAD_OFFICE_KEY]]] [--frame TEXT]

It needs Python 3.9 or later and the package `cryptography`, and reads from top to bottom as the argument goes: the file
is whole; the table has signed a tree of its journal; the rows shown are leaves of it; their events are the table's; the
shoe's own frames tell the cards; the rules draw these cards, and pay these wagers. It stops at the first thing that
does not hold, and says which; at the end it says what all this leaves open. The keys are fingerprints, as people
compared them; head office's is the whole public key. Without them anybody's will do. TEXT is the code on a film.
"""

# fmt: off
import base64
import hashlib
import json
import sys
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


class Refused(SystemExit):
    """The evidence does not hold, and this is why. The program ends with it."""
def judge(data, table_key=None, pit_key=None, office_key=None, frame=None):
    """What holds, and what is left open, in sentences. Raises Refused."""
    good = office_key is None or (len(office_key) == 64 and {*office_key} <= {*"0123456789abcdef"})
    needs(good, "Head office's key must be given as 64 of the digits 0-9 and a-f.")
    try:
        held = json.loads(data)
        whole = all(type(held[name]) is int for name in ("evidence", "shoe", "round"))
        needs(whole and held["evidence"] == 1 and len(held) == 7, "This is no evidence of form 1.")
        needs(canonical(held) == data, "The file is not spelt as evidence must be: somebody changed it.")
        return [*argument(held, table_key, pit_key, office_key, frame)]
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError) as error:
        raise Refused(f"REFUSED: What the file says cannot be read ({type(error).__name__}: {error}).") from error
def argument(held, table_key, pit_key, office_key, frame):
    key, rows, proof = unhex(held["table_key"]), [Row(each) for each in held["rows"]], map(unhex, held["proof"])
    needs(table_key in (None, fingerprint(key)), f"Another key signed this: {fingerprint(key)}.")
    text, lines = note(held["checkpoint"])
    origin, size, root = text.split("\n")[:3]
    own = [line for name, line in lines if (name, line[:4]) == (origin, key_id(origin, b"\1", key))]
    needs(len(own) == 1, "The table signed no checkpoint here.")
    holds(key, own[0][4:], text.encode(), "The table did not sign this checkpoint.")
    yield f"The table {origin.split('/')[0]} signed its journal of {size} rows, with the key {fingerprint(key)}."
    filmed = " ".join((origin, size, root, base64.b64encode(own[0]).decode()))
    needs(frame in (None, filmed), f"The film shows another checkpoint than that of {size} rows.")
    if frame is not None:
        yield "The film of the table's screen shows this checkpoint: the journal was this one when it was filmed."
    yield from witnessed(text, [each for each in lines if each[1] != own[0]], rows, pit_key, office_key)
    needs(rows and all(0 <= row.leaf < int(size) for row in rows), "A row stands outside of the tree.")
    found = base64.b64encode(tree_root({row.leaf: row.hash for row in rows}, 0, int(size), proof)).decode()
    needs(found == root and next(proof, None) is None, "The rows are not leaves of the tree that was signed.")
    yield f"The {len(rows)} rows of this file are rows {', '.join(str(row.leaf + 1) for row in rows)} of its tree."
    for one, two in zip(rows, rows[1:]):
        follows = one.leaf + 1 < two.leaf or (one.leaf + 1, one.head) == (two.leaf, two.before)
        needs(follows, "The rows are out of their order.")
    for each, event in ((row, event) for row in rows for event in row.events):
        wrong = f"Event {event['id']} is not as the table signed it."
        told = {name: value for name, value in event.items() if name != "signature"}
        holds(key, unspelt(event["signature"]), canonical(told), wrong)
        needs(event["id"] == f"{origin}/{event['seq']}" and event["chain"] == each.before.hex(), wrong)
    yield "The table signed each event of these rows, at its place in the journal."
    yield from round_of(rows, held["shoe"], held["round"])

# The journal: a chain of salted rows, the tree over it, and who signed the tree.
class Row:
    """A row: the fact that came, the events it made, and its place. The salt keeps closed rows from being guessed."""

    def __init__(self, told):
        needs(told.keys() == {"leaf", "before", "salt", "came", "messages"}, "A row has other parts than a row has.")
        self.leaf, self.before = told["leaf"], unhex(told["before"])
        needs(type(self.leaf) is int and len(self.before) == 32, "A row has no place.")
        digest = hashlib.sha256(self.before)
        for part in (unhex(told["salt"]), told["came"].encode(), *(each.encode() for each in told["messages"])):
            digest.update(len(part).to_bytes(8, "big") + part)
        self.head = digest.digest()
        self.hash = hashlib.sha256(b"\0" + self.head).digest()
        self.fact = json.loads('{"' + told["came"].partition(' {"')[2])
        self.events = [json.loads(each) for each in told["messages"]]
        needs([canonical(each).decode() for each in self.events] == told["messages"], "An event is misspelt.")
def tree_root(leaves, first, size, proof):
    """The root of this part of the tree (RFC 6962): a part without an opened leaf is the proof's next hash."""
    if not any(first <= leaf < first + size for leaf in leaves):
        return next(proof)
    if size == 1:
        return leaves[first]
    left = 1 << ((size - 1).bit_length() - 1)
    both = tree_root(leaves, first, left, proof) + tree_root(leaves, first + left, size - left, proof)
    return hashlib.sha256(b"\1" + both).digest()
def note(text):
    """A signed note (C2SP): its text, and the name and bytes of each signature."""
    body, gap, rest = text.rpartition("\n\n")
    lines = [line.split(" ") for line in rest[:-1].split("\n")]
    good = gap and rest.endswith("\n") and all(len(line) == 3 and line[0] == "—" for line in lines)
    needs(good and body.count("\n") == 2, "The checkpoint is no signed note of three lines.")
    return body + "\n", [(name, unspelt(line)) for _, name, line in lines]
def witnessed(text, lines, rows, pit_key, office_key):
    """Who else has seen this tree, and found that it only grew."""
    pinned = {unhex(row.fact["public_key"]): row.fact for row in rows if "PitKey" in row.fact["fact"]}
    keys = {"pit": pinned, "head-office": [unhex(office_key)] if office_key else []}
    judged = [(name, line) for name, line in lines if name != "head-office" or office_key is not None]
    if judged != lines:
        yield "Head office is said to have cosigned it. Its key was not given, so that is not judged."
    for name, line in judged:
        known = [key for key in keys.get(name, ()) if line[:4] == key_id(name, b"\4", key)]
        needs(known and len(line) == 76, f"Nobody whom this file names signed as {name}.")
        shown, at = fingerprint(known[0]), int.from_bytes(line[4:12], "big")
        holds(known[0], line[12:], f"cosignature/v1\ntime {at}\n{text}".encode(), f"The {name} did not sign this.")
        needs(name != "pit" or pit_key in (None, shown), f"Another key cosigned this: {shown}.")
        moment = datetime.fromisoformat("1970-01-01") + timedelta(seconds=at)
        yield f"The {name} cosigned it at {moment} UTC, with the key {shown}: the journal only grew."
    asked = {name for name, key in (("pit", pit_key), ("head-office", office_key)) if key is not None}
    lacks = sorted(asked - {name for name, _ in lines})
    needs(not lacks, f"Nobody cosigned this checkpoint as {' and '.join(lacks)}.")
    if not judged:
        yield "Only the table's signature is shown: that the table shows everybody the same journal is not shown here."
    for key, fact in pinned.items():
        who = fact.get("by", "the pit's former key, which handed over to it")
        yield f"The pit's key {fingerprint(key)} was accepted at the table by {who}."

# The round: its cards by the shoe's frames, its drawing and its wagers by the rules of its shoe.
def round_of(rows, shoe, number):
    events = [event for row in rows for event in row.events]
    mine = [event for event in events if (event["shoe"], event["round"]) == (shoe, number)]
    ended = [event for event in mine if event["type"] in ("round", "void")]
    needs(len(ended) == 1, f"The file has not one end of round {shoe}/{number}.")
    needs(all(event["round"] in (None, number) for event in events), "The file shows another round too.")
    yield f"Round {number} of shoe {shoe} ended at {ended[0]['at']} as a {ended[0]['type']}."
    cards = [card for row in rows for card in frame_card(row.fact)]
    yield f"The shoe's own frames and people's words tell the cards {' '.join(cards) or 'of no hand'}."
    rules = next((row.fact["rules"] for row in rows if row.fact["fact"] == "ShoeOpened"), None)
    known = rules is not None and rules["play"]["kind"] == "PuntoBanco"
    if not known:
        game = rules["game"] if rules else "a shoe whose first row stays closed"
        yield f"How {game} is drawn and paid is not known here: drawing and wagers are NOT judged."
    for event in mine:
        if event["type"] == "void":
            needs(all(wager["result"] == "returned" for wager in paid(event)), "A void round returns each wager.")
            yield f"Every wager went back, by the word of {event['by']}."
        elif event["type"] == "correction":
            yield f"{event['by']} and {event['witness']} corrected it at {event['at']}: {hands_text(event)}."
        elif event["type"] == "award":
            yield f"Award {event['award']}: {event['cents']} cents, {event['step']} by {event['by']}."
        if known and event["type"] == "round":
            yield from dealt(event, cards, rules["play"]["tableau"])
        if known and event["type"] in ("round", "correction"):
            yield settled(event, ended[0], rows, rules)
    yield "NOT SHOWN: that the cards on the felt were these. The shoe read them; the film shows them."
    yield "NOT SHOWN: that each wager was placed as the table noted it; nor what lies in rows that stay closed."
    yield "NOT SHOWN: whose keys these are, unless you compared the fingerprints elsewhere."
def frame_card(fact):
    """The card of a row, read once more from the shoe's frame. A card that a person typed has no frame."""
    if fact["fact"] in ("CardDrawn", "CardKept", "CardNamed") and fact["card"] is not None:
        frame = bytes.fromhex((fact.get("report") or {"frame": ""})["frame"])
        told = read(frame) if frame else fact["card"]
        needs(told == fact["card"], f"A frame of the shoe tells {told}, and its row tells {fact['card']}.")
        yield fact["card"]
def read(frame):
    """A card's frame. Angel Eye: ENQ, a digit, `D` or `R`, the place, the card, ETX, and the XOR of all between.
    BeeTek: `*0D`, the suit, the rank, and the low byte of the sum. Checks are two characters."""
    check = frame[1] ^ frame[2] ^ frame[3] ^ frame[4] ^ frame[5] if len(frame) == 8 else None
    if len(frame) == 8 and frame[0] == 5 and frame[2] in b"DR" and frame[6:] == b"%02X" % check:
        return "_A23456789TJQK"[frame[4] & 15] + "_DCSH"[frame[4] >> 4 & 7]
    if frame[:3] == b"*0D" and frame[5:7] == b"%02X" % (sum(frame[1:5]) & 255):
        return "_A23456789TJQK"[int(frame[4:5], 16)] + "HDCS"[int(frame[3:4])]
    return None
def points(cards):
    return sum("A23456789".find(card[0]) + 1 for card in cards)
def total(cards):
    return points(cards) % 10
def winner(player, banker):
    return "tie" if total(player) == total(banker) else "player" if total(player) > total(banker) else "banker"
def dealt(end, cards, rules):
    """Whether the rules of drawing deal just these cards: Player, Banker, Player, Banker, then third cards."""
    player, banker = end["player"]["cards"], end["banker"]["cards"]
    rest = iter(order := [card for pair in zip(player[:2], banker[:2]) for card in pair] + player[2:] + banker[2:])
    needs(all(card in rest for card in cards), "The frames tell other cards than the round.")
    if len(order) > len(cards):
        yield f"{len(order) - len(cards)} of its cards have no row here: nothing but the round's own event tells them."
    sums, two, other = (total(player), total(banker)), total(player[:2]), total(banker[:2])
    over = two in rules["natural"] or other in rules["natural"]
    third = not over and two in rules["player_draws_on"]
    on = rules["banker_draws_on_third_card"].get(str(other), [])
    last = not over and (total(player[2:]) in on if third else other in rules["banker_draws_on_when_player_stands"])
    needs((len(player), len(banker)) == (2 + third, 2 + last), "The rules of drawing deal other cards.")
    said = end["player"]["total"], end["banker"]["total"], end["outcome"], end["natural"], end["margin"]
    right = *sums, winner(player, banker), over, abs(sums[0] - sums[1])
    needs(said == right, "The round's totals are not those of its cards.")
    yield f"The house's rules of drawing deal {hands_text(end)}: {end['outcome']}."
    for card in end["not_read"]:
        yield f"The shoe did not read card {card['drawn']}: {card['by']} named it, with {card['witness'] or 'nobody'}."
def hands_text(event):
    hands = [each for each in ("player", "banker", "dealer") if each in event]
    return ", ".join(f"{each.title()} {' '.join(event[each]['cards'])}" for each in hands)
def paid(event):
    return event["settlement"]["wagers"] if event["settlement"] else []
def settled(event, end, rows, rules):
    """Whether each wager that was locked is paid as its bet's first row that holds says."""
    hands = [event[side]["cards"] for side in ("player", "banker")]
    bets = {bet["spot"]: bet for bet in rules["bets"]}
    printed = {seat["number"]: seat["k9"] for seat in rules["seats"] if seat["k9"]}
    def row_of(spot, seat):
        pairs = {"own": [printed.get(seat, "")], "another": [pair for each, pair in printed.items() if each != seat]}
        house = pairs, rules["play"]["tableau"]["natural"]
        return next((row for row in bets[spot]["rows"] if so(row["when"], hands, house)), {"result": "lose"})
    locked = [wager for row in rows if row.fact["fact"] == "WagersLocked" for wager in row.fact["wagers"]]
    lay, left = (sorted([w["seat"], w["back"], w["spot"], w["cents"]] for w in of) for of in (locked, paid(event)))
    needs(lay == left, "Other wagers were settled than were locked.")
    for each in paid(event):
        due = pay(each["cents"], bets[each["spot"]], row_of(each["spot"], each["seat"]), rules["rounding"])
        said = tuple(each[name] for name in ("result", "pays_cents", "commission_cents", "returned_cents", "meter"))
        needs(said == due, f"Seat {each['seat']} on {each['spot']}: the rules say {due}, the table {said}.")
    on = [(each["spot"], seat) for each in end["progressive"] for seat in each["seats"]]
    awards = [(*each, row_of(*each)["award"]) for each in on if "award" in row_of(*each)]
    said = [(each["spot"], each["seat"], each["tier"]) for each in event["awards"]]
    needs(sorted(said) == sorted(awards), "The rules give other awards.")
    return f"The house's rules settle its {len(locked)} wagers just so, and give {len(awards)} awards."
def pay(cents, bet, row, rounding):
    """The result, the pay, the commission, all that goes back, and the meter: by the row that decides."""
    def share(cents, ratio, what):
        exact, unit = cents * Fraction(ratio.replace(":", "/")), rounding["unit_cents"]
        return {"up": -(-exact // unit), "down": exact // unit}[rounding[what]] * unit
    if "award" in row:
        won, back = row.get("cents") or 0, cents if bet.get("awards_return_stake") else 0
        return "won", won, 0, won + back, row.get("meter")
    if "pays" in row:
        won = share(cents, row["pays"], "pays")
        won = min(won, bet.get("pays_at_most_cents") or won)
        taken, owed = (share(won, row.get(f"commission_{how}", "0:1"), "commission") for how in ("taken", "owed"))
        return "won", won, taken + owed, cents + won - taken, None
    back = {"lose": 0, "push": cents, "half": share(cents, "1:2", "pays")}[row["result"]]
    return {"lose": "lost", "push": "pushed", "half": "half_lost"}[row["result"]], 0, 0, back, None

def so(words, hands, house):
    """Whether every word of a row's condition holds of these hands. `house`: the printed pairs, and the naturals."""
    one, other, cards = hands[0], hands[-1], [card for hand in hands for card in hand]
    ranks, suits, two = [card[0] for card in cards], [card[1] for card in cards], cards[:2]
    reds, won, run = [suit in "HD" for suit in suits], winner(one, other), "A23456789TJQKA"
    parts = {"player": one, "banker": other, "all_cards": cards, "first_four": one[:2] + other[:2],
             "winning": {"player": one, "banker": other}.get(won), "losing": {"player": other, "banker": one}.get(won)}
    facts = {"winner": won, "margin": abs(total(one) - total(other)), "total_sum": total(one) + total(other),
             "identical": sorted(one[:2]) == sorted(other[:2]), "split": False,
             "natural": any(total(hand[:2]) in house[1] for hand in hands), "cards": len(cards),
             "total": total(cards), "points": points(cards), "first_two_total": total(two),
             "of_one_rank": max(map(ranks.count, ranks)), "of_one_suit": max(map(suits.count, suits)),
             "different_ranks": len({*ranks}), "same_rank": len({*ranks}) == 1, "same_suit": len({*suits}) == 1,
             "suit": suits[0] if len({*suits}) == 1 else None, "color": ("black", None, "red")[any(reds) + all(reds)],
             "straight": any("".join(sorted(ranks, key=ace)) in run for ace in (run.find, run.rfind)),
             "pair": ranks[0] == ranks[1], "suited": suits[0] == suits[1], "colored": reds[0] == reds[1]}
    def among(some, of):
        return sum(bool({card, *card} & {*of}) for card in some)
    special = {
        "first": lambda of: among(cards[:1], of), "second": lambda of: among(cards[1:2], of),
        "third": lambda of: among(cards[2:3], of), "ranks": lambda of: sorted(ranks) == sorted(of),
        "seat_pair": lambda whose: any(sorted(printed.split()) == sorted(two) for printed in house[0][whose]),
        "first_two": lambda of: any(a in of[0] and b in of[1] for a, b in (ranks[:2], ranks[1::-1])),
        "has": lambda has: among(cards, has["of"]) in (has.get("times") or range(1, 9)),
        "either": lambda of: any(so(of, [hand], house) for hand in hands),
        "both": lambda of: all(so(of, [hand], house) for hand in hands),
        "exactly_one": lambda of: sum(so(of, [hand], house) for hand in hands) == 1,
    }
    def good(word, value):
        if word in parts:
            return parts[word] is not None and so(value, [parts[word]], house)
        if word in special:
            return special[word](value)
        return facts[word] in value if isinstance(value, list) else facts[word] == value
    return all(good(word, value) for word, value in words.items())

# Spelling and signatures.
def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
def unhex(text):
    needs(bytes.fromhex(text).hex() == text, "A number is misspelt.")
    return bytes.fromhex(text)
def unspelt(text):
    needs(base64.b64encode(base64.b64decode(text)).decode() == text, "A signature is misspelt.")
    return base64.b64decode(text)
def key_id(name, kind, key):
    return hashlib.sha256(name.encode() + b"\n" + kind + key).digest()[:4]
def fingerprint(key):
    return hashlib.sha256(key).digest()[:16].hex(" ", 2)
def holds(key, signature, signed, wrong):
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, signed)
    except (InvalidSignature, ValueError):
        needs(False, wrong)
def needs(good, wrong):
    if not good:
        raise Refused(f"REFUSED: {wrong}")

if __name__ == "__main__":
    words, frame = (sys.argv[1:-2], sys.argv[-1]) if sys.argv[-2:-1] == ["--frame"] else (sys.argv[1:], None)
    if not 1 <= len(words) <= 4:
        sys.exit(__doc__)
    print(*judge(Path(words[0]).read_bytes(), *words[1:], frame=frame), "ALL THAT IS SHOWN HOLDS.", sep="\n")
