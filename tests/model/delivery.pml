/*
 * The delivery of a table's events to its pit, stated a second time: from the contract's page (docs/contract.md: "At
 * least once, in order", "The ack is the pit's", "On connecting", "Window and resend"), for SPIN. `make model` compares
 * the states that can be reached here with those of the product's own class in tests/model/world.py.
 *
 * A history of events is a node of a binary tree: 1 is the empty history, and an event is one step down. The left
 * child is an event of the first journal, the right child one of a journal that went on from an older copy. So a number
 * says an event together with all before it, as an event's chain value does; a history's beginning is a node above it.
 *
 * The link may lose, repeat and reorder: whatever was sent can come at any later time. Of the pit's acks the last three
 * that differ may still come, and the broker retains the last. Times have no numbers: an ack is as late as its place.
 */

#ifndef EVENTS
#define EVENTS 2
#define KILLS 1
#define BACKS 1
#define RESTORES 0
#endif
#define WINDOW 2
#define SAID 3

#define LENGTH(h) (h >= 16 -> 4 : (h >= 8 -> 3 : (h >= 4 -> 2 : (h >= 2 -> 1 : 0))))
#define PREFIX(h, n) (h >> (LENGTH(h) - n))
#define HAS(set, h) ((set >> h) & 1)
#define LARGER(a, b) (a > b -> a : b)
#define SMALLER(a, b) (a < b -> a : b)
#define AT(i) (2 * i + 1)

#define OFFLINE 0
#define ASKING 1
#define STREAMING 2
#define BEHIND 3

/* what is kept on a disk */
byte journal = 1;          /* what the table has written */
byte marked = 0;           /* how far it noted the pit to be */
byte ledger = 1;           /* what the pit has committed */

/* what the table's program knows */
byte phase = OFFLINE;
bit connected = 0;
byte acked = 0;            /* the pit is believed to have so many events */
byte cursor = 0;           /* so many went out on this connection */
byte window = WINDOW;      /* so many may be on their way */
byte held_or_sent = 0;     /* what the journal held at the start, and what was sent since: no ack can be past it */
byte claimed = 0;          /* acks that were refused for their time alone claim so much */
byte believed = 0;         /* the time of the last believed ack: AT(i) that of said[i], one less: just before it */

/* what may come */
int sent = 0;              /* every event that ever went out: a set of histories */
byte said[SAID];           /* acks that may come, each the history that the pit had */
byte saids = 0;

/* for the rules */
int ever = 2;              /* every history that the pit once had */
byte kills = 0;
byte backs = 0;
byte restores = 0;
byte i;
byte n;

c_decl {
    \#include <stdio.h>
    \#include <stdlib.h>
    \#include <string.h>
    typedef unsigned __int128 word_of_a_state;
    static word_of_a_state *seen;
    static unsigned long long seen_size, seen_count;
    static int known(word_of_a_state word) {
        unsigned long long at, k;
        if (2 * seen_count >= seen_size) {
            word_of_a_state *old = seen;
            unsigned long long old_size = seen_size;
            seen_size = old_size ? 2 * old_size : 65536;
            seen = calloc(seen_size, sizeof *seen);
            seen_count = 0;
            for (k = 0; k < old_size; k++) if (old[k]) known(old[k]);
            free(old);
        }
        for (at = ((unsigned long long) (word ^ word >> 64) * 0x9E3779B97F4A7C15ULL) % seen_size; seen[at]; at = (at + 1) % seen_size)
            if (seen[at] == word) return 1;
        seen[at] = word;
        seen_count++;
        return 0;
    }
    \#define BITS(value, width) word = (word << (width)) | (unsigned) (value)
}

/* Print each state once: what the page speaks of, packed into one number. */
inline tell() {
    c_code {
        word_of_a_state word = 1;
        BITS(now.journal, 5); BITS(now.marked, 3); BITS(now.ledger, 5); BITS(now.acked, 3); BITS(now.phase, 2);
        BITS(now.connected, 1); BITS(now.kills, 1); BITS(now.backs, 1); BITS(now.restores, 1); BITS(now.sent, 32);
        BITS(now.said[0], 5); BITS(now.said[1], 5); BITS(now.said[2], 5);
        if (!known(word)) printf("state %llx%016llx\n", (unsigned long long) (word >> 64), (unsigned long long) word);
    }
}

/* Rules that hold in each state. */
inline judge() {
    tell();
    assert(phase == BEHIND || HAS(ever, PREFIX(journal, acked)));
    assert(phase == BEHIND || HAS(ever, PREFIX(journal, marked)));
    assert(phase != BEHIND || restores > 0);
    i = 0;
    n = 0
}

/* The pit says how far it is. The same words again are a later ack in the place of the former. */
inline ack() {
    if
    :: saids > 0 && said[saids - 1] == ledger ->
        if
        :: believed == AT((saids - 1)) -> believed--
        :: else
        fi
    :: else ->
        if
        :: saids == SAID ->
            said[0] = said[1];
            said[1] = said[2];
            believed = (believed > 2 -> believed - 2 : 0)
        :: else -> saids++
        fi;
        said[saids - 1] = ledger
    fi
}

/* "The pit commits event n only after event n-1. Any other message is not committed, and the pit repeats its ack." */
inline take(event) {
    if
    :: LENGTH(event) == LENGTH(ledger) + 1 ->
        ledger = ledger * 2 + (event & 1);
        ever = ever | (1 << ledger)
    :: else
    fi;
    ack()
}

/* Sending begins at the oldest event that waits. */
inline stream(most) {
    phase = STREAMING;
    window = most;
    cursor = acked
}

/* A run of the table's program begins: it has what is on its disk. */
inline start() {
    phase = OFFLINE;
    connected = 0;
    acked = marked;
    cursor = marked;
    window = WINDOW;
    held_or_sent = LENGTH(journal);
    claimed = 0;
    believed = 0
}

/* Ack number i comes to the table. */
inline hear() {
    n = LENGTH(said[i]);
    if
    :: n <= held_or_sent && n <= LENGTH(journal) && PREFIX(journal, n) == said[i] -> /* it fits */
        if
        :: phase == BEHIND ->
            if /* a later ack that fits takes the wrong one back */
            :: AT(i) > believed ->
                believed = AT(i);
                claimed = 0;
                acked = n;
                stream(WINDOW)
            :: else
            fi
        :: phase != BEHIND && AT(i) < believed -> /* refused for its time alone: enough to begin */
            claimed = LARGER(claimed, n);
            if
            :: phase == ASKING -> stream(WINDOW)
            :: else
            fi
        :: else ->
            believed = AT(i);
            claimed = 0;
            if
            :: n != acked -> window = SMALLER(2 * window, WINDOW)
            :: else
            fi;
            acked = n;
            cursor = LARGER(cursor, n);
            if
            :: phase == ASKING -> stream(WINDOW)
            :: else
            fi
        fi
    :: else -> /* "then the fault is journal_behind_pit, and the table sends no event at all" */
        if
        :: AT(i) >= believed ->
            believed = AT(i);
            claimed = 0;
            phase = BEHIND
        :: else
        fi
    fi;
    i = 0;
    n = 0
}

active proctype Table() {
    atomic { tell() }
end:
    do
    :: atomic { LENGTH(journal) < EVENTS -> journal = journal * 2 + restores; judge() }
    :: atomic { acked != marked -> marked = acked; judge() }
    :: atomic { !connected -> connected = 1; if :: phase != BEHIND -> phase = ASKING :: else fi; judge() }
    :: atomic { connected && saids == 0 && phase == ASKING -> stream(WINDOW); judge() }
    :: atomic { /* the events that are due go out, or once more those that wait for an ack */
        phase == STREAMING ->
        if
        :: true
        :: cursor > acked ->
            cursor = acked;
            window = (window < WINDOW -> 1 : window)
        fi;
        n = SMALLER(LENGTH(journal), (LARGER(acked, claimed) + window));
        do
        :: cursor < n ->
            cursor++;
            sent = sent | (1 << PREFIX(journal, cursor))
        :: else -> break
        od;
        held_or_sent = LARGER(held_or_sent, n);
        judge()
       }
    :: atomic { connected && saids > 0 ->
        if :: i = saids - 1 :: saids > 1 -> i = saids - 2 :: saids > 2 -> i = saids - 3 fi;
        hear();
        judge()
       }
    od
}

active proctype Link() {
end:
    do
    :: atomic { sent != 0 -> /* an event comes to the pit, the first time or again */
        i = 2;
        do
        :: i < 31 -> i++
        :: HAS(sent, i) -> break
        :: i == 31 -> i = 0; break
        od;
        if
        :: i > 0 -> take(i)
        :: else
        fi;
        judge()
       }
    :: atomic { connected -> connected = 0; if :: phase != BEHIND -> phase = OFFLINE :: else fi; judge() }
    od
}

active proctype Misfortune() {
end:
    do
    :: atomic { connected -> /* a pit's program begins to listen: the oldest event goes alone */
        if :: phase == STREAMING -> stream(1) :: else fi;
        ack();
        judge()
       }
    :: atomic { kills < KILLS -> kills++; start(); judge() }
    :: atomic { backs < BACKS && ledger > 1 -> /* the ledger becomes an older copy */
        backs++;
        ledger = ledger / 2;
        do
        :: ledger > 1 -> ledger = ledger / 2
        :: break
        od;
        ack();
        judge()
       }
    :: atomic { restores < RESTORES && journal > 1 -> /* the journal becomes an older copy */
        restores++;
        journal = journal / 2;
        do
        :: journal > 1 -> journal = journal / 2
        :: break
        od;
        marked = SMALLER(marked, LENGTH(journal));
        start();
        judge()
       }
    od
}
