"""What a table says of itself, as frozen types: its status, its feed, its answers on the control socket, and its state
for the pit. Whoever makes them and whoever reads them has these types alone.

The JSON of a type has its fields by name, in their order. A reader skips a field that it does not know. So a new field
changes nothing for a reader of an older version; a field that goes, or means something else, raises `FACE_VERSION`.
"""

FACE_VERSION = 1
"""The version of the face. A change that a reader of the version before would misread raises it."""
