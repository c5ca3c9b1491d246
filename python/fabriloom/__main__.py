"""``python -m fabriloom`` is the command ``fabriloom``."""

from .cli import main

if __name__ == "__main__":
    main()
