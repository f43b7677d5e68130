"""What Python has in C, in the language that the machine runs: builtins and methods, worked out by operations
on whole numbers, of which the model computes each. Characters are compared by their code points.

The machine runs the bytecode of these functions as it runs a program's; they are not called here. What it
does by itself, as memory: `len`, `ord`, `chr`, items, slices, concatenation, all that goes by hashes.
ASCII alone: other characters are outside the declared language.
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
    place = 1
    while (a < -1 or a > 0) or (b < -1 or b > 0):
        result = result + place * bit(a % 2, b % 2, which)
        a = a // 2
        b = b // 2
        place = place * 2
    return result - place * bit(a % 2, b % 2, which)


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


def both_divided(a: Any, b: Any) -> Any:
    return (a // b, a % b)


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
    done: list[Any] = []
    found: list[Any] = []
    for place in range(len(items)):
        item = items[place]
        value = keys[place]
        low = 0
        high = len(done)
        while low < high:
            middle = (low + high) // 2
            if found[middle] < value if reverse else value < found[middle]:
                high = middle
            else:
                low = middle + 1
        done.insert(low, item)
        found.insert(low, value)
    return done


def same_items(a: Any, b: Any) -> Any:
    if len(a) != len(b):
        return False
    for place in range(len(a)):
        if a[place] is not b[place] and a[place] != b[place]:
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
    place = 0
    while place < len(a) and place < len(b):
        if a[place] is not b[place] and a[place] != b[place]:
            return a[place] < b[place]
        place = place + 1
    return len(a) <= len(b) if or_same else len(a) < len(b)


def same_text(a: Any, b: Any) -> Any:
    if len(a) != len(b):
        return False
    for place in range(len(a)):
        if ord(a[place]) != ord(b[place]):
            return False
    return True


def less_text(a: Any, b: Any, or_same: Any) -> Any:
    place = 0
    while place < len(a) and place < len(b):
        first = ord(a[place])
        second = ord(b[place])
        if first != second:
            return first < second
        place = place + 1
    return len(a) <= len(b) if or_same else len(a) < len(b)


def among(item: Any, items: Any) -> Any:
    for other in items:
        if other is item or other == item:
            return True
    return False


def index_of(items: Any, item: Any, name: Any, start: Any = 0, stop: Any = None) -> Any:
    place = start
    if place < 0:
        place = place + len(items)
        if place < 0:
            place = 0
    if stop is not None and stop < 0:
        stop = stop + len(items)
    while place < len(items) and (stop is None or place < stop):
        other = items[place]
        if other is item or other == item:
            return place
        place = place + 1
    if name == "list" and NAMES_ITEM:
        raise ValueError(f"{item!r} is not in list")
    raise ValueError(f"{name}.index(x): x not in {name}")


def in_range(item: Any, start: Any, stop: Any, step: Any) -> Any:
    if step > 0:
        return item >= start and item < stop and (item - start) % step == 0
    return item <= start and item > stop and (start - item) % -step == 0


def count_of(items: Any, item: Any) -> Any:
    count = 0
    for other in items:
        if other is item or other == item:
            count = count + 1
    return count


def removed(items: Any, item: Any) -> Any:
    for place in range(len(items)):
        if items[place] is item or items[place] == item:
            del items[place]
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


def found_at(text: Any, part: Any, start: Any = None, end: Any = None) -> Any:
    start, end = bounds(text, start, end)
    while start + len(part) <= end:
        if stands_at(text, part, start):
            return start
        start = start + 1
    return -1


def last_found_at(text: Any, part: Any, start: Any = None, end: Any = None) -> Any:
    start, end = bounds(text, start, end)
    place = end - len(part)
    while place >= start:
        if stands_at(text, part, place):
            return place
        place = place - 1
    return -1


def index_in(text: Any, part: Any, start: Any = None, end: Any = None) -> Any:
    place = found_at(text, part, start, end)
    if place < 0:
        raise ValueError("substring not found")
    return place


def last_index_in(text: Any, part: Any, start: Any = None, end: Any = None) -> Any:
    place = last_found_at(text, part, start, end)
    if place < 0:
        raise ValueError("substring not found")
    return place


def counted(text: Any, part: Any, start: Any = None, end: Any = None) -> Any:
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


def replaced(text: Any, old: Any, new: Any, count: Any = -1) -> Any:
    result = ""
    place = 0
    if len(old) == 0:
        for character in text:
            if count != 0:
                result = result + new
                count = count - 1
            result = result + character
        return result + new if count != 0 else result
    while place < len(text):
        if count != 0 and place + len(old) <= len(text) and stands_at(text, old, place):
            result = result + new
            place = place + len(old)
            count = count - 1
        else:
            result = result + text[place]
            place = place + 1
    return result


def starts_with(text: Any, part: Any, start: Any = None, end: Any = None) -> Any:
    if isinstance(part, tuple):
        for one in part:
            if starts_with(text, one, start, end):
                return True
        return False
    start, end = bounds(text, start, end)
    return start + len(part) <= end and stands_at(text, part, start)


def ends_with(text: Any, part: Any, start: Any = None, end: Any = None) -> Any:
    if isinstance(part, tuple):
        for one in part:
            if ends_with(text, one, start, end):
                return True
        return False
    start, end = bounds(text, start, end)
    return start + len(part) <= end and stands_at(text, part, end - len(part))


def without_prefix(text: Any, part: Any) -> Any:
    return text[len(part) :] if starts_with(text, part) else text


def without_suffix(text: Any, part: Any) -> Any:
    return text[: len(text) - len(part)] if ends_with(text, part) and len(part) > 0 else text


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


def all_letters(text: Any) -> Any:
    return every(text, is_letter)


def all_digits(text: Any) -> Any:
    return every(text, is_digit)


def is_letter_or_digit(character: Any) -> Any:
    return is_letter(character) or is_digit(character)


def all_letters_or_digits(text: Any) -> Any:
    return every(text, is_letter_or_digit)


def all_blank(text: Any) -> Any:
    return every(text, is_blank)


def all_ascii(text: Any) -> Any:
    for character in text:
        ord(character)
    return True


def all_lower(text: Any) -> Any:
    cased = False
    for character in text:
        if is_upper(character):
            return False
        if is_lower(character):
            cased = True
    return cased


def all_upper(text: Any) -> Any:
    cased = False
    for character in text:
        if is_lower(character):
            return False
        if is_upper(character):
            cased = True
    return cased


def all_titled(text: Any) -> Any:
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


def is_name(text: Any) -> Any:
    if len(text) == 0 or is_digit(text[0]):
        return False
    for character in text:
        if not is_letter_or_digit(character) and ord(character) != 95:
            return False
    return True


def printable(text: Any) -> Any:
    for character in text:
        if not 32 <= ord(character) <= 126:
            return False
    return True


def lowered(character: Any) -> Any:
    return chr(ord(character) + 32) if is_upper(character) else character


def raised(character: Any) -> Any:
    return chr(ord(character) - 32) if is_lower(character) else character


def lower(text: Any) -> Any:
    result = ""
    for character in text:
        result = result + lowered(character)
    return result


def upper(text: Any) -> Any:
    result = ""
    for character in text:
        result = result + raised(character)
    return result


def swapped_case(text: Any) -> Any:
    result = ""
    for character in text:
        result = result + (lowered(character) if is_upper(character) else raised(character))
    return result


def capitalized(text: Any) -> Any:
    return upper(text[:1]) + lower(text[1:])


def titled(text: Any) -> Any:
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


def stripped_left(text: Any, characters: Any = None) -> Any:
    start = 0
    while start < len(text) and belongs(text[start], characters):
        start = start + 1
    return text[start:]


def stripped_right(text: Any, characters: Any = None) -> Any:
    end = len(text)
    while end > 0 and belongs(text[end - 1], characters):
        end = end - 1
    return text[:end]


def stripped(text: Any, characters: Any = None) -> Any:
    return stripped_right(stripped_left(text, characters), characters)


def filled(text: Any, width: Any) -> Any:
    sign = ""
    if len(text) > 0 and (ord(text[0]) == 43 or ord(text[0]) == 45):
        sign = text[0]
        text = text[1:]
        width = width - 1
    while len(text) < width:
        text = "0" + text
    return sign + text


def left_justified(text: Any, width: Any, fill: Any = " ") -> Any:
    while len(text) < width:
        text = text + fill
    return text


def right_justified(text: Any, width: Any, fill: Any = " ") -> Any:
    while len(text) < width:
        text = fill + text
    return text


def centred(text: Any, width: Any, fill: Any = " ") -> Any:
    more = width - len(text)
    if more <= 0:
        return text
    left = more // 2
    if more % 2 == 1 and width % 2 == 1:
        left = left + 1
    return fill * left + text + fill * (more - left)


def split(text: Any, sep: Any = None, maxsplit: Any = -1) -> Any:
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
        place = found_at(text, sep, start)
        if place < 0:
            break
        parts.append(text[start:place])
        start = place + len(sep)
        maxsplit = maxsplit - 1
    parts.append(text[start:])
    return parts


def split_right(text: Any, sep: Any = None, maxsplit: Any = -1) -> Any:
    if maxsplit < 0:
        return split(text, sep)
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
        place = last_found_at(text, sep, 0, end)
        if place < 0:
            break
        parts.append(text[place + len(sep) : end])
        end = place
        maxsplit = maxsplit - 1
    parts.append(text[:end])
    parts.reverse()
    return parts


def split_lines(text: Any, keepends: Any = False) -> Any:
    parts: list[Any] = []
    start = 0
    place = 0
    while place < len(text):
        code = ord(text[place])
        place = place + 1
        if 10 <= code <= 13 or 28 <= code <= 30:
            end = place - 1
            if code == 13 and place < len(text) and ord(text[place]) == 10:
                place = place + 1
            parts.append(text[start : place if keepends else end])
            start = place
    if start < len(text):
        parts.append(text[start:])
    return parts


def partition(text: Any, sep: Any) -> Any:
    if len(sep) == 0:
        raise ValueError("empty separator")
    place = found_at(text, sep)
    if place < 0:
        return text, "", ""
    return text[:place], sep, text[place + len(sep) :]


def last_partition(text: Any, sep: Any) -> Any:
    if len(sep) == 0:
        raise ValueError("empty separator")
    place = last_found_at(text, sep)
    if place < 0:
        return "", "", text
    return text[:place], sep, text[place + len(sep) :]


def expanded(text: Any, tabsize: Any = 8) -> Any:
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


def outside(what: Any) -> None:
    """The machine's own: it ends the run."""


MISSING = object()
OLD = sys.version_info < (3, 12)
"""Whether `max` and `min` say it in the older words."""
NAMES_ITEM = sys.version_info < (3, 14)
"""Whether `list.index` names what it has not found."""
