"""``python -m memconsole.embedded`` is what `make run` runs."""

import sys

from memconsole.embedded.runner import main

sys.exit(main())
