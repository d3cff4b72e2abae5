"""``python -m glem``: the same commands as the console script."""

from glem.core.cli import main

if __name__ == "__main__":
    main()
