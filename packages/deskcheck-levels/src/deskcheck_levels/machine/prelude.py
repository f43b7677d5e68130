"""Builtins and methods that Python has in C, in the language of the machine.

They consist of operations on whole numbers, and the model computes each of these. Characters are compared by
their code points. The machine runs the bytecode of these functions like a program's; they are not called
here. `len`, `ord`, `chr`, items, slices, concatenation and hashes are parts of its memory. Only ASCII is
supported; other characters are outside the declared language.
"""

import sys
from typing import Any


def power(a: Any, b: Any) -> Any:
    if b < 0:
        outside("a power with a negative exponent")
    result = 1
    while b > 0:
        if b % 2 == 1:
            result = result * a
        b = b // 2
        if b > 0:
            a = a * a
    return result


def power_modulo(a: Any, b: Any, modulus: Any) -> Any:
    if b < 0:
        outside("a power with a negative exponent")
    result = 1 % modulus
    a = a % modulus
    while b > 0:
        if b % 2 == 1:
            result = result * a % modulus
        b = b // 2
        if b > 0:
            a = a * a % modulus
    return result


def bitwise(a: Any, b: Any, which: Any) -> Any:
    result = 0
    power_of_two = 1
    while (a < -1 or a > 0) or (b < -1 or b > 0):
        result = result + power_of_two * bit(a % 2, b % 2, which)
        a = a // 2
        b = b // 2
        power_of_two = power_of_two * 2
    return result - power_of_two * bit(a % 2, b % 2, which)


def bit(a: Any, b: Any, which: Any) -> Any:
    if which == 0:
        return a * b
    if which == 1:
        return a + b - a * b
    return (a + b) % 2


def shifted_left(a: Any, b: Any) -> Any:
    if b < 0:
        raise ValueError("negative shift count")
    return a * power(2, b)


def shifted_right(a: Any, b: Any) -> Any:
    if b < 0:
        raise ValueError("negative shift count")
    return a // power(2, b)


def fraction_sum(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Of a/b and c/d, as numerator and denominator; so are the others."""
    return lowest(a * d + c * b, b * d)


def fraction_product(a: Any, b: Any, c: Any, d: Any) -> Any:
    return lowest(a * c, b * d)


def fraction_quotient(a: Any, b: Any, c: Any, d: Any) -> Any:
    if c < 0:
        return lowest(-(a * d), -(b * c))
    return lowest(a * d, b * c)


def lowest(a: Any, b: Any) -> Any:
    first = absolute(a)
    second = b
    while second > 0:
        first, second = second, first % second
    return a // first, b // first


def without_fraction(a: Any, b: Any) -> Any:
    return -(-a // b) if a < 0 else a // b


def rounded(a: Any, b: Any) -> Any:
    """To the nearest whole number, of two equally near ones to the even one."""
    whole = a // b
    twice = 2 * (a - whole * b)
    if twice > b or (twice == b and whole % 2 == 1):
        whole = whole + 1
    return whole


def absolute(a: Any) -> Any:
    return -a if a < 0 else a + 0


def summed(items: Any, start: Any = 0) -> Any:
    total = start
    for item in items:
        total = total + item
    return total


def extreme(items: Any, key: Any, default: Any, largest: Any, name: Any) -> Any:
    found = False
    best = None
    best_key = None
    for item in items:
        value = item if key is None else key(item)
        if not found or (value > best_key if largest else value < best_key):
            best = item
            best_key = value
            found = True
    if not found:
        if default is MISSING:
            raise ValueError(
                name + "() arg is an empty sequence" if OLD else name + "() iterable argument is empty"
            )
        return default
    return best


def all_true(items: Any) -> Any:
    for item in items:
        if not item:
            return False
    return True


def any_true(items: Any) -> Any:
    for item in items:
        if item:
            return True
    return False


def in_order(items: Any, keys: Any, reverse: Any) -> Any:
    """Binary insertion, stable; from the end where the order is reversed, as `list.sort` keeps equal ones."""
    ordered: list[Any] = []
    ordered_keys: list[Any] = []
    for index in range(len(items)):
        item = items[index]
        value = keys[index]
        low = 0
        high = len(ordered)
        while low < high:
            middle = (low + high) // 2
            if ordered_keys[middle] < value if reverse else value < ordered_keys[middle]:
                high = middle
            else:
                low = middle + 1
        ordered.insert(low, item)
        ordered_keys.insert(low, value)
    return ordered


def same_items(a: Any, b: Any) -> Any:
    if len(a) != len(b):
        return False
    for index in range(len(a)):
        if a[index] is not b[index] and a[index] != b[index]:
            return False
    return True


def same_mapping(a: Any, b: Any) -> Any:
    if len(a) != len(b):
        return False
    for key in a:
        if key not in b:
            return False
        if a[key] != b[key]:
            return False
    return True


def less_items(a: Any, b: Any, or_same: Any) -> Any:
    index = 0
    while index < len(a) and index < len(b):
        if a[index] is not b[index] and a[index] != b[index]:
            return a[index] < b[index]
        index = index + 1
    return len(a) <= len(b) if or_same else len(a) < len(b)


def same_text(a: Any, b: Any) -> Any:
    if len(a) != len(b):
        return False
    for index in range(len(a)):
        if ord(a[index]) != ord(b[index]):
            return False
    return True


def less_text(a: Any, b: Any, or_same: Any) -> Any:
    index = 0
    while index < len(a) and index < len(b):
        first = ord(a[index])
        second = ord(b[index])
        if first != second:
            return first < second
        index = index + 1
    return len(a) <= len(b) if or_same else len(a) < len(b)


def among(item: Any, items: Any) -> Any:
    for candidate in items:
        if candidate is item or candidate == item:
            return True
    return False


def index_of(items: Any, item: Any, name: Any, start: Any = 0, stop: Any = None) -> Any:
    index = start
    if index < 0:
        index = index + len(items)
        if index < 0:
            index = 0
    if stop is not None and stop < 0:
        stop = stop + len(items)
    while index < len(items) and (stop is None or index < stop):
        candidate = items[index]
        if candidate is item or candidate == item:
            return index
        index = index + 1
    if name == "list" and NAMES_ITEM:
        raise ValueError(f"{item!r} is not in list")
    raise ValueError(f"{name}.index(x): x not in {name}")


def in_range(item: Any, start: Any, stop: Any, step: Any) -> Any:
    if step > 0:
        return item >= start and item < stop and (item - start) % step == 0
    return item <= start and item > stop and (start - item) % -step == 0


def count_of(items: Any, item: Any) -> Any:
    count = 0
    for candidate in items:
        if candidate is item or candidate == item:
            count = count + 1
    return count


def removed(items: Any, item: Any) -> Any:
    for index in range(len(items)):
        if items[index] is item or items[index] == item:
            del items[index]
            return None
    raise ValueError("list.remove(x): x not in list")


def stands_at(text: Any, part: Any, place: Any) -> Any:
    for offset in range(len(part)):
        if ord(text[place + offset]) != ord(part[offset]):
            return False
    return True


def bounds(text: Any, start: Any, end: Any) -> Any:
    size = len(text)
    if start is None:
        start = 0
    if end is None or end > size:
        end = size
    if end < 0:
        end = end + size
        if end < 0:
            end = 0
    if start < 0:
        start = start + size
        if start < 0:
            start = 0
    return start, end


def text_find(text: Any, part: Any, start: Any = None, end: Any = None) -> Any:
    start, end = bounds(text, start, end)
    while start + len(part) <= end:
        if stands_at(text, part, start):
            return start
        start = start + 1
    return -1


def text_rfind(text: Any, part: Any, start: Any = None, end: Any = None) -> Any:
    start, end = bounds(text, start, end)
    index = end - len(part)
    while index >= start:
        if stands_at(text, part, index):
            return index
        index = index - 1
    return -1


def text_index(text: Any, part: Any, start: Any = None, end: Any = None) -> Any:
    index = text_find(text, part, start, end)
    if index < 0:
        raise ValueError("substring not found")
    return index


def text_rindex(text: Any, part: Any, start: Any = None, end: Any = None) -> Any:
    index = text_rfind(text, part, start, end)
    if index < 0:
        raise ValueError("substring not found")
    return index


def text_count(text: Any, part: Any, start: Any = None, end: Any = None) -> Any:
    start, end = bounds(text, start, end)
    if len(part) == 0:
        return 0 if start > end else end - start + 1
    count = 0
    while start + len(part) <= end:
        if stands_at(text, part, start):
            count = count + 1
            start = start + len(part)
        else:
            start = start + 1
    return count


def text_replace(text: Any, old: Any, new: Any, count: Any = -1) -> Any:
    result = ""
    index = 0
    if len(old) == 0:
        for character in text:
            if count != 0:
                result = result + new
                count = count - 1
            result = result + character
        return result + new if count != 0 else result
    while index < len(text):
        if count != 0 and index + len(old) <= len(text) and stands_at(text, old, index):
            result = result + new
            index = index + len(old)
            count = count - 1
        else:
            result = result + text[index]
            index = index + 1
    return result


def text_startswith(text: Any, part: Any, start: Any = None, end: Any = None) -> Any:
    if isinstance(part, tuple):
        for one in part:
            if text_startswith(text, one, start, end):
                return True
        return False
    start, end = bounds(text, start, end)
    return start + len(part) <= end and stands_at(text, part, start)


def text_endswith(text: Any, part: Any, start: Any = None, end: Any = None) -> Any:
    if isinstance(part, tuple):
        for one in part:
            if text_endswith(text, one, start, end):
                return True
        return False
    start, end = bounds(text, start, end)
    return start + len(part) <= end and stands_at(text, part, end - len(part))


def text_removeprefix(text: Any, part: Any) -> Any:
    return text[len(part) :] if text_startswith(text, part) else text


def text_removesuffix(text: Any, part: Any) -> Any:
    return text[: len(text) - len(part)] if text_endswith(text, part) and len(part) > 0 else text


def is_blank(character: Any) -> Any:
    code = ord(character)
    return code == 32 or 9 <= code <= 13 or 28 <= code <= 31


def is_lower(character: Any) -> Any:
    return 97 <= ord(character) <= 122


def is_upper(character: Any) -> Any:
    return 65 <= ord(character) <= 90


def is_digit(character: Any) -> Any:
    return 48 <= ord(character) <= 57


def is_letter(character: Any) -> Any:
    return is_lower(character) or is_upper(character)


def every(text: Any, test: Any) -> Any:
    for character in text:
        if not test(character):
            return False
    return len(text) > 0


def text_isalpha(text: Any) -> Any:
    return every(text, is_letter)


def text_isdecimal(text: Any) -> Any:
    return every(text, is_digit)


def is_letter_or_digit(character: Any) -> Any:
    return is_letter(character) or is_digit(character)


def text_isalnum(text: Any) -> Any:
    return every(text, is_letter_or_digit)


def text_isspace(text: Any) -> Any:
    return every(text, is_blank)


def text_isascii(text: Any) -> Any:
    for character in text:
        ord(character)
    return True


def all_of_case(text: Any, wanted: Any, other: Any) -> Any:
    cased = False
    for character in text:
        if other(character):
            return False
        if wanted(character):
            cased = True
    return cased


def text_islower(text: Any) -> Any:
    return all_of_case(text, is_lower, is_upper)


def text_isupper(text: Any) -> Any:
    return all_of_case(text, is_upper, is_lower)


def text_istitle(text: Any) -> Any:
    cased = False
    inside = False
    for character in text:
        if is_upper(character):
            if inside:
                return False
            inside = True
            cased = True
        elif is_lower(character):
            if not inside:
                return False
            cased = True
        else:
            inside = False
    return cased


def text_isidentifier(text: Any) -> Any:
    if len(text) == 0 or is_digit(text[0]):
        return False
    for character in text:
        if not is_letter_or_digit(character) and ord(character) != 95:
            return False
    return True


def text_isprintable(text: Any) -> Any:
    for character in text:
        if not 32 <= ord(character) <= 126:
            return False
    return True


def lowered(character: Any) -> Any:
    return chr(ord(character) + 32) if is_upper(character) else character


def raised(character: Any) -> Any:
    return chr(ord(character) - 32) if is_lower(character) else character


def swapped(character: Any) -> Any:
    return lowered(character) if is_upper(character) else raised(character)


def changed(text: Any, change: Any) -> Any:
    result = ""
    for character in text:
        result = result + change(character)
    return result


def text_lower(text: Any) -> Any:
    return changed(text, lowered)


def text_upper(text: Any) -> Any:
    return changed(text, raised)


def text_swapcase(text: Any) -> Any:
    return changed(text, swapped)


def text_capitalize(text: Any) -> Any:
    return text_upper(text[:1]) + text_lower(text[1:])


def text_title(text: Any) -> Any:
    result = ""
    inside = False
    for character in text:
        result = result + (lowered(character) if inside else raised(character))
        inside = is_letter(character)
    return result


def belongs(character: Any, characters: Any) -> Any:
    if characters is None:
        return is_blank(character)
    for other in characters:
        if ord(other) == ord(character):
            return True
    return False


def text_lstrip(text: Any, characters: Any = None) -> Any:
    start = 0
    while start < len(text) and belongs(text[start], characters):
        start = start + 1
    return text[start:]


def text_rstrip(text: Any, characters: Any = None) -> Any:
    end = len(text)
    while end > 0 and belongs(text[end - 1], characters):
        end = end - 1
    return text[:end]


def text_strip(text: Any, characters: Any = None) -> Any:
    return text_rstrip(text_lstrip(text, characters), characters)


def text_zfill(text: Any, width: Any) -> Any:
    sign = ""
    if len(text) > 0 and (ord(text[0]) == 43 or ord(text[0]) == 45):
        sign = text[0]
        text = text[1:]
        width = width - 1
    while len(text) < width:
        text = "0" + text
    return sign + text


def text_ljust(text: Any, width: Any, fill: Any = " ") -> Any:
    while len(text) < width:
        text = text + fill
    return text


def text_rjust(text: Any, width: Any, fill: Any = " ") -> Any:
    while len(text) < width:
        text = fill + text
    return text


def text_center(text: Any, width: Any, fill: Any = " ") -> Any:
    more = width - len(text)
    if more <= 0:
        return text
    left = more // 2
    if more % 2 == 1 and width % 2 == 1:
        left = left + 1
    return fill * left + text + fill * (more - left)


def text_split(text: Any, sep: Any = None, maxsplit: Any = -1) -> Any:
    parts: list[Any] = []
    start = 0
    if sep is None:
        while True:
            while start < len(text) and is_blank(text[start]):
                start = start + 1
            if start == len(text):
                return parts
            if maxsplit == 0:
                parts.append(text[start:])
                return parts
            end = start
            while end < len(text) and not is_blank(text[end]):
                end = end + 1
            parts.append(text[start:end])
            maxsplit = maxsplit - 1
            start = end
    if len(sep) == 0:
        raise ValueError("empty separator")
    while maxsplit != 0:
        index = text_find(text, sep, start)
        if index < 0:
            break
        parts.append(text[start:index])
        start = index + len(sep)
        maxsplit = maxsplit - 1
    parts.append(text[start:])
    return parts


def text_rsplit(text: Any, sep: Any = None, maxsplit: Any = -1) -> Any:
    if maxsplit < 0:
        return text_split(text, sep)
    parts: list[Any] = []
    end = len(text)
    if sep is None:
        while True:
            while end > 0 and is_blank(text[end - 1]):
                end = end - 1
            if end == 0:
                break
            if maxsplit == 0:
                parts.append(text[:end])
                break
            start = end
            while start > 0 and not is_blank(text[start - 1]):
                start = start - 1
            parts.append(text[start:end])
            maxsplit = maxsplit - 1
            end = start
        parts.reverse()
        return parts
    if len(sep) == 0:
        raise ValueError("empty separator")
    while maxsplit != 0:
        index = text_rfind(text, sep, 0, end)
        if index < 0:
            break
        parts.append(text[index + len(sep) : end])
        end = index
        maxsplit = maxsplit - 1
    parts.append(text[:end])
    parts.reverse()
    return parts


def text_splitlines(text: Any, keepends: Any = False) -> Any:
    parts: list[Any] = []
    start = 0
    index = 0
    while index < len(text):
        code = ord(text[index])
        index = index + 1
        if 10 <= code <= 13 or 28 <= code <= 30:
            end = index - 1
            if code == 13 and index < len(text) and ord(text[index]) == 10:
                index = index + 1
            parts.append(text[start : index if keepends else end])
            start = index
    if start < len(text):
        parts.append(text[start:])
    return parts


def text_partition(text: Any, sep: Any) -> Any:
    if len(sep) == 0:
        raise ValueError("empty separator")
    index = text_find(text, sep)
    if index < 0:
        return text, "", ""
    return text[:index], sep, text[index + len(sep) :]


def text_rpartition(text: Any, sep: Any) -> Any:
    if len(sep) == 0:
        raise ValueError("empty separator")
    index = text_rfind(text, sep)
    if index < 0:
        return "", "", text
    return text[:index], sep, text[index + len(sep) :]


def text_expandtabs(text: Any, tabsize: Any = 8) -> Any:
    result = ""
    column = 0
    for character in text:
        code = ord(character)
        if code == 9:
            if tabsize > 0:
                more = tabsize - column % tabsize
                result = result + " " * more
                column = column + more
        else:
            result = result + character
            column = 0 if code == 10 or code == 13 else column + 1
    return result


text_isdigit = text_isdecimal
text_isnumeric = text_isdecimal
text_casefold = text_lower


def outside(what: Any) -> None:
    """The machine's own: it ends the run."""


MISSING = object()
OLD = sys.version_info < (3, 12)
"""Whether `max` and `min` say it in the older words."""
NAMES_ITEM = sys.version_info < (3, 14)
"""Whether `list.index` names what it has not found."""
