"""The types in which a table describes itself: its status, its feed, its answers on the control socket, and its state
for the pit. The types are frozen. The programs that write these values and those that read them share the types.

Each type's JSON has its fields by name, in their order. A program ignores fields that it does not know. So a new field
changes nothing for an older program. If a field is removed or changes its meaning, `FACE_VERSION` is raised.
"""

FACE_VERSION = 1
"""The version of the face. A change that a reader of the version before would misread raises it."""
