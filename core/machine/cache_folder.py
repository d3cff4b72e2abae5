"""The folder that holds machine code, and whether it can be trusted: what lies there is unpickled and run."""

import os
import stat
import sys
import tempfile
import warnings
from pathlib import Path

from glem.core.errors import GlemWarning


class MachineCodeWarning(GlemWarning):
    """Machine code takes longer than it could: it is made in a slower way, or kept elsewhere or nowhere."""


def cache_folder() -> Path | None:
    """Folder that holds the machine code of all kernels.

    ``GLEM_CACHE_DIR`` if set, else ``NUMBA_CACHE_DIR``, else glem's part of the system's folder for caches: that of
    ``XDG_CACHE_HOME`` or ``~/.cache``, ``~/Library/Caches`` on macOS, ``%LOCALAPPDATA%`` on Windows. Where that cannot
    be written, or where somebody else than the user and root owns it or a folder above it or may write to one, which a
    :class:`MachineCodeWarning` tells, a folder of the user's own under the system's temporary one. On Windows, where
    both are in the user's profile, it is not looked who may write.

    Returns
    -------
    Path or None
        None when no such folder can be had: every process then compiles what it needs.
    """
    chosen = os.environ.get("GLEM_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    try:
        folder = Path(chosen).absolute() if chosen else _usual_folder()
        # Before too: nothing is made in a folder of somebody else.
        reason = _distrust(folder)
        if not reason:
            folder.mkdir(parents=True, exist_ok=True)
            reason = _distrust(folder)
    except (OSError, RuntimeError):
        return _temporary_cache_folder()
    if not reason:
        return folder if os.access(folder, os.W_OK | os.X_OK) else _temporary_cache_folder()
    other = _temporary_cache_folder()
    warnings.warn(
        f"machine code is kept in {other or 'no folder'}, not in {folder}: {reason}, and glem would run what "
        "others put there; set GLEM_CACHE_DIR to a folder of your own",
        MachineCodeWarning,
        stacklevel=2,
    )
    if other is not None:
        # Said once: later calls and other processes of this command find a folder that can be trusted.
        os.environ["GLEM_CACHE_DIR"] = str(other)
    return other


def _usual_folder() -> Path:
    import platformdirs

    folder = platformdirs.user_cache_path("glem", appauthor=False)
    if folder.parts[0] == "~":
        raise RuntimeError("no home is known")
    return folder.absolute() / "kernels"


if sys.platform == "win32":

    def _distrust(_folder: Path) -> str:
        return ""

    def _temporary_cache_folder() -> Path | None:
        folder = Path(tempfile.gettempdir()) / "glem-kernels"
        try:
            folder.mkdir(exist_ok=True)
        except OSError:
            return None
        return folder

else:
    import grp
    import pwd

    def _distrust(folder: Path) -> str:
        """Who else could change what a folder holds; "" where nobody can. What does not exist yet is not looked at."""
        trusted = {0, os.geteuid()}
        resolved = folder.resolve()
        for place in dict.fromkeys((folder, *folder.parents, resolved, *resolved.parents)):
            try:
                found = place.lstat()
            except FileNotFoundError:
                continue
            if found.st_uid not in trusted:
                return f"{place} belongs to {_name(found.st_uid)}"
            # In a sticky folder such as /tmp nobody can replace what belongs to others.
            sticky = found.st_mode & stat.S_ISVTX and place not in (folder, resolved)
            if stat.S_ISLNK(found.st_mode) or sticky:
                continue
            if found.st_mode & stat.S_IWOTH:
                return f"everybody may write to {place}"
            if found.st_mode & stat.S_IWGRP and found.st_gid != 0 and not _is_own_group(found.st_gid):
                return f"the group {found.st_gid} may write to {place}"
        return ""

    def _name(user: int) -> str:
        try:
            return pwd.getpwuid(user).pw_name
        except KeyError:
            return f"user {user}"

    def _is_own_group(group: int) -> bool:
        """Whether only this user is in a group, as where each user has one of the same name."""
        try:
            found, own = grp.getgrgid(group), pwd.getpwuid(os.geteuid()).pw_name
        except KeyError:
            return False
        return found.gr_name == own and set(found.gr_mem) <= {own}

    def _temporary_cache_folder() -> Path | None:
        folder = Path(tempfile.gettempdir()) / f"glem-kernels-{os.getuid()}"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            found = folder.lstat()
        except OSError:
            return None
        private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
        return folder if private else None
