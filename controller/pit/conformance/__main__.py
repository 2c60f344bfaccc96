"""Runs the conformance kit: `python -m controller.pit.conformance`."""

import sys

from controller.pit.conformance.main import main

if __name__ == "__main__":
    sys.exit(main())
