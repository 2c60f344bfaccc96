"""The types in which a table describes itself: its status, its feed, its answers on the control socket, and its state
for the pit. The types are frozen. Writers and readers share them.

The JSON of a type has its fields by name, in their order. A reader skips a field that it does not know. So a new field
changes nothing for a reader of an older version. A field that is removed, or changes its meaning, raises
`FACE_VERSION`.
"""

FACE_VERSION = 1
"""The version of the face. A change that a reader of the version before would misread raises it."""
