from unittest import mock
import json

with mock.patch("json.dumps", return_value="fake") as m:
    print(json.dumps({1: 2}), m.call_args)
m = mock.MagicMock(side_effect=[1, KeyError])
print(m(5))
try:
    m()
except KeyError:
    print(m.mock_calls)
