"""`python -m controller.conformance`."""

import sys

from controller.conformance.main import main

if __name__ == "__main__":
    sys.exit(main())
