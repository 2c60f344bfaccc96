"""Makes the part of `docs/wiring.md` about the plug at the shoe's end of the cable."""

from __future__ import annotations

A_PLUG_PULLED = """## A plug pulled at the shoe

A plug that is pulled at the shoe leaves the adapter and its port as they were. Whole rounds can then be dealt that the
table does not hear. So the table finds out in one of three ways whether the shoe is there:

- **The table asks the shoe** twice a second, and the shoe answers. The table asks an Angel Eye by itself.
  `[shoe] ask` names another command, or `"off"`.
- **A loop leads RTS back on a modem line.** For any shoe, on an adapter with modem lines. Write
  `[shoe] present = "cts"`.
- **The shoe's own supply closes an input of the header.** For any shoe. Wire the input `shoe_present`, and write
  `[shoe] present = "input"`.

### The loop

Take a cable with two more wires than the shoe needs. At the table's end they are RTS (pin 7 of a DE-9) and CTS (pin 8).
DSR (pin 6) and DCD (pin 1) do as well as CTS. At the shoe's end the two wires go through the plug to two contacts that
are joined in the socket. Where the socket has no two free contacts, a micro switch that the plug presses joins them.
While the plug is in and the cable is whole, the adapter reads CTS as on.

Do not join the wires inside the plug. Such a join stays closed when the plug is pulled, and shows only a broken cable.

```
    adapter  RTS 7 ------------------------------ plug --- socket of the shoe ---+
                                                                                 |  joined in the socket
    adapter  CTS 8 ------------------------------ plug --- socket of the shoe ---+
```

A serial server (`socket://`) and many small adapters have no modem lines that can be read. The table does not start
then, and `sudo tablectl doctor` says so: the table never runs as if it saw a plug.

### The input

Lead the shoe's own supply through the same cable to an optocoupler at the table's end, and its output to
an input of the header, as for any other sensor. The wiring in the table's file says which level means that the plug is
in:

<!-- not run: two lines of a table's file -->
```toml
shoe_present = { bcm = 14, active = "low", pull = "up" }
```

### Which absences count

The table looks at the line or the input every 30 ms. A BeeTek numbers nothing, so a single look without a plug counts:
in that time a whole card can be lost. An Angel Eye numbers its reports, so an absence counts from the time in which its
numbers can come round: 312 ms at 4800 baud. An interruption that is shorter than 30 ms may fall between two looks.

`tablectl setup` has you pull the plug and put it back, and the report says that the table saw both.
"""
