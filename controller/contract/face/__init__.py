"""The types of what a table says about itself: its status, its feed, its answers on the control socket, and its state
for the pit. The types are frozen. The programs that write these values and those that read them share the types.

In the JSON of a type, the fields stand by name, in their order. A program ignores fields that it does not know, so a
new field changes nothing for an older program. If a field is removed or changes its meaning, `FACE_VERSION` is raised.
"""

FACE_VERSION = 1
"""The version of the face. A change that a reader of the version before would misread raises it."""
