"""Who may decide what at the pit: groups of this machine give roles, and a role allows some decisions."""

from __future__ import annotations

import grp
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, get_args

Role = Literal["attendant", "supervisor", "accounting", "engineer"]
ROLES: tuple[Role, ...] = get_args(Role)

Groups = Mapping[Role, Sequence[str | int]]
"""By role the groups that give it, each by its name or its number."""

OF_THE_PACKAGE: dict[Role, Sequence[str | int]] = {role: (f"pit-{role}",) for role in ROLES}
"""The groups that the package makes. Nobody is in them until root puts somebody there."""


def roles_of(groups: Collection[int], given_by: Groups) -> tuple[Role, ...]:
    """Return the roles of a user account that is in the groups with these numbers. `given_by` names the groups for each
    role."""
    return tuple(role for role in ROLES if any(_number(each) in groups for each in given_by.get(role, ())))


def _number(group: str | int) -> int | None:
    """Return the number of a group; None if this machine has no such group, so that nobody is in it."""
    if isinstance(group, int):
        return group
    try:
        return grp.getgrnam(group).gr_gid
    except KeyError:
        return None
