import pytest
from shop import Cart, discount


def test_total():
    cart = Cart()
    cart.add("tea", 3)
    assert cart.add("cup", 5, count=2) == 13


@pytest.mark.parametrize(("total", "share", "left"), [(10, 0.1, 9.0), (10, 1, 0)])
def test_discount(total, share, left):
    assert discount(total, share) == left


def test_bad_share():
    with pytest.raises(ValueError):
        discount(1, 2)
