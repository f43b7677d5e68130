"""The tests of this package need what those of deskcheck need: see the files that the names come from."""

from tests.conftest import pytest_runtest_call as pytest_runtest_call
from tests.conftest import pytest_runtest_setup as pytest_runtest_setup
from tests.conftest import pytest_runtest_teardown as pytest_runtest_teardown
from tests.teach.conftest import record as record  # the fixture
