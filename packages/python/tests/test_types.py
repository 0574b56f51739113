import subprocess
import sys
import unittest
from pathlib import Path

import florin_server

TESTS = Path(__file__).parent


class Types(unittest.TestCase):
    def test_the_types_take_what_is_right_and_refuse_what_is_wrong(self) -> None:
        library = Path(florin_server.__file__).parent
        mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "/dev/null"]
        checked = subprocess.run([*mypy, library, TESTS], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
